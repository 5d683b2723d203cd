import type { Config } from '../config/config.js';

interface PigeonholeKey {
  readonly workspace: string;
  readonly pigeonholeId: number;
}

/** Whether a sync of the sink reads the pigeonhole or, for a workspace's own lists, the workspace. */
export function isSentTo(
  config: Pick<Config, 'syncs'>,
  sink: string,
  { workspace, pigeonholeId, syncs }: PigeonholeKey & { readonly syncs: readonly string[] },
): boolean {
  return Object.entries(config.syncs).some(
    ([name, sync]) =>
      sync.workspace === workspace && sync.sinks.includes(sink) && (pigeonholeId === 0 || syncs.includes(name)),
  );
}

/**
 * Returns the lanes that still receive changes. If a sink no longer receives a pigeonhole, its lane stays, because its
 * watermark is needed if that changes; until then it has no backlog. Pure.
 * @param places the pigeonholes, with the syncs that read them
 */
export function sentLanes<Lane extends PigeonholeKey & { readonly sink: string }>(
  config: Pick<Config, 'syncs'>,
  lanes: readonly Lane[],
  places: readonly (PigeonholeKey & { readonly syncs: readonly string[] })[],
): Lane[] {
  const placed = new Map(places.map((place) => [nameOf(place), place]));
  return lanes.filter((lane) => {
    const place = placed.get(nameOf(lane));
    return place !== undefined && isSentTo(config, lane.sink, place);
  });
}

function nameOf({ workspace, pigeonholeId }: PigeonholeKey): string {
  return `${workspace}/${pigeonholeId}`;
}
