import type { Priority } from './quota.js';
import type { Pigeonhole } from '../../pigeonhole/wire-types.js';
import type { Collaborators } from '../collaborators.js';

/**
 * Requests one pigeonhole by its id, under a permit.
 * @throws {PermitRefusal} when the quota does not allow it now: no request was made
 * @throws {ApiError} as `PigeonholeClient.getPigeonhole`
 */
export async function requestPigeonhole(
  deps: Pick<Collaborators, 'clients' | 'config' | 'gate'>,
  permit: { readonly workspace: string; readonly priority: Priority },
  pigeonholeId: number,
  signal: AbortSignal,
): Promise<Pigeonhole> {
  return await deps.gate.request(deps, permit, (client) => client.getPigeonhole(pigeonholeId, { signal }));
}
