import { adoptConfiguration } from '../ledger/queries/adopt-configuration.js';
import { beginBatch, inFlight } from '../ledger/queries/begin-batch.js';
import type { Candidate } from '../ledger/queries/candidates.js';
import { finishBatch } from '../ledger/queries/finish-batch.js';
import { type LaneLease, type LaneWork, leaveLane, releaseLane, takeLane } from '../ledger/queries/lanes.js';
import { pause } from '../ledger/queries/pauses.js';
import type { Lane, Outcome, SendResult } from '../sinks/sink.js';
import type { Collaborators, OpenSink } from './collaborators.js';
import { consentReason, decideDelivery } from './decide-delivery.js';
import { LaneHold, leaseMs } from './lane-hold.js';
import { settleOutcomes } from './settle-outcomes.js';
import { toChange } from './to-change.js';
import type { PigeonholeName } from './turns.js';

/** An operation may show at its destination only some time after it was sent. */
const lookUpAfterMs = 60_000;

export interface LaneTurn {
  delivered: number;
  withheld: number;
  failed: number;
  /** The sink is paused: nothing would pass on its other lanes either. */
  paused: boolean;
}

export interface LanePlan {
  readonly sink: OpenSink;
  readonly place: PigeonholeName;
  readonly lists: readonly string[];
  readonly selected: ReadonlySet<string>;
}

/**
 * Sends on one lane until it is empty, fails, or the turn is over. Safe to run twice, also at once: the lane has one
 * holder, what is being sent is committed before it is sent, and a new holder first settles what an old one left.
 * @param until epoch ms after which no further batch is begun
 */
export async function deliverLane(
  to: Collaborators,
  plan: LanePlan,
  work: LaneWork,
  until: number,
  signal: AbortSignal,
): Promise<LaneTurn> {
  const turn: LaneTurn = { delivered: 0, withheld: 0, failed: 0, paused: false };
  const { sink } = plan;
  const lease = await takeLane(to.ledger, { sinkId: sink.id, ref: work.ref, owner: to.owner, leaseMs });
  if (lease === undefined) return turn;
  const hold = new LaneHold(to.ledger, lease);
  try {
    const ends = AbortSignal.any([signal, hold.signal]);
    const mayBegin = (): boolean => Date.now() < until && !to.stopping.aborted && !ends.aborted;
    const sender = new LaneSender(to, plan, work, lease, ends, turn);
    let state = lease.takenOver ? await sender.settleInFlight() : 'more';
    if (lease.configuration !== to.configuration) {
      const released = [...sink.accepts].map(consentReason);
      await adoptConfiguration(to.ledger, lease, { configuration: to.configuration, lists: plan.lists, released });
    }
    while (state === 'more' && mayBegin()) state = await sender.sendNext();
    if (state === 'unsettled') await leaveLane(to.ledger, lease, lookUpAfterMs);
    else await releaseLane(to.ledger, lease, sink.sink.traits.order);
  } finally {
    hold.end();
  }
  return turn;
}

/** `unsettled`: something may or may not have been sent, and has to be looked up before anything else goes out. */
type LaneState = 'more' | 'done' | 'unsettled';

class LaneSender {
  readonly #to: Collaborators;
  readonly #plan: LanePlan;
  readonly #work: LaneWork;
  readonly #lease: LaneLease;
  readonly #signal: AbortSignal;
  readonly #turn: LaneTurn;
  #lane: Lane;
  #failingForMs: number;

