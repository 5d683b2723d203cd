import type { Queryable } from '../ledger/drivers/database.js';
import type { AttemptRow } from '../ledger/attempts.js';
import { handOverLane, type LaneLease, releaseLane, rememberOnLane } from '../ledger/lanes-leased.js';
import type { LaneWork } from '../ledger/lanes.js';
import { pause } from '../ledger/pauses.js';
import { type Exchange, recordExchanges } from '../sinks/network/exchange-log.js';
import type { Lane, Outcome } from '../sinks/sink.js';
import type { Collaborators, OpenSink } from '../cycles/collaborators.js';
import type { PigeonholeName } from '../cycles/cycle-results.js';
import { attemptsOf } from './attempt-log.js';
import { adoptConfiguration } from './adopt-configuration.js';
import type { ShownChange } from './candidates.js';
import { withdrawalsLeft } from './consent-changes.js';
import { consentReason, type DecidingSink } from './decide-delivery.js';
import { LaneHold } from './lane-hold.js';
import { planChanges } from './plan-changes.js';
import type { SubjectsLane } from './related-items.js';
import { addDecisions, type RecentByList } from './recent-decisions.js';
import { changesToRecover, lookUpAfterMs, recoverBatch } from './recover-batch.js';
import { objectsOfSink } from '../ledger/sink-objects.js';
import { type LeasedLane, sendBatch, type Settlements } from './send-batch.js';
import { type BatchVerdict, isOnlyHeldBack, settleOutcomes } from './settle-outcomes.js';
import { blameFacts, type SinkBreaker } from './sink-breaker.js';
import { type Batch, finishBatch, startBatch } from './commit-batch.js';

export interface LaneResult {
  delivered: number;
  withheld: number;
  notDelivered: number;
  /** The sink is paused, so its other lanes stop too. */
  paused: boolean;
}

export interface LaneSettings {
  readonly sink: OpenSink;
  readonly place: PigeonholeName;
  readonly lists: readonly string[];
  readonly selected: ReadonlySet<string>;
  /**
   * If the removals of people who withdrew consent exceed both limits (a share of the people sent on this lane, and a
   * number of people), an operator must confirm them.
   */
  readonly withdrawals: { readonly share: number; readonly items: number };
}

/** The cycle of the sink in which a lane is delivered. */
export interface SinkCycle {
  readonly breaker: SinkBreaker;
  /** No batch starts after this `performance.now()` time. */
  readonly until: number;
  readonly signal: AbortSignal;
}

/**
 * Delivers batches of one lane until it is empty, fails, or the cycle ends. A batch: take changes, decide on each,
 * commit the intent to send, send, settle the outcomes, commit them. Safe to run twice, even concurrently: a lane has
 * one holder, and a new holder first settles the batch that the previous one left.
 */
export async function deliverLane(
  deps: Collaborators,
  settings: LaneSettings,
  work: LaneWork,
  { breaker, until, signal }: SinkCycle,
): Promise<LaneResult> {
  const result: LaneResult = { delivered: 0, withheld: 0, notDelivered: 0, paused: false };
  const { sink } = settings;
  const hold = await LaneHold.take(
    deps.ledger,
    { sinkId: sink.id, pigeonholeNumber: work.pigeonholeNumber, owner: deps.owner },
    deps.clocks,
  );
  if (hold === undefined) return result;
  const { lease } = hold;
  try {
    const ends = AbortSignal.any([signal, hold.signal]);
    const mayStart = (): boolean =>
      performance.now() < until && !breaker.isOpen && !deps.stopping.aborted && !ends.aborted;
    const sender = new LaneSender(deps, settings, work, { hold, breaker, signal: ends, result });
    let state = await sender.settleTakenOver();
    if (lease.configuration !== deps.configuration) {
      const released = [...sink.accepts].map(consentReason);
      sender.recent = await adoptConfiguration(deps.ledger, lease, {
        configuration: deps.configuration,
        lists: settings.lists,
        released,
        settings: sink.fingerprint,
      });
    }
    while (state === 'more' && mayStart()) state = await sender.runBatch();
    if (state === 'unsettled') await handOverLane(deps.ledger, lease, lookUpAfterMs);
    else await releaseLane(deps.ledger, lease, sink.sink.traits.order);
  } finally {
    hold.end();
  }
  return result;
}

/** `unsettled`: operations with an unknown outcome have to be looked up before the lane sends anything else. */
type LaneState = 'more' | 'done' | 'unsettled';

