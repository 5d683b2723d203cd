import { LedgerError } from '../ledger/ledger-error.js';
import type { Pigeonhole } from '../pigeonhole/wire-entities.js';
import type { Collaborators } from './collaborators.js';

/** Asks the service for one pigeonhole by its id. @throws {ApiError} as `PigeonholeClient.getPigeonhole` */
export async function askPigeonhole(
  to: Pick<Collaborators, 'clients'>,
  workspace: string,
  pigeonholeId: number,
  signal: AbortSignal,
): Promise<Pigeonhole> {
  const client = to.clients.get(workspace);
  if (client === undefined) {
    throw new LedgerError('configuration', `workspace ${workspace} is not in this process's configuration`);
  }
  return await client.getPigeonhole(pigeonholeId, { signal });
}
