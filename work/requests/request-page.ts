import type { PageOptions } from '../../pigeonhole/client.js';
import type { ListRef } from '../../pigeonhole/lists.js';
import type { Page } from '../../pigeonhole/page.js';
import type { Collaborators } from '../collaborators.js';
import type { Permit } from './service-gate.js';

export type { Priority } from './quota.js';

/**
 * Requests one page under a permit. All page requests of reading go through this function.
 * @param options.onSent called once the request has been sent
 * @throws {PermitRefusal} when the quota does not allow it now: no request was made
 * @throws {ApiError} as `PigeonholeClient.page`
 */
export async function requestPage(
  deps: Pick<Collaborators, 'clients' | 'config' | 'gate'>,
  permit: Permit,
  list: ListRef,
  { onSent, ...options }: PageOptions & { readonly onSent?: () => void },
): Promise<Page> {
  return await deps.gate.request(
    deps,
    permit,
    (client) => {
      const page = client.page(list, options);
      onSent?.();
      return page;
    },
    ({ quota }) => quota,
  );
}