interface HeldLane {
  readonly hold: LaneHold;
  readonly breaker: SinkBreaker;
  /** Aborted when the lane is lost, or the cycle or the process ends. */
  readonly signal: AbortSignal;
  /** Counts of the cycle, updated after each batch. */
  readonly result: LaneResult;
}

class LaneSender {
  readonly #lease: LaneLease;
  readonly #terms: DecidingSink;
  #lane: Lane;
  #failingForMs: number;
  /** The lane's recent decisions. */
  recent: RecentByList;
  /** Removals still allowed in this cycle without confirmation; undefined until counted. */
  #removalsLeft: number | undefined;

  constructor(
    private readonly deps: Collaborators,
    private readonly settings: LaneSettings,
    private readonly work: LaneWork,
    private readonly held: HeldLane,
  ) {
    const { lease } = held.hold;
    this.#lease = lease;
    this.#failingForMs = lease.failingForMs;
    this.recent = JSON.parse(lease.recent) as RecentByList;
    const { sink, accepts, onConsentWithdrawn } = settings.sink;
    this.#terms = {
      lists: settings.lists,
      accepts,
      revisions: sink.traits.revisions,
      selected: settings.selected,
      onConsentWithdrawn,
      mayForget: () => (this.#removalsLeft = (this.#removalsLeft ?? 0) - 1) >= 0,
    };
    this.#lane = {
      workspace: work.workspace,
      pigeonholeId: work.pigeonholeId,
      ledgerId: deps.ledger.id,
      memory: lease.memory,
      remember: async (memory) => {
        const all = { ...this.#lane.memory, ...memory };
        await rememberOnLane(deps.ledger, lease, all);
        this.#lane = { ...this.#lane, memory: all };
      },
      objects: () => objectsOfSink(deps.ledger, settings.sink.id),
    };
  }

  /**
   * Settles the batch that the previous holder left, if the lane was taken over. The sink is called even if nothing is
   * in flight, because it may have to reconcile its memory with the destination.
   */
  async settleTakenOver(): Promise<LaneState> {
    return this.#lease.takenOver ? await this.#recover(await this.#toRecover(true)) : 'more';
  }

  /** Runs one batch. Pending look-ups come first. */
  async runBatch(): Promise<LaneState> {
    const left = await this.#toRecover(false);
    return left.length > 0 ? await this.#recover(left) : await this.#sendNext();
  }

  async #toRecover(isTakenOver: boolean): Promise<ShownChange[]> {
    return await changesToRecover(this.deps.ledger, this.#lease, this.settings.sink.sink.traits, isTakenOver);
  }

