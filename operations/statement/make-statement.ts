import { derivedLists, type ListName } from '../../base/lists.js';
import { packageVersion } from '../../base/package-root.js';
import type { Config } from '../../config/config.js';
import { plannedLanes } from '../../delivering/lane-plans.js';
import { type LaneParity, laneParities } from '../../delivering/parity/lane-parity.js';
import { lastSeenPigeonhole } from '../../importing/desk/find-target.js';
import type { Ledger } from '../../ledger/ledger.js';
import { selectedPigeonhole } from '../../ledger/pigeonholes.js';
import { readSchedules } from '../../reading/stream-facts.js';
import type { Status } from '../status-view.js';
import { countOutcomes, type OutcomeCount } from './count-destinations.js';
import { compareWithSource, hasErasures, heldLists, streamReads } from './count-source.js';
import { interruptionsOf } from './interruption-store.js';
import {
  byList,
  interruptedSeconds,
  type CountedList,
  type CountedSink,
  isReadAfter,
  judgeDestination,
  judgeInterruptions,
  judgeList,
  openPoints,
  sourceLists,
} from './judge-statement.js';
import { type Destination, type Parity, type Statement, statementFormat } from './statement.js';
import type { StoredStatement } from './statement-store.js';

/** Everything that a statement is made from. */
interface StatementSources {
  readonly ledger: Ledger;
  readonly config: Config;
  readonly status: Status;
  /** Id of each configured sink. */
  readonly sinkIds: ReadonlyMap<string, number>;
}

/**
 * Counts everything that a statement says. Reads only the ledger, in parts, so that other work continues. The lists must
 * have been read again before, as far as that is possible; those that were not are named.
 * @param blocked why lists could not be read again, in words
 */
export async function makeStatement(
  sources: StatementSources,
  stored: StoredStatement,
  { blocked }: { readonly blocked: string | null },
): Promise<Statement> {
  const { ledger } = sources;
  const { number, pigeonholeNumber, workspace, pigeonholeId, requestedAt } = stored;
  const [event, schedules, erasures, coverageFrom, lists, sinks] = await Promise.all([
    eventOf(ledger, stored),
    readSchedules(ledger, [pigeonholeNumber]),
    hasErasures(ledger, workspace),
    watchedSince(ledger, pigeonholeNumber),
    countLists(ledger, stored),
    countedSinks(sources, stored),
  ]);
  const source = lists.map((list) => judgeList(list, { hasErasures: erasures })).toSorted(byList);
  const destinations = await countDestinations(ledger, pigeonholeNumber, sinks);
  const completedAt = new Date(ledger.clock.nowMs());
  const interruptions = judgeInterruptions(
    await interruptionsOf(ledger, { workspace, pigeonholeId, since: coverageFrom }),
    { from: coverageFrom, until: completedAt },
  );
  const notRead = lists.flatMap(({ list, reads }) => {
    const failed = reads.filter(({ isRead, isGone }) => !isRead && !isGone);
    if (failed.length === 0) return [];
    return [{ list, why: blocked ?? failed.find(({ failure }) => failure !== null)?.failure ?? 'the time ran out' }];
  });
  const open = openPoints({ source: { lists: source }, destinations, notRead });
  const total = (pick: (list: (typeof source)[number]) => number): number =>
    source.reduce((sum, list) => sum + pick(list), 0);
  const sessions = [...(schedules.get(pigeonholeNumber)?.sessions ?? [])];
  return {
    format: statementFormat,
    number,
    instance: ledger.id,
    software: `pigeonpost ${packageVersion()}`,
    event: { workspace, id: pigeonholeId, ...event },
    requestedAt: requestedAt.toISOString(),
    completedAt: completedAt.toISOString(),
    agrees: open.length === 0,
    open,
    source: { shown: total(({ shown }) => shown), held: total(({ held }) => held), lists: source },
    sessions: sessions
      .toSorted(([a, one], [b, other]) => (one.startsAt ?? Infinity) - (other.startsAt ?? Infinity) || a - b)
      .map(([session, { type, startsAt, endsAt }]) => ({
        session,
        type: type ?? null,
        startsAt: isoOf(startsAt),
        endsAt: isoOf(endsAt),
      })),
    destinations,
    coverage: {
      from: coverageFrom.toISOString(),
      until: completedAt.toISOString(),
      interruptions,
      seconds: interruptedSeconds(interruptions, completedAt),
      readAfterwards: isReadAfter(source, interruptions),
    },
  };
}

function isoOf(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString();
}

