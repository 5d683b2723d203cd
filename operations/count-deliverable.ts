import { decideDelivery } from '../delivering/decide-delivery.js';
import type { SinkConfig, Config } from '../config/config.js';
import type { Ledger } from '../ledger/ledger.js';
import { findPigeonholeNumber } from '../ledger/pigeonholes.js';
import { acceptedBy } from '../delivering/open-sinks.js';
import { ownRecords } from '../ledger/visibility.js';
import type { Consent } from '../ledger/seen-item.js';
import { consentBehind, type Candidate } from '../delivering/candidates.js';
import { storedItems } from '../delivering/replays.js';
import type { PlannedLane } from '../delivering/lane-plans.js';
import { type Foreseen, type ForeseenLane, subjectOf, wouldSend } from '../delivering/would-send.js';
import { useIndexOrder } from '../ledger/sql-expressions.js';
import type { Sink } from '../sinks/sink.js';
import { groupBy } from '../base/grouping.js';
import { addCounts } from './ledger-status.js';
import { mappingView, type MappingView } from '../sinks/mapping/expression.js';
import { expressionsIn } from '../sinks/mapping/expression-schema.js';
import type { SeenByList } from './field-notes.js';
import { judgeList, type ListOutcomes, withholdingSentence } from './withholding.js';

/** Counts of one list. */
export interface DeliverableCount {
  readonly list: string;
  /** Sent. */
  readonly items: number;
  /** Withheld on purpose, by reason. */
  readonly withheld: Readonly<Record<string, number>>;
}

/** Counts the stored items that a sink would receive and those withheld from it, with the rules that apply on delivery. */
export async function countDeliverable(
  ledger: Ledger,
  sink: SinkConfig,
  asked: ItemsAsked,
): Promise<DeliverableCount[]> {
  if (asked.lists.length === 0) return [];
  return addUp(sink, await countItemGroups(ledger, asked));
}

/** Decides about each group, and adds up the counts by list. Pure. */
function addUp(sink: SinkConfig, groups: readonly ItemGroup[]): DeliverableCount[] {
  const counts = groups.map((group) => {
    const { list, items } = group;
    const reason = whyWithheld(sink, group);
    return reason === null ? { list, items, withheld: {} } : { list, items: 0, withheld: { [reason]: items } };
  });
  return sumCounts<DeliverableCount>(counts, ({ list }) => list);
}

/** Adds up the counts with the same name: numbers and reasons are added, and a flag is true if it is true of one. Pure. */
export function sumCounts<Count extends Pick<DeliverableCount, 'withheld'>>(
  counts: readonly Count[],
  nameOf: (count: Count) => string,
): Count[] {
  return [...groupBy(counts, nameOf).values()].map((same) => same.reduce(added));
}

function added<Count extends Pick<DeliverableCount, 'withheld'>>(one: Count, other: Count): Count {
  const sum: Record<string, unknown> = { ...one, withheld: addCounts({ ...one.withheld }, other.withheld) };
  for (const [name, value] of Object.entries<unknown>(other)) {
    if (typeof value === 'number') sum[name] = Number(sum[name]) + value;
    if (value === true) sum[name] = true;
  }
  return sum as unknown as Count;
}

function whyWithheld(sink: SinkConfig, { list, consent, unselected }: ItemGroup): string | null {
  const decision = decideDelivery(
    {
      sequence: 0,
      id: '',
      list,
      key: 'one',
      revision: 1,
      kind: 'created',
      sessionId: null,
      foundAt: new Date(0),
      payload: '{}',
      latest: true,
      visibility: null,
      consent: list === 'attendees' ? (consent ?? 'not-known') : consent,
      sentBefore: false,
      erased: null,
      sentWithIdentity: null,
      attempts: 0,
      othersPassedSince: false,
      redriven: false,
      replay: 0,
      replayId: null,
      repair: false,
    },
    {
      lists: [list],
      accepts: acceptedBy(sink),
      revisions: 'every',
      selected: new Set(unselected ? [] : ['one']),
      onConsentWithdrawn: 'keep', // nothing was delivered yet
      mayForget: () => true,
    },
  );
  return decision.kind === 'withhold' ? decision.reason : null;
}