  async #sendNext(): Promise<LaneState> {
    const { sink } = this.settings.sink;
    const batch = await startBatch(this.deps.ledger, this.#lease, {
      order: sink.traits.order,
      size: this.held.breaker.batchSize,
      configuration: this.deps.configuration,
      untriedFirst: this.#failingForMs > 0 || this.held.breaker.isRamping,
      terms: this.#terms,
      countRemovals: async (tx) => await this.#countRemovals(tx),
    });
    this.held.result.withheld += batch.withheld;
    if (batch.sending.length === 0) return batch.empty ? 'done' : 'more';
    const planned = await planChanges(this.deps.ledger.db, sink, this.#subjectsLane, batch.sending);
    const { workspace, pigeonholeId: pigeonhole } = this.work;
    const attributes = { sink: this.settings.sink.name, workspace, pigeonhole, changes: batch.sending.length };
    const exchanges: Exchange[] = [];
    const startedAt = performance.now();
    const settlements = await this.deps.tracer.span(
      'send',
      attributes,
      async () => await recordExchanges(exchanges, () => sendBatch(sink, batch.sending, planned, this.#leasedLane)),
    );
    const durationMs = performance.now() - startedAt;
    const sent = { changes: batch.sending, planned, settlements: settlements.settlements, exchanges, durationMs };
    return await this.#commit(batch.sending, settlements, { ...batch, attempts: attemptsOf(sink, sent) });
  }

  /** Settles changes that an earlier attempt may have sent. */
  async #recover(changes: readonly ShownChange[]): Promise<LaneState> {
    const lane = { subjects: this.#subjectsLane, held: this.#leasedLane, terms: this.#terms };
    const found = await recoverBatch(this.deps.ledger.db, this.settings.sink.sink, changes, lane);
    return await this.#commit(changes, found, null);
  }

  get #leasedLane(): LeasedLane {
    const { signal, hold } = this.held;
    return { lane: this.#lane, signal, confirm: hold.confirm, isFailing: this.#failingForMs > 0 };
  }

  get #subjectsLane(): SubjectsLane {
    const { sinkId, pigeonholeNumber } = this.#lease;
    const { name, sink, accepts } = this.settings.sink;
    const mapping = this.deps.config.sinks[name]!;
    return { sinkId, pigeonholeNumber, place: this.work, traits: sink.traits, accepts, mapping };
  }

  /** Counts the removals still allowed: at most once per cycle, because this reads all delivered records of people. */
  async #countRemovals(tx: Queryable): Promise<void> {
    this.#removalsLeft ??= await withdrawalsLeft(tx, this.#lease, this.settings.withdrawals);
  }

  /**
   * Decides what the outcomes mean for the deliveries, the lane and the sink, and commits them.
   * @param batch null if the changes were looked up
   */
  async #commit(
    changes: readonly ShownChange[],
    { settlements, memory }: Settlements,
    batch: (Batch & { readonly attempts: readonly AttemptRow[] }) | null,
  ): Promise<LaneState> {
    const { ledger } = this.deps;
    const { breaker, result } = this.held;
    const { order, repeats, revisions } = this.settings.sink.sink.traits;
    const answered = changes.map((change, index) => ({ change, outcome: settlements[index]! }));
    const facts = {
      added: batch?.added ?? 0,
      failingForMs: this.#failingForMs,
      otherLanesDeliver: this.work.otherLanesDeliver,
      hasDelivered: this.work.hasDelivered || result.delivered > 0,
    };
    const verdict = settleOutcomes(
      answered,
      {
        failingForMs: this.#failingForMs,
        ...(await blameFacts(ledger, this.#lease, settlements, facts)),
        holdsAll: order === 'pigeonhole',
        needsLookUp: repeats === 'lookUp',
        fromLookUp: repeats === 'lookUp' && batch === null,
      },
      Math.random(),
    );
    if (memory !== undefined) this.#lane = { ...this.#lane, memory: { ...this.#lane.memory, ...memory } };
    const recent = addDecisions(this.recent, verdict.settled);
    await finishBatch(ledger, this.#lease, {
      settled: verdict.settled,
      batch:
        batch === null
          ? null
          : { configuration: this.deps.configuration, reached: batch.reached, attempts: batch.attempts },
      memory: memory === undefined ? undefined : this.#lane.memory,
      failing: verdict.failing,
      onlyLatest: revisions === 'latest',
      delivered: verdict.delivered,
      recent: recent === this.recent ? undefined : JSON.stringify(recent),
    });
    this.recent = recent;
    result.delivered += verdict.delivered;
    result.notDelivered += answered.length - verdict.delivered;
    this.#report(verdict);
    if (verdict.pause !== null) {
      result.paused = true;
      await this.#pause(verdict.pause);
    }
    if (verdict.failing === null) this.#failingForMs = 0;
    if ((verdict.failing === null && verdict.delivered > 0) || isOnlyHeldBack(answered)) breaker.passed();
    else if (verdict.failing != null) breaker.failed(verdict.failing.retryInMs, this.work.otherLanesDeliver);
    if (order === 'pigeonhole' && verdict.settled.some(({ state }) => state === 'sending')) return 'unsettled';
    return verdict.failing == null && verdict.pause === null ? 'more' : 'done';
  }

  /** Logs deliveries, and the start of a failure: an outage must not log one line per attempt. */
  #report({ delivered, failing, settled }: BatchVerdict): void {
    const { workspace, pigeonholeId } = this.work;
    const line = { sink: this.settings.sink.name, workspace, pigeonhole: pigeonholeId };
    const dead = settled.filter(({ state }) => state === 'dead').length;
    const retry = settled.filter(({ state }) => state === 'retry').length;
    this.deps.meters.settled(this.settings.sink.name, { delivered, dead, retry });
    if (delivered > 0 || dead > 0) this.deps.log.info({ ...line, delivered, retry, dead }, 'changes settled');
    if (failing != null && this.#failingForMs === 0) {
      this.deps.log.warn({ ...line, detail: failing.detail, retryInMs: failing.retryInMs }, 'sink accepts nothing');
    }
  }

  async #pause({ cause, detail }: Extract<Outcome, { kind: 'pause' }>): Promise<void> {
    const { name, fingerprint } = this.settings.sink;
    await pause(this.deps.ledger, { scope: 'sink', name, pausedBy: 'cause', cause, detail, fingerprint });
    this.deps.log.error({ sink: name, cause, detail }, 'sink paused');
  }
}
