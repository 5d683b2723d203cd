import { readStatus, type StatusSources } from '../../operations/read-status.js';
import type { Status } from '../../operations/status-view.js';
import type { Scene } from './scene.js';

/** Returns the status of a scene, by default without quotas and counts. */
export async function statusOf(
  { deps }: Pick<Scene, 'deps'>,
  { withCounts = false, ...sources }: Partial<StatusSources> & { readonly withCounts?: boolean } = {},
): Promise<Status> {
  return await readStatus({ ...deps, trouble: () => null, quotas: async () => new Map(), ...sources }, withCounts);
}