export interface ItemsAsked {
  readonly pigeonholeNumber: number;
  readonly lists: readonly string[];
  /** Only items whose last change was found since. */
  readonly since?: Date | null;
  /** Leaves out items whose last change has a delivery row of this sink. */
  readonly withoutRowOf?: number | null;
  /** Only items whose last change the sink has passed: its sequence is at most this. */
  readonly until?: number | null;
  /** Keys, in the list `pigeonholes`, of the pigeonholes that the sink's syncs select. */
  readonly selected: readonly string[];
}

/** Items for which the decision is the same. */
interface ItemGroup {
  readonly list: string;
  /** Consent of attendee records, where known; null for other lists. */
  readonly consent: Consent | null;
  /** For pigeonholes: no sync of the sink selects them. */
  readonly unselected: boolean;
  readonly items: number;
}

/**
 * Counts stored items by list and by the facts that decide their delivery. Reads every row of these lists, so it runs
 * only on request.
 */
async function countItemGroups(
  ledger: Ledger,
  { pigeonholeNumber, lists, selected, since = null, until = null, withoutRowOf = null }: ItemsAsked,
): Promise<ItemGroup[]> {
  return await ledger.db.query<ItemGroup>(
    `select i.list, case when i.list = any($7::text[]) then ${consentBehind} end as consent,
       i.list = 'pigeonholes' and i.key <> all($4::text[]) as unselected, count(*)::int as items
     from items i join changes c on c.pigeonhole_number = i.pigeonhole_number and c.sequence = i.last_sequence
       left join items a on i.list = any($7::text[]) and a.pigeonhole_number = i.pigeonhole_number
         and a.list = 'attendees' and a.key = i.attendee_id::text and a.payload is not null
     where i.pigeonhole_number = $1 and i.list = any($2::text[]) and i.payload is not null and not i.expired
       and ($3::timestamptz is null or c.found_at >= $3) and ($5::int8 is null or i.last_sequence <= $5)
       and ($6::int4 is null or not exists (select 1 from deliveries d
         where d.sink_id = $6 and d.pigeonhole_number = i.pigeonhole_number and d.sequence = i.last_sequence
           and d.replay = 0))
     group by 1, 2, 3 order by 1, 2, 3`,
    [pigeonholeNumber, lists, since, selected, until, withoutRowOf, [...ownRecords]],
  );
}

/** A sink of a configuration, which may not be the current one. */
export interface PlannedSink {
  readonly config: Config;
  readonly sinkName: string;
  readonly sink: Sink;
  /** 0: none that the ledger knows. */
  readonly sinkId: number;
}

/** Such a sink, on one of its lanes. */
export interface PlanningLane extends PlannedSink {
  readonly ledger: Ledger;
  readonly lane: PlannedLane;
  readonly pigeonholeNumber: number;
}

/** Returns a lane of the sink, or undefined if its pigeonhole was never read. */
export async function planningLane(
  ledger: Ledger,
  planned: PlannedSink,
  lane: PlannedLane,
): Promise<PlanningLane | undefined> {
  const pigeonholeNumber = await findPigeonholeNumber(ledger.db, lane.workspace, lane.pigeonholeId);
  return pigeonholeNumber === undefined ? undefined : { ledger, ...planned, lane, pigeonholeNumber };
}

/** Returns what the sink would receive for stored items, in the order of the items. */
export async function foresee(planning: PlanningLane, found: readonly Candidate[]): Promise<Foreseen[]> {
  return await wouldSend(planning.ledger.db, foreseenLane(planning), found);
}

/** Returns what the expressions of the sink see of a stored item; null if the sink may not receive it. */
export async function viewOf(planning: PlanningLane, found: Candidate): Promise<MappingView | null> {
  const subject = await subjectOf(planning.ledger.db, foreseenLane(planning), found);
  return subject === null ? null : mappingView(subject);
}

