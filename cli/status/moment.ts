import type { Overview } from '../../api/syncs.js';
import type { Status } from '../../operations/status-view.js';
import type { ApiClient } from '../api-client.js';
import type { ItemCount, ItemCounts } from './item-counts.js';

/** What `status`, `status --watch` and the screen of `start` show of one instant. */
export interface Moment {
  readonly status: Status;
  readonly overview: Overview;
  /** The number of items by list; null: not counted. */
  readonly items: readonly ItemCount[] | null;
}

/** Requests both views of the API at the same time. */
export async function readMoment(
  api: ApiClient,
  { counts, itemCounts }: { readonly counts: boolean; readonly itemCounts?: ItemCounts },
): Promise<Moment> {
  const [status, overview, items] = await Promise.all([
    api.status({ counts }),
    api.overview(),
    itemCounts?.read(api) ?? null,
  ]);
  return { status, overview, items };
}