async function eventOf(
  ledger: Ledger,
  { workspace, pigeonholeId }: StoredStatement,
): Promise<Omit<Statement['event'], 'workspace' | 'id'>> {
  const seen = await lastSeenPigeonhole(ledger, workspace, pigeonholeId);
  const item = seen === undefined ? {} : (JSON.parse(seen.payload) as Readonly<Record<string, unknown>>);
  const text = (name: string): string | null => (typeof item[name] === 'string' ? item[name] : null);
  return {
    name: text('name'),
    status: text('status'),
    firstDay: text('startDate'),
    lastDay: text('endDate'),
    timezone: text('timezone'),
  };
}

async function watchedSince(ledger: Ledger, pigeonholeNumber: number): Promise<Date> {
  const [row] = await ledger.db.query<{ since: Date }>(
    'select created_at as since from pigeonholes where pigeonhole_number = $1',
    [pigeonholeNumber],
  );
  return row!.since;
}

/** Compares each list of the service that is read, or of which the ledger has items. */
async function countLists(
  ledger: Ledger,
  { pigeonholeNumber, requestedAt: since }: StoredStatement,
): Promise<CountedList[]> {
  const reads = await streamReads(ledger, pigeonholeNumber, { lists: sourceLists, since });
  const held = new Set((await heldLists(ledger, pigeonholeNumber)).map(({ list }) => list));
  const counted: CountedList[] = [];
  for (const list of sourceLists) {
    const own = reads.filter((read) => read.list === list);
    if (own.length === 0 && !held.has(list)) continue;
    // One list after another, because each statement reads a whole list.
    counted.push({ list, reads: own, counts: await compareWithSource(ledger, pigeonholeNumber, { list, since }) });
  }
  return counted;
}

/** Returns the sinks that receive the pigeonhole under the present configuration, with their lists. */
async function countedSinks(
  { ledger, config, status, sinkIds }: StatementSources,
  { workspace, pigeonholeId }: StoredStatement,
): Promise<CountedSink[]> {
  const selected = await selectedPigeonhole(ledger, Object.keys(config.syncs), { workspace, pigeonholeId });
  if (selected === undefined) return [];
  const parities = await laneParities(ledger, { sink: null, workspace, pigeonholeId });
  return Object.keys(config.sinks).flatMap((name): CountedSink[] => {
    const lanes = plannedLanes(config, name, [selected]).filter((lane) => lane.pigeonholeId === pigeonholeId);
    const lists = lanes.flatMap((lane) => lane.lists);
    const sinkId = sinkIds.get(name);
    const isUsed = selected.syncs.some((sync) => config.syncs[sync]!.sinks.includes(name));
    if (!isUsed || sinkId === undefined || lists.length === 0) return [];
    return [
      {
        sinkId,
        name,
        type: config.sinks[name]!.type,
        state: stateOf(status, name),
        lists,
        parity: parityOf(parities, name),
      },
    ];
  });
}

/** Returns the last finished comparison of a sink in the event; null: there was none. */
function parityOf(parities: readonly LaneParity[], name: string): Parity | null {
  const found = parities.find(({ sink }) => sink === name);
  if (found === undefined || found.endedAt === null) return null;
  const { endedAt, compared, explained, counts } = found;
  const { same, stale, changed, missing, extra, unreadable } = counts;
  return {
    comparedAt: endedAt.toISOString(),
    compared,
    same,
    explained,
    stale: stale - explained,
    changed,
    missing,
    extra,
    unreadable,
  };
}

function stateOf({ sinks }: Status, name: string): Destination['state'] {
  const sink = sinks.find((each) => each.name === name);
  if (sink === undefined) return 'working';
  if (sink.mode === 'observe' && sink.approval === null) return 'observing';
  if (sink.state === 'paused') return 'paused';
  return sink.state === 'failing' ? 'failing' : 'working';
}

async function countDestinations(
  ledger: Ledger,
  pigeonholeNumber: number,
  sinks: readonly CountedSink[],
): Promise<Destination[]> {
  const counts = new Map<string, readonly OutcomeCount[]>();
  for (const list of [...sourceLists, ...derivedLists] as ListName[]) {
    const sinkIds = sinks.filter(({ lists }) => lists.includes(list)).map(({ sinkId }) => sinkId);
    if (sinkIds.length > 0) counts.set(list, await countOutcomes(ledger, pigeonholeNumber, { list, sinkIds }));
  }
  return sinks.map((sink) => judgeDestination(sink, counts));
}
