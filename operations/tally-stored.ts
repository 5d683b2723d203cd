import { decideDelivery } from '../delivering/decide-delivery.js';
import type { PlannedLane } from '../delivering/lane-plans.js';
import { readSubjects } from '../delivering/read-subjects.js';
import type { Config } from '../config/config.js';
import type { Ledger } from '../ledger/ledger.js';
import { useIndexOrder } from '../ledger/addressed-indexes.js';
import { type Candidate, storedItems } from '../delivering/candidates.js';
import type { Planned, Sink } from '../sinks/sink.js';
import { acceptedBy } from '../work/open-sinks.js';

/** A sink of a configuration, on one of its lanes. */
export interface PlanningLane {
  readonly ledger: Ledger;
  readonly config: Config;
  readonly sinkName: string;
  readonly sink: Sink;
  readonly lane: PlannedLane;
  /** 0: none that the ledger knows. */
  readonly sinkId: number;
  readonly ref: number;
}

/** Result for a stored item: the sink's plan, or the reason why the sink does not receive it. */
export type StoredPlan = Planned | { readonly kind: 'kept'; readonly reason: string };

/** Plans stored items with the same rules as when they are sent. Returns the results in the order of the items. */
export async function planStored(planning: PlanningLane, found: readonly Candidate[]): Promise<StoredPlan[]> {
  const { ledger, config, sinkName, sink, lane, sinkId, ref } = planning;
  const settings = config.sinks[sinkName]!;
  const terms = {
    accepts: acceptedBy(settings),
    revisions: sink.traits.revisions,
    selected: new Set(lane.selected),
    onConsentWithdrawn: settings.onConsentWithdrawn,
    mayForget: () => true,
  };
  const decided = found.map((candidate) => ({ candidate, decision: decideDelivery(candidate, terms) }));
  const sending = decided.flatMap(({ candidate, decision }) =>
    decision.kind === 'send' ? [{ candidate, identity: decision.identity }] : [],
  );
  const { traits } = sink;
  const place = { sinkId, ref, place: lane, traits, accepts: terms.accepts };
  const planned = await sink.plan(await readSubjects(ledger.db, place, sending));
  const plans = new Map(sending.map(({ candidate }, index) => [candidate, planned[index]!]));
  return decided.map(
    ({ candidate, decision }) =>
      plans.get(candidate) ?? {
        kind: 'kept',
        reason: decision.kind === 'withhold' ? decision.reason : decision.kind,
      },
  );
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
  /** Items that the decision withholds from the sink, by reason. */
  readonly kept: Readonly<Record<string, number>>;
  /** Whether every item was planned. If not, the time was up, and the counts cover only the newest items. */
  readonly complete: boolean;
}

const slice = 250;
/** Limits of planning one list of a lane. Counts are exact if everything is planned. */
export interface Effort {
  /** Minimum number of items that are planned, however long it takes. */
  readonly items: number;
  /** Milliseconds for planning more than the minimum. */
  readonly ms: number;
}

/**
 * Plans the lists of one request within a total time, whatever the number of pigeonholes. When the time has passed, the
 * counts of a list are estimated with the shares found for the same list of the sink in other pigeonholes.
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
    const name = JSON.stringify([planning.sinkName, asked.list]);
    const before = this.#found.get(name);
    if (before !== undefined && this.now() > this.#until) return { ...before, complete: false };
    const tally = await this.tally(planning, asked, this.effort);
    this.#found.set(name, before === undefined ? tally : sumOf(before, tally));
    return tally;
  }
}

function sumOf(one: Tally, other: Tally): Tally {
  return {
    given: one.given + other.given,
    sent: one.sent + other.sent,
    failed: one.failed + other.failed,
    withheld: sumByReason(one.withheld, other.withheld),
    kept: sumByReason(one.kept, other.kept),
    complete: false,
  };
}

function sumByReason(one: Tally['withheld'], other: Tally['withheld']): Tally['withheld'] {
  const sum: Record<string, number> = { ...one };
  for (const [reason, n] of Object.entries(other)) sum[reason] = (sum[reason] ?? 0) + n;
  return sum;
}

interface TallyRequest {
  readonly list: string;
  /** Only items whose last change the sink withholds for one of these reasons; null: all. */
  readonly withheldFor: readonly string[] | null;
}

/** Plans stored items of a list, newest first, until all are planned or the effort is spent. Sends and changes nothing. */
export async function tallyStored(
  planning: PlanningLane,
  { list, withheldFor }: TallyRequest,
  effort: Effort,
): Promise<Tally> {
  const until = performance.now() + effort.ms;
  const { ledger, sinkId, ref } = planning;
  const sum = { given: 0, sent: 0, failed: 0 };
  const withheld: Record<string, number> = {};
  const kept: Record<string, number> = {};
  let before: number | null = null;
  let planned = 0;
  for (;;) {
    const asked = { sinkId, ref, lists: [list], key: null, before, withheldFor };
    const found: Candidate[] = await ledger.db.transaction(async (tx) => {
      await useIndexOrder(tx);
      return await storedItems(tx, asked, slice);
    });
    for (const plan of await planStored(planning, found)) {
      if (plan.kind === 'kept') {
        kept[plan.reason] = (kept[plan.reason] ?? 0) + 1;
        continue;
      }
      sum.given += 1;
      if (plan.kind === 'send') sum.sent += 1;
      else if (plan.kind === 'nothing') withheld[plan.reason] = (withheld[plan.reason] ?? 0) + 1;
      else sum.failed += 1;
    }
    before = found.at(-1)?.sequence ?? null;
    planned += found.length;
    if (found.length < slice) return { ...sum, withheld, kept, complete: true };
    if (planned >= effort.items && performance.now() > until) return { ...sum, withheld, kept, complete: false };
  }
}