function foreseenLane({ config, sinkName, sink, lane, sinkId, pigeonholeNumber }: PlanningLane): ForeseenLane {
  const mapping = config.sinks[sinkName]!;
  const { lists } = lane;
  const { onConsentWithdrawn } = mapping;
  const rules = { lists, accepts: acceptedBy(mapping), selected: new Set(lane.selected), onConsentWithdrawn };
  return { sinkId, pigeonholeNumber, place: lane, sink, mapping, ...rules };
}

/** Results for the stored items of one list. */
export interface Tally {
  /** Items that the decision passes to the sink's mapping. */
  readonly given: number;
  /** Those of the given items that are sent. */
  readonly sent: number;
  /** Those of the given items that the mapping withholds, by reason. */
  readonly withheld: Readonly<Record<string, number>>;
  /** Those of the given items that become dead letters because the mapping fails. */
  readonly failed: number;
  /** Whether every item was planned. If not, the time was up, and the counts cover only the newest items. */
  readonly complete: boolean;
}

const slice = 250;
/** Limits of planning one list of a lane. Counts are exact if everything is planned. */
interface Effort {
  /** Minimum number of items that are planned, however long it takes. */
  readonly items: number;
  /** Milliseconds for planning more than the minimum. */
  readonly ms: number;
}

/**
 * Plans the lists of one request within a total time, whatever the number of pigeonholes. When the time has passed, the
 * counts of a list are estimated with the shares found for the same list and reasons of the sink in other pigeonholes.
 */
export class SharedTallies {
  readonly #found = new Map<string, Tally>();
  readonly #until: number;

  /**
   * @param effort for each list of a lane
   * @param totalMs for all of them
   */
  constructor(
    private readonly effort: Effort,
    totalMs: number,
    private readonly tally: typeof tallyStored = tallyStored,
    private readonly now: () => number = () => performance.now(),
  ) {
    this.#until = now() + totalMs;
  }

