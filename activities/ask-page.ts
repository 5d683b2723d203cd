import { LedgerError } from '../ledger/ledger-error.js';
import type { PageOptions } from '../pigeonhole/client.js';
import type { ListRef } from '../pigeonhole/lists.js';
import type { Page } from '../pigeonhole/page.js';
import type { Collaborators } from './collaborators.js';

/** What a request is for: where the quota does not reach for all, the first go first. */
export type Priority = 'import' | 'live' | 'idle' | 'sweep';

/**
 * Asks the service for one page: the only way by which reading spends a request.
 * @throws {ApiError} as `PigeonholeClient.page`
 */
export async function askPage(
  to: Pick<Collaborators, 'clients'>,
  { workspace }: { readonly workspace: string; readonly priority: Priority },
  list: ListRef,
  options: PageOptions,
): Promise<Page> {
  const client = to.clients.get(workspace);
  if (client === undefined) {
    throw new LedgerError('configuration', `workspace ${workspace} is not in this process's configuration`);
  }
  return await client.page(list, options);
}
