import type { Overview } from '../../api/syncs.js';
import type { Status } from '../../api/status-view.js';
import type { ApiClient } from '../api-client.js';

/** What `status`, `status --watch` and the screen of `start` show of one instant. */
export interface Moment {
  readonly status: Status;
  readonly overview: Overview;
}

/** Requests both views of the API at the same time. */
export async function readMoment(api: ApiClient, options: { readonly counts: boolean }): Promise<Moment> {
  const [status, overview] = await Promise.all([api.status(options), api.overview()]);
  return { status, overview };
}
