import type { Queryable } from '../ledger/drivers/database.js';
import { adoptConfiguration } from './adopt-configuration.js';
import {
  listNotWanted,
  type LaneLease,
  type LaneWork,
  handOverLane,
  releaseLane,
  rememberOnLane,
} from '../ledger/lanes.js';
import { type Batch, startBatch } from './start-batch.js';
import type { Decision, Settled } from './delivery-states.js';
import { inFlight, postponeLookUps } from './due-deliveries.js';
import { ownRecords } from '../ledger/visibility.js';
import type { Candidate } from './candidates.js';
import { objectsOfSink, readSubjects } from './read-subjects.js';
import { hasFewOpen } from './read-lanes.js';
import { finishBatch } from './finish-batch.js';
import { pause } from '../ledger/pauses.js';
import { withdrawalsLeft } from './withdrawals.js';
import { consentReason, decideDelivery, isWithdrawn } from './decide-delivery.js';
import { type RecentByList, addDecisions } from './recent-decisions.js';
import type { Lane, Outcome, Subject } from '../sinks/sink.js';
import type { Collaborators, OpenSink } from '../work/collaborators.js';
import { LaneHold } from './lane-hold.js';
import { recoverSent, type LeasedLane, sendPlanned, type Settlement, type Settlements } from './send-batch.js';
import type { SinkBreaker } from './sink-breaker.js';
import { fewRecords, isOnlyHeldBack, blameRecordsAfterMs, lookUpAfterMs, settleOutcomes } from './settle-outcomes.js';
import type { PigeonholeName } from '../work/cycle-results.js';

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
  const hold = await LaneHold.take(deps.ledger, { sinkId: sink.id, ref: work.ref, owner: deps.owner }, deps.clocks);
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

/** A change that is being sent. */
type InFlightChange = { readonly candidate: Candidate; readonly identity: boolean };

/**
 * Maximum number of deliveries settled together after a takeover if the lane delivers all its changes in order. It is
 * large enough for everything in flight.
 */
const wholeLane = 100_000;

interface HeldLane {
  readonly hold: LaneHold;
  readonly breaker: SinkBreaker;
  /** Aborted when the lane is lost, or the cycle or the process ends. */
  readonly signal: AbortSignal;
  /** Counts of the cycle, updated after each batch. */
  readonly result: LaneResult;
}

class LaneSender {
  #lane: Lane;
  #failingForMs: number;
  /** The lane's recent decisions. */
  recent: RecentByList;
  /** Removals still allowed in this cycle without confirmation; undefined until counted. */
  #withdrawalsLeft: number | undefined;

  constructor(
    private readonly deps: Collaborators,
    private readonly settings: LaneSettings,
    private readonly work: LaneWork,
    private readonly held: HeldLane,
  ) {
    const { lease } = held.hold;
    this.#failingForMs = lease.failingForMs;
    this.recent = JSON.parse(lease.recent) as RecentByList;
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

  get #lease(): LaneLease {
    return this.held.hold.lease;
  }

