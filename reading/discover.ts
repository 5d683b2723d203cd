import { performance } from 'node:perf_hooks';
import type { PigeonholeChoice } from '../config/config.js';
import {
  addSelections,
  type ReportedState,
  saveStates,
  pigeonholeNumberOf,
  storedItems,
  claimHidden,
  selectedPigeonholes,
} from '../ledger/pigeonholes.js';
import { probeGone } from '../ledger/streams-gone.js';
import type { Ledger } from '../ledger/ledger.js';
import { followChanges } from '../ledger/search/entries.js';
import { markDiscovered } from '../ledger/workspaces.js';
import type { Collaborators } from '../cycles/collaborators.js';
import { keepRetention } from '../people/retention.js';
import { readPigeonhole } from './read-pigeonhole.js';
import { retryGoneInMs } from './read-stream.js';
import { eventTimes } from './stream-facts.js';
import { syncsOf } from '../config/syncs.js';
import type { ReadingResult } from '../cycles/cycle-results.js';
import { pausesOf, placeName } from '../ledger/pauses.js';
import { ApiError } from '../pigeonhole/api-error.js';
import { PermitRefusal } from '../requests/quota-rules.js';

/** Minimum interval between two reads that show whether a pigeonhole which counted as gone exists again. */
const probeGoneEveryMs = 10 * 60_000;

/** Maximum time that one cycle spends on the index of the search. A search itself adds what is left. */
const searchBudgetMs = 500;

/** The fields of a pigeonhole that discovery uses. */
export interface DiscoveredPigeonhole {
  readonly id: number;
  readonly name: string;
  readonly status: string | null;
  /** YYYY-MM-DD. */
  readonly startDate: string;
}

/**
 * Runs one cycle of a workspace: reads the workspace's own lists, and selects pigeonholes that match a sync and are not
 * selected yet. Never deselects one: a selected pigeonhole is read whatever its status becomes, and requested by its id
 * if the service's list no longer shows it. The list of pigeonholes is read without the service's filters, which would
 * hide selected ones.
 */
export async function discoverWorkspace(
  deps: Collaborators,
  workspace: string,
  signal: AbortSignal,
): Promise<ReadingResult> {
  const cycle = await readPigeonhole(deps, { workspace, pigeonholeId: 0 }, signal);
  if (cycle.state !== 'working') return cycle;
  const known = await shownPigeonholes(deps.ledger, workspace);
  const started = new Set<number>();
  for (const sync of syncsOf(deps.config, workspace)) {
    const { configuration } = deps;
    const chosen = choose(deps.config.syncs[sync]!.pigeonholes, known);
    const added = await addSelections(deps.ledger, { sync, workspace, configuration }, chosen);
    if (added.length > 0) deps.log.info({ workspace, sync, pigeonholes: added }, 'pigeonholes selected');
    for (const id of added) started.add(id);
  }
  const hidden = await readHidden(deps, workspace, signal);
  const shown = [...known, ...hidden.seen];
  for (const id of await saveStates(deps.ledger, workspace, shown)) started.add(id);
  const shownIds = shown.map(({ id }) => id);
  const probe = { restMs: retryGoneInMs, everyMs: probeGoneEveryMs };
  for (const id of await probeGone(deps.ledger, workspace, shownIds, probe)) started.add(id);
  await markDiscovered(deps.ledger, workspace);
  // A sink may have withheld records of these pigeonholes because they were not selected. Wake it, so that it checks
  // again.
  if (started.size > 0) await deps.orchestration.wakeSinks(sinksOf(deps, workspace));
  await deps.orchestration.startReading([...started].map((pigeonholeId) => ({ workspace, pigeonholeId })));
  const isLeft = await keepRetention(deps, workspace, signal);
  await followChanges(deps.ledger, { workspace, budgetMs: searchBudgetMs, firstRead: 'waits', signal });
  return isLeft || hidden.isLeft ? { ...cycle, nextDueInMs: 0 } : cycle;
}

