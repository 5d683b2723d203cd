import type { PigeonholeChoice } from '../config/config.js';
import { addSelections, noteStatuses, refOf, storedItems } from '../ledger/queries/pigeonholes.js';
import { noteDiscovery } from '../ledger/queries/workspaces.js';
import type { Collaborators } from './collaborators.js';
import { readPigeonhole, syncsOf } from './read-pigeonhole.js';
import type { ReadingTurn } from './turns.js';

/** What discovery looks at, as the service shows it. */
export interface DiscoveredPigeonhole {
  readonly id: number;
  readonly name: string;
  readonly status: string | null;
  /** YYYY-MM-DD. */
  readonly startDate: string;
}

/**
 * One turn over a workspace: its own lists are read, and the pigeonholes that match a sync for the first time are
 * taken up. Discovery only adds: one that was selected once is read whatever its status becomes.
 */
export async function discoverWorkspace(
  to: Collaborators,
  workspace: string,
  signal: AbortSignal,
): Promise<ReadingTurn> {
  const turn = await readPigeonhole(to, { workspace, pigeonholeId: 0 }, signal);
  if (turn.state !== 'working') return turn;
  const ref = await refOf(to.ledger, workspace, 0);
  const known = (await storedItems(to.ledger, ref, 'pigeonholes')).map(({ payload }) => toPigeonhole(payload));
  const started = new Set<number>();
  for (const sync of syncsOf(to.config, workspace)) {
    const added = await addSelections(to.ledger, sync, workspace, choose(to.config.syncs[sync]!.pigeonholes, known));
    if (added.length > 0) to.log.info({ workspace, sync, pigeonholes: added }, 'pigeonholes selected');
    for (const id of added) started.add(id);
  }
  for (const id of await noteStatuses(to.ledger, workspace, known)) started.add(id);
  await noteDiscovery(to.ledger, workspace);
  // A sink that has looked at the records of these pigeonholes already has withheld them: it looks again.
  if (started.size > 0) await to.orchestration.wakeSinks(sinksOf(to, workspace));
  await to.orchestration.startReading([...started].map((pigeonholeId) => ({ workspace, pigeonholeId })));
  return turn;
}

function sinksOf(to: Collaborators, workspace: string): string[] {
  return [...new Set(syncsOf(to.config, workspace).flatMap((sync) => to.config.syncs[sync]!.sinks))];
}

/** The ids that a sync's choice takes of what the service shows. Ids that are named are taken unseen. Pure. */
export function choose(choice: PigeonholeChoice, shown: readonly DiscoveredPigeonhole[]): number[] {
  if ('ids' in choice) return [...choice.ids];
  const name = choice.name === undefined ? undefined : new RegExp(choice.name);
  return shown
    .filter(
      (pigeonhole) =>
        (choice.status === undefined || choice.status.some((status) => status === pigeonhole.status)) &&
        (name === undefined || name.test(pigeonhole.name)) &&
        (choice.startsAfter === undefined || pigeonhole.startDate >= choice.startsAfter) &&
        choice.exclude?.includes(pigeonhole.id) !== true,
    )
    .map(({ id }) => id);
}

function toPigeonhole(payload: string): DiscoveredPigeonhole {
  const fields = JSON.parse(payload) as Record<string, unknown>;
  const text = (name: string): string => (typeof fields[name] === 'string' ? fields[name] : '');
  return {
    id: Number(fields['id']),
    name: text('name'),
    status: text('status') === '' ? null : text('status'),
    startDate: text('startDate'),
  };
}