  /** Settles the batch that the previous holder left, if the lane was taken over. */
  async settleTakenOver(): Promise<LaneState> {
    const { ledger } = this.deps;
    const { order, repeats, batchSize } = this.settings.sink.sink.traits;
    if (!this.#lease.takenOver) return 'more';
    if (order === 'item' && repeats === 'lookUp') await postponeLookUps(ledger, this.#lease, lookUpAfterMs);
    // Called even if nothing is in flight, because the sink may have to reconcile its memory with the destination.
    return await this.#settle(await inFlight(ledger, this.#lease, order === 'item' ? batchSize : wholeLane));
  }

  /** Runs one batch. Pending look-ups come first. */
  async runBatch(): Promise<LaneState> {
    const { order, batchSize } = this.settings.sink.sink.traits;
    const left = order === 'item' ? await inFlight(this.deps.ledger, this.#lease, batchSize) : [];
    return left.length > 0 ? await this.#settle(left) : await this.sendNext();
  }

  /**
   * Settles changes that an earlier attempt may have sent. If the sink can look them up, it does; otherwise they become
   * due again.
   */
  async #settle(changes: readonly InFlightChange[]): Promise<LaneState> {
    const subjects = await this.#subjects(changes);
    const found = await recoverSent(this.settings.sink.sink, subjects, this.#leasedLane);
    const settlements = found.settlements.map((each, index) => this.#unlessHidden(changes[index]!, each));
    return await this.#commit(changes, { ...found, settlements }, { isRecovery: true });
  }

  /** If a look-up found a change with an identity that is no longer visible, sends it again without the identity. */
  #unlessHidden({ candidate, identity }: InFlightChange, settlement: Settlement): Settlement {
    if (settlement.kind !== 'delivered' || !identity || ownRecords.has(candidate.list)) return settlement;
    if (this.settings.sink.sink.traits.revisions !== 'latest' || !candidate.latest) return settlement;
    const decision = this.#decide(candidate);
    if (decision.kind !== 'send' || decision.identity) return settlement;
    return { kind: 'unsent', ...('object' in settlement && { object: settlement.object }) };
  }

  get #leasedLane(): LeasedLane {
    return { lane: this.#lane, signal: this.held.signal, confirm: this.held.hold.confirm };
  }

  #decide(candidate: Candidate): Decision {
    const { sink, accepts, onConsentWithdrawn } = this.settings.sink;
    if (!this.settings.lists.includes(candidate.list)) return { kind: 'withhold', reason: listNotWanted };
    return decideDelivery(candidate, {
      accepts,
      revisions: sink.traits.revisions,
      selected: this.settings.selected,
      onConsentWithdrawn,
      mayForget: () => (this.#withdrawalsLeft = (this.#withdrawalsLeft ?? 0) - 1) >= 0,
    });
  }

  async #subjects(changes: readonly InFlightChange[]): Promise<Subject[]> {
    const { sinkId, ref } = this.#lease;
    const { sink, accepts } = this.settings.sink;
    const lane = { sinkId, ref, place: this.work, traits: sink.traits, accepts };
    return await readSubjects(this.deps.ledger.db, lane, changes);
  }

  /**
   * Counts the removals still allowed: at most once per cycle, and only if a person withdrew consent, because counting
   * reads all delivered records of people.
   */
  async #countWithdrawals(tx: Queryable, candidates: readonly Candidate[]): Promise<void> {
    if (!candidates.some((candidate) => isWithdrawn(candidate, this.settings.sink))) return;
    this.#withdrawalsLeft ??= await withdrawalsLeft(tx, this.#lease, this.settings.withdrawals);
  }

  async sendNext(): Promise<LaneState> {
    const { sink, accepts } = this.settings.sink;
    const { traits } = sink;
    const batch = await startBatch(this.deps.ledger, this.#lease, {
      lists: this.settings.lists,
      order: traits.order,
      size: this.held.breaker.batchSize,
      configuration: this.deps.configuration,
      onlyLatest: traits.revisions === 'latest',
      untriedFirst: this.#failingForMs > 0 || this.held.breaker.isRamping,
      accepts,
      decide: async (tx, candidates) => {
        await this.#countWithdrawals(tx, candidates);
        return candidates.map((candidate) => this.#decide(candidate));
      },
    });
    this.held.result.withheld += batch.withheld;
    if (batch.sending.length === 0) return batch.empty ? 'done' : 'more';
    const planned = await sink.plan(await this.#subjects(batch.sending));
    const { workspace, pigeonholeId: pigeonhole } = this.work;
    const attributes = { sink: this.settings.sink.name, workspace, pigeonhole, changes: batch.sending.length };
    const settlements = await this.deps.tracer.span('send', attributes, () =>
      sendPlanned(sink, planned, 'send', this.#leasedLane),
    );
    return await this.#commit(batch.sending, settlements, { unwritten: batch.unwritten });
  }

  async #commit(
    changes: readonly InFlightChange[],
    { settlements, memory }: Settlements,
    { unwritten, isRecovery = false }: { readonly unwritten?: Batch['unwritten']; readonly isRecovery?: boolean },
  ): Promise<LaneState> {
    const { breaker, result } = this.held;
    const answered = changes.map(({ candidate }, index) => ({ candidate, outcome: settlements[index]! }));
    const { order, repeats } = this.settings.sink.sink.traits;
    const needsLookUp = repeats === 'lookUp';
    const fromLookUp = needsLookUp && isRecovery;
    const recordsAtFault = await this.#recordsAreAtFault();
    const fewLeft = await this.#isFewLeft(answered, unwritten);
    const holdsAll = order === 'pigeonhole';
    const lane = {
      failingForMs: this.#failingForMs,
      recordsAtFault,
      fewLeft,
      holdsAll,
      needsLookUp,
      fromLookUp,
    };
    const verdict = settleOutcomes(answered, lane, Math.random());
    if (memory !== undefined) this.#lane = { ...this.#lane, memory: { ...this.#lane.memory, ...memory } };
    await finishBatch(this.deps.ledger, this.#lease, verdict.settled, {
      memory: memory === undefined ? undefined : this.#lane.memory,
      failing: verdict.failing,
      onlyLatest: this.settings.sink.sink.traits.revisions === 'latest',
      delivered: verdict.delivered,
      recent: this.#withRecent(answered, verdict.settled),
      unwritten,
    });
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

  /** Returns the lane's recent decisions with these added; undefined if unchanged. */
  #withRecent(answered: readonly { readonly candidate: Candidate }[], settled: readonly Settled[]): string | undefined {
    const decided = settled.map(({ sequence, replay, state, reason }, index) => ({
      list: answered[index]!.candidate.list,
      sequence,
      replay,
      state,
      reason,
    }));
    const after = addDecisions(this.recent, decided);
    if (after === this.recent) return undefined;
    this.recent = after;
    return JSON.stringify(after);
  }

  /**
   * Returns true if the records are at fault and not the sink. Either the lane fails and has few open deliveries while
   * other lanes pass, or it has failed for days (`blameRecordsAfterMs`) and the whole sink has few open deliveries.
   */
  async #recordsAreAtFault(): Promise<boolean> {
    const { otherLanesDeliver } = this.work;
    if (this.#failingForMs === 0 || (!otherLanesDeliver && this.#failingForMs < blameRecordsAfterMs)) return false;
    const { sinkId, ref } = this.#lease;
    return await hasFewOpen(this.deps.ledger, { sinkId, ref: otherLanesDeliver ? ref : null }, fewRecords);
  }

  /**
   * Returns true if the sink has accepted changes before and few deliveries are open across all its lanes. Reads the
   * ledger only if the batch had a rejection and no success.
   * @param batch the batch in flight; its deliveries are not written yet, so they are subtracted from the limit
   */
  async #isFewLeft(answered: readonly { readonly outcome: Settlement }[], batch: Batch['unwritten']): Promise<boolean> {
    const kinds = new Set(answered.map(({ outcome }) => outcome.kind));
    if (!kinds.has('rejected') || kinds.has('delivered')) return false;
    if (!this.work.hasDelivered && this.held.result.delivered === 0) return false;
    const { sinkId } = this.#lease;
    return await hasFewOpen(this.deps.ledger, { sinkId, ref: null }, fewRecords - (batch?.sent.length ?? 0));
  }

  /** Logs deliveries, and the start of a failure: an outage must not log one line per attempt. */
  #report({ delivered, failing, settled }: ReturnType<typeof settleOutcomes>): void {
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