/** Returns the pigeonholes of the service, as last read. */
export async function shownPigeonholes(
  ledger: Ledger,
  workspace: string,
): Promise<(DiscoveredPigeonhole & ReportedState)[]> {
  const stored = await storedItems(ledger, await pigeonholeNumberOf(ledger, workspace, 0), 'pigeonholes');
  return stored.map(({ payload }) => {
    const fields = JSON.parse(payload) as Record<string, unknown>;
    return { ...toPigeonhole(fields), days: JSON.stringify(eventTimes(fields)) };
  });
}

function sinksOf(deps: Collaborators, workspace: string): string[] {
  return [...new Set(syncsOf(deps.config, workspace).flatMap((sync) => deps.config.syncs[sync]!.sinks))];
}

/**
 * Whether a sync's configuration still selects a pigeonhole that it selected before. Ignores the status, which changes
 * during an event. A pigeonhole that the service's list does not show stays selected unless its id is excluded. Pure.
 */
export function stillChosen(choice: PigeonholeChoice, id: number, shown: DiscoveredPigeonhole | undefined): boolean {
  if ('ids' in choice) return choice.ids.includes(id);
  const { status: _, ...lasting } = choice;
  if (shown === undefined) return choice.exclude?.includes(id) !== true;
  return choose(lasting, [shown]).length > 0;
}

/** Returns the ids that a sync selects from the service's list. Ids named in the configuration need not be in it. Pure. */
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

/** Returns the fields that discovery uses, from a record of the list `pigeonholes`. */
export function toPigeonhole(fields: Readonly<Record<string, unknown>>): DiscoveredPigeonhole {
  const text = (name: string): string => (typeof fields[name] === 'string' ? fields[name] : '');
  return {
    id: Number(fields['id']),
    name: text('name'),
    status: text('status') === '' ? null : text('status'),
    startDate: text('startDate'),
  };
}

/** Intervals for requesting a pigeonhole by its id if the service's list does not show it. */
const every = {
  ms: 60_000,
  msWhenOver: 60 * 60_000, // after the end, the status changes only if the pigeonhole is reopened
};

/** Maximum time in one cycle for these requests, because newly selected pigeonholes are read only after them. */
const longestHiddenMs = 30_000;

/**
 * Requests the status of selected pigeonholes that the service's list does not show, each by its id. The status decides
 * how often they are read. If a request fails, the known status stays; the cycles that read lists handle the failure.
 * @returns `isLeft`: the time was up before all of them were requested
 */
async function readHidden(
  deps: Collaborators,
  workspace: string,
  signal: AbortSignal,
): Promise<{ seen: ReportedState[]; isLeft: boolean }> {
  const selected = (await selectedPigeonholes(deps.ledger, syncsOf(deps.config, workspace))).filter(
    (row) => row.workspace === workspace,
  );
  const ids = selected.map(({ pigeonholeId }) => pigeonholeId);
  const seen: ReportedState[] = [];
  const latest = performance.now() + longestHiddenMs;
  while (!deps.stopping.aborted && !signal.aborted) {
    if (performance.now() > latest) return { seen, isLeft: true };
    const id = await claimHidden(deps.ledger, workspace, ids, every);
    if (id === null) break;
    const name = placeName({ workspace, pigeonholeId: id });
    if ((await pausesOf(deps.ledger, [{ scope: 'pigeonhole', name }])).length > 0) continue;
    try {
      const { id: shown, status } = await deps.gate.pigeonhole(deps, { workspace, priority: 'idle' }, id, signal);
      if (shown !== id) continue; // the answer is about another pigeonhole
      seen.push({ id, status: typeof status === 'string' && status !== '' ? status : null, days: null });
    } catch (error) {
      if (error instanceof PermitRefusal) break; // the others would be refused as well: try them in a later cycle
      if (!(error instanceof ApiError)) throw error;
      const { kind, code, requestId } = error;
      deps.log.debug({ workspace, pigeonhole: id, kind, code, requestId }, 'request for a pigeonhole by its id failed');
      if (['quota', 'throttled', 'credential', 'aborted'].includes(kind)) break; // the others would fail as well
    }
  }
  return { seen, isLeft: false };
}
