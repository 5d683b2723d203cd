import type { PageOptions } from '../../pigeonhole/client.js';
import type { ListRef } from '../../pigeonhole/lists.js';
import type { Page } from '../../pigeonhole/page.js';
import type { Collaborators } from '../collaborators.js';
import type { Permit } from './service-gate.js';
import type { Pigeonhole } from '../../pigeonhole/wire-types.js';

/**
 * Requests one page under a permit. All page requests of reading go through this function.
 * @throws {PermitRefusal} when the quota does not allow it now: no request was made
 * @throws {ApiError} as `PigeonholeClient.page`
 */
export async function requestPage(
  deps: Pick<Collaborators, 'clients' | 'config' | 'gate'>,
  permit: Permit,
  list: ListRef,
  options: PageOptions,
): Promise<Page> {
  return await deps.gate.request(
    deps,
    permit,
    (client) => client.page(list, options),
    ({ quota }) => quota,
  );
}

/**
 * Requests one pigeonhole by its id, under a permit.
 * @throws {PermitRefusal} when the quota does not allow it now: no request was made
 * @throws {ApiError} as `PigeonholeClient.getPigeonhole`
 */
export async function requestPigeonhole(
  deps: Pick<Collaborators, 'clients' | 'config' | 'gate'>,
  permit: Permit,
  pigeonholeId: number,
  signal: AbortSignal,
): Promise<Pigeonhole> {
  return await deps.gate.request(deps, permit, (client) => client.getPigeonhole(pigeonholeId, { signal }));
}