  /** @returns exact counts of the list, or shares with `complete: false` */
  async of(planning: PlanningLane, asked: TallyRequest): Promise<Tally> {
    const name = JSON.stringify([planning.sinkName, asked.list, asked.withheldFor]);
    const before = this.#found.get(name);
    if (before !== undefined && this.now() > this.#until) return { ...before, complete: false };
    const tally = await this.tally(planning, asked, this.effort);
    this.#found.set(name, before === undefined ? tally : { ...added(before, tally), complete: false });
    return tally;
  }
}

interface TallyRequest extends Pick<ItemsAsked, 'since' | 'until' | 'withoutRowOf'> {
  readonly list: string;
  /** Only items whose last change the sink withholds for one of these reasons; null: all. */
  readonly withheldFor: readonly string[] | null;
}

/** Plans stored items of a list, newest first, until all are planned or the effort is spent. Sends and changes nothing. */
async function tallyStored(planning: PlanningLane, { list, ...which }: TallyRequest, effort: Effort): Promise<Tally> {
  const until = performance.now() + effort.ms;
  const { ledger, sinkId, pigeonholeNumber } = planning;
  const sum = { given: 0, sent: 0, failed: 0 };
  const withheld: Record<string, number> = {};
  let before: number | null = null;
  let planned = 0;
  for (;;) {
    const asked = { sinkId, pigeonholeNumber, lists: [list], key: null, before, ...which };
    const found: Candidate[] = await ledger.db.transaction(async (tx) => {
      await useIndexOrder(tx);
      return await storedItems(tx, asked, slice);
    });
    for (const each of await foresee(planning, found)) {
      // The caller counts in SQL what the rules withhold.
      if (each.kind === 'supersede' || (each.kind === 'withhold' && each.by === 'rules')) continue;
      sum.given += 1;
      if (each.kind === 'send') sum.sent += 1;
      else if (each.kind === 'withhold') addCounts(withheld, { [each.reason]: 1 });
      else sum.failed += 1;
    }
    before = found.at(-1)?.sequence ?? null;
    planned += found.length;
    if (found.length < slice) return { ...sum, withheld, complete: true };
    if (planned >= effort.items && performance.now() > until) return { ...sum, withheld, complete: false };
  }
}

/** Results for the stored items of one list: what the decision and then the mapping withhold. */
export interface MappedCount extends DeliverableCount {
  /** Items that become dead letters because the mapping fails. */
  readonly failed: number;
  /** Only the newest of a large number were planned; the counts of the others are an estimate. */
  readonly estimated: boolean;
}

/** Limits planning to a few seconds, for each list of a lane and for all lists together. The rest is estimated. */
export function startTallies(): SharedTallies {
  return new SharedTallies({ items: 1000, ms: 500 }, 4000);
}

/** Counts the results for the stored items of a lane: the decision in SQL, and the mapping by planning. */
export async function countMapped(
  planning: PlanningLane,
  asked: ItemsAsked,
  tallies: SharedTallies,
): Promise<MappedCount[]> {
  const counts = await countDeliverable(planning.ledger, planning.config.sinks[planning.sinkName]!, asked);
  return await throughMapping(planning, { asked, counts }, tallies);
}

/** Takes from the counts of `countDeliverable` what the mapping withholds. */
export async function throughMapping(
  planning: PlanningLane,
  { asked, counts }: { readonly asked: ItemsAsked; readonly counts: readonly DeliverableCount[] },
  tallies: SharedTallies,
): Promise<MappedCount[]> {
  const maps = expressionsIn(planning.config.sinks[planning.sinkName]!.settings).length > 0;
  const mapped: MappedCount[] = [];
  for (const count of counts) {
    if (!maps || count.items === 0) {
      mapped.push({ ...count, failed: 0, estimated: false });
      continue;
    }
    const { since, until, withoutRowOf } = asked;
    // One at a time, because each plans a whole list.
    const tally = await tallies.of(planning, { list: count.list, withheldFor: null, since, until, withoutRowOf });
    mapped.push(withMapping(count, tally));
  }
  return mapped;
}

/** Counts, by list, what a sink would receive of all stored items of these lanes. */
export async function countLanes(
  ledger: Ledger,
  planned: PlannedSink,
  lanes: readonly PlannedLane[],
  tallies: SharedTallies,
): Promise<MappedCount[]> {
  const counts: MappedCount[] = [];
  for (const lane of lanes) {
    const { lists, selected } = lane;
    const planning = lists.length === 0 ? undefined : await planningLane(ledger, planned, lane);
    if (planning === undefined) continue;
    // One at a time, because each plans whole lists.
    counts.push(
      ...(await countMapped(planning, { pigeonholeNumber: planning.pigeonholeNumber, lists, selected }, tallies)),
    );
  }
  return sumCounts(counts, ({ list }) => list);
}

/**
 * Applies the mapping's results to the counts of a list. If not every item was planned, the shares found for the newest
 * items are applied to all of them. Pure.
 */
function withMapping({ list, items, withheld }: DeliverableCount, tally: Tally): MappedCount {
  const share = (n: number): number => (tally.given === 0 ? 0 : Math.round((items * n) / tally.given));
  const count = tally.complete ? (n: number): number => n : share;
  const byMapping = Object.fromEntries(Object.entries(tally.withheld).map(([reason, n]) => [reason, count(n)]));
  const all = addCounts({ ...withheld }, byMapping);
  return { list, items: count(tally.sent), withheld: all, failed: count(tally.failed), estimated: !tally.complete };
}

/** Returns the sentence that the status will show about a list, or null if the mapping seems to be as intended. */
export function mappingProblem(
  { list, items, failed, withheld, estimated }: MappedCount,
  config: Pick<Config, 'syncs' | 'sinks'>,
  sink: string,
  seen: SeenByList,
): string | null {
  const outcomes: ListOutcomes = {
    list,
    counts: [
      { state: 'delivered', reason: '', changes: items + failed },
      ...Object.entries(withheld).map(([reason, changes]) => ({ state: 'withheld' as const, reason, changes })),
    ],
    recent: [],
  };
  const withholding = judgeList(outcomes);
  const text = withholding === null ? null : withholdingSentence(config, sink, withholding, seen);
  return text !== null && estimated ? `${text} (estimated from the newest items)` : text;
}
