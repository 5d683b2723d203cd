import type { Collaborators, OpenSink } from '../../work/collaborators.js';
import type { Selected } from '../../ledger/pigeonholes.js';

/** The sinks that get something of these pigeonholes. Pure. */
export function sinksOf(
  { config, sinks }: Pick<Collaborators, 'config' | 'sinks'>,
  selected: readonly Pick<Selected, 'syncs'>[],
): OpenSink[] {
  const names = new Set(selected.flatMap(({ syncs }) => syncs).flatMap((sync) => config.syncs[sync]?.sinks ?? []));
  return [...sinks.values()].filter(({ name }) => names.has(name));
}