  constructor(
    to: Collaborators,
    plan: LanePlan,
    work: LaneWork,
    lease: LaneLease,
    signal: AbortSignal,
    turn: LaneTurn,
  ) {
    this.#to = to;
    this.#plan = plan;
    this.#work = work;
    this.#lease = lease;
    this.#signal = signal;
    this.#turn = turn;
    this.#failingForMs = lease.failingForMs;
    this.#lane = {
      workspace: work.workspace,
      pigeonholeId: work.pigeonholeId,
      ledgerId: to.ledger.id,
      memory: lease.memory,
    };
  }

  /**
   * The holder before ended with operations on their way. A sink that can tell what became of them is asked first;
   * for others a repeat is harmless.
   */
  async settleInFlight(): Promise<LaneState> {
    const candidates = await inFlight(this.#to.ledger, this.#lease);
    const { sink } = this.#plan.sink;
    if (sink.recover === undefined) {
      return await this.#commit(candidates, { outcomes: candidates.map(() => ({ kind: 'unsent' })) });
    }
    const operations = sink.plan(candidates.map((each) => toChange(each, each.identity, this.#work)));
    return await this.#commit(candidates, await sink.recover(operations, this.#lane, this.#signal));
  }

  async sendNext(): Promise<LaneState> {
    const { sink, accepts } = this.#plan.sink;
    const { traits } = sink;
    const batch = await beginBatch(this.#to.ledger, this.#lease, {
      lists: this.#plan.lists,
      order: traits.order,
      size: traits.batchSize,
      configuration: this.#to.configuration,
      decide: (candidate) =>
        decideDelivery(candidate, { accepts, revisions: traits.revisions, selected: this.#plan.selected }),
    });
    this.#turn.withheld += batch.withheld;
    if (batch.sending.length === 0) return batch.empty ? 'done' : 'more';
    const operations = sink.plan(
      batch.sending.map(({ candidate, identity }) => toChange(candidate, identity, this.#work)),
    );
    const result = await sink.send(operations, this.#lane, this.#signal);
    return await this.#commit(
      batch.sending.map(({ candidate }) => candidate),
      result,
    );
  }

  async #commit(candidates: readonly Candidate[], result: SendResult): Promise<LaneState> {
    const sent = candidates.map((candidate, index) => ({
      candidate,
      outcome: result.outcomes[index] ?? ({ kind: 'unknown', detail: 'the sink gave no outcome' } satisfies Outcome),
    }));
    const { order, repeats } = this.#plan.sink.sink.traits;
    const lane = { failingForMs: this.#failingForMs, holdsAll: order === 'pigeonhole', lookUp: repeats === 'lookUp' };
    const verdict = settleOutcomes(sent, lane, Math.random());
    if (result.memory !== undefined) {
      this.#lane = { ...this.#lane, memory: { ...this.#lane.memory, ...result.memory } };
    }
    await finishBatch(this.#to.ledger, this.#lease, verdict.settled, {
      memory: result.memory === undefined ? undefined : this.#lane.memory,
      failing: verdict.failing,
      delivered: verdict.settled.filter(({ state, replay }) => state === 'delivered' && replay === 0).length,
    });
    this.#turn.delivered += verdict.delivered;
    this.#turn.failed += sent.length - verdict.delivered;
    this.#report(verdict);
    if (verdict.pause !== null) {
      this.#turn.paused = true;
      await this.#pause(verdict.pause);
    }
    if (verdict.failing === null) this.#failingForMs = 0;
    if (verdict.settled.some(({ state }) => state === 'sending')) return 'unsettled';
    return verdict.failing == null && verdict.pause === null ? 'more' : 'done';
  }

  /** One line when something passed, and one when it stops passing: an outage is not a line per try. */
  #report({ delivered, failing, settled }: ReturnType<typeof settleOutcomes>): void {
    const { workspace, pigeonholeId } = this.#work;
    const line = { sink: this.#plan.sink.name, workspace, pigeonhole: pigeonholeId };
    const dead = settled.filter(({ state }) => state === 'dead').length;
    const retry = settled.filter(({ state }) => state === 'retry').length;
    if (delivered > 0 || dead > 0) this.#to.log.info({ ...line, delivered, retry, dead }, 'changes delivered');
    if (failing != null && this.#failingForMs === 0) {
      this.#to.log.warn({ ...line, detail: failing.detail, retryInMs: failing.retryInMs }, 'sink takes nothing');
    }
  }

  async #pause({ cause, detail }: Extract<Outcome, { kind: 'pause' }>): Promise<void> {
    const { name, fingerprint } = this.#plan.sink;
    await pause(this.#to.ledger, { scope: 'sink', name, pausedBy: 'cause', cause, detail, fingerprint });
    this.#to.log.error({ sink: name, cause, detail }, 'sink paused');
  }
}
