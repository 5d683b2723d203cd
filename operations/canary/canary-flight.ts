import type { Collaborators, OpenSink } from '../../work/collaborators.js';
import { saysNothingThere } from '../../delivering/erase-from-lane.js';
import { LeaseWatch } from '../../base/lease-watch.js';
import {
  recoverSent,
  type LeasedLane,
  sendPlanned,
  type Settlement,
  type Settlements,
} from '../../delivering/send-batch.js';
import { type Canary, type CanaryClaim, noteCanary } from '../../delivering/canaries.js';
import type { Lane, Subject } from '../../sinks/sink.js';
import { whileHeld } from '../../sinks/while-held.js';
import { type CanaryFacts, keyOf, placeOf, sentSubject, withdrawnSubject } from './invented-item.js';

/** A step may take so long; what is not done by then is left for later. */
const stepMs = 60_000;
/** A step and its commit end well before another process may take over. */
export const canaryLeaseMs = 3 * stepMs;
/** After this time it is no longer tried to take one back: a person has to look. */
const giveUpAfterMs = 24 * 60 * 60_000;
const noTurn = 'it got no turn in its time';

/**
 * Sends one canary through one sink and withdraws it. Every step is stored before the next, so that another process can
 * continue where this one ended. It repeats a step whose outcome is unknown.
 */
export class CanaryFlight {
  readonly #to: Pick<Collaborators, 'ledger' | 'stopping'>;
  readonly #sink: OpenSink;
  readonly #facts: CanaryFacts;
  readonly #claim: CanaryClaim;
  #canary: Canary;
  readonly #watch: LeaseWatch;

  constructor(
    to: Pick<Collaborators, 'ledger' | 'stopping' | 'owner' | 'clocks'>,
    sink: OpenSink,
    facts: CanaryFacts,
    canary: Canary,
  ) {
    this.#to = to;
    this.#sink = sink;
    this.#facts = facts;
    this.#canary = canary;
    this.#claim = { owner: to.owner, leaseMs: canaryLeaseMs };
    this.#watch = new LeaseWatch(() => this.#note({}), to.clocks);
  }

  /** Sends it: what the sink's answer means. */
  async send(): Promise<Settlement> {
    const sent = await this.#attempt(sentSubject(this.#canary, this.#facts));
    const { kind } = sent;
    const detail = 'detail' in sent ? (sent.detail ?? null) : null;
    // A refusal left nothing there, unless a part of it was made before; what has no answer may stand there.
    const mayStand = kind === 'delivered' || (this.#hasTraces && kind !== 'retry' && kind !== 'unknown');
    const isOpen = kind === 'retry' || kind === 'unknown';
    await this.#note({ state: isOpen ? 'sending' : mayStand ? 'standing' : 'settled', detail });
    return sent;
  }

  /** Takes it back. Safe to run again, also after an attempt that died. */
  async withdraw(): Promise<Withdrawal> {
    if (this.#canary.state === 'settled') return { kind: 'none' };
    if (this.#canary.state === 'sending') {
      const unclear = await this.#lookUp();
      if (unclear !== undefined) return await this.#close(unclear);
    }
    const withdrawal = this.#sink.sink.erase === undefined ? await this.#takeBack() : await this.#erase();
    return await this.#close(withdrawal);
  }

  /** Looks up an attempt whose answer was lost. @returns the reason why its outcome is unknown; undefined: it is known */
  async #lookUp(): Promise<Withdrawal | undefined> {
    const { sink } = this.#sink;
    const subject = sentSubject(this.#canary, this.#facts);
    const found = await this.#noted(await recoverSent(sink, [subject], this.#held()));
    switch (found.kind) {
      case 'unsent': {
        if (sink.traits.canary?.foundBySending !== true || this.#canary.object !== null) break;
        const unclear = stillUnclear(await this.#attempt(subject));
        if (unclear !== undefined) return unclear;
        break;
      }
      case 'rejected':
        return { kind: 'left', detail: found.detail };
      case 'retry':
      case 'unknown':
      case 'pause':
        return { kind: 'waiting', detail: found.detail };
    }
    await this.#note({ state: 'standing' });
    return undefined;
  }

  async #takeBack(): Promise<Withdrawal> {
    let settled = await this.#attempt(withdrawnSubject(this.#canary, this.#facts));
    if (settled.kind === 'unsent' && settled.object !== undefined) {
      settled = await this.#attempt(withdrawnSubject(this.#canary, this.#facts)); // the object in the sink was found only now
    }
    switch (settled.kind) {
      case 'delivered':
        return { kind: 'withdrawn', detail: settled.detail ?? null };
      case 'nothing':
        return saysNothingThere(settled.reason) ? { kind: 'none' } : { kind: 'left', detail: settled.reason };
      case 'rejected':
      case 'unplannable':
        return { kind: 'left', detail: settled.detail };
      case 'unsent':
        return { kind: 'waiting', detail: noTurn };
      case 'retry':
      case 'unknown':
      case 'pause':
        return { kind: 'waiting', detail: settled.detail };
    }
  }

  async #attempt(subject: Subject): Promise<Settlement> {
    const { sink } = this.#sink;
    const planned = await sink.plan([subject]);
    return await this.#noted(await sendPlanned(sink, planned, 'send', this.#held()));
  }

  async #erase(): Promise<Withdrawal> {
    const erased = {
      keys: new Map([[this.#canary.list, new Set([keyOf(this.#canary)])]]),
      questions: new Set<number>(),
    };
    const { lane, signal, confirm } = this.#held();
    const result = await whileHeld(confirm, () => this.#sink.sink.erase!(erased, lane, signal));
    if (result.kind !== 'erased') return { kind: 'waiting', detail: result.detail };
    if (result.missing > 0) return { kind: 'left', detail: 'its file is not where it was written' };
    return result.count === 0 ? { kind: 'none' } : { kind: 'withdrawn', detail: `${result.count} line erased` };
  }

  async #close(withdrawal: Withdrawal): Promise<Withdrawal> {
    if (withdrawal.kind !== 'waiting') {
      const isLeft = withdrawal.kind === 'left';
      await this.#note({ state: isLeft ? 'left' : 'settled', detail: isLeft ? withdrawal.detail : null });
      return withdrawal;
    }
    const { detail } = withdrawal;
    if (this.#to.ledger.clock.nowMs() - this.#canary.begunAt.getTime() > giveUpAfterMs) {
      await this.#note({ state: 'left', detail });
      return { kind: 'left', detail };
    }
    await this.#note({ detail });
    return withdrawal;
  }

  get #hasTraces(): boolean {
    const { object, memory } = this.#canary;
    return object !== null || Object.values(memory).some((value) => value != null);
  }

  #signal(): AbortSignal {
    return AbortSignal.any([AbortSignal.timeout(stepMs), this.#to.stopping]);
  }

  /** Another process takes it over when its lease has run out: each call is made only while that is certainly not so. */
  #held(): LeasedLane {
    return { lane: this.#lane(), signal: this.#signal(), confirm: () => this.#watch.confirm() };
  }

  /** A lane of its own: the sink's real ones know nothing of it. */
  #lane(): Lane {
    const { workspace, pigeonholeId } = placeOf(this.#canary, this.#facts);
    const memoryNow = (): Lane['memory'] => this.#canary.memory;
    return {
      workspace,
      pigeonholeId,
      ledgerId: this.#to.ledger.id,
      get memory() {
        return memoryNow();
      },
      remember: async (memory) => await this.#note({ memory: { ...this.#canary.memory, ...memory } }),
    };
  }

  /** The one settlement, with what the sink has made and wants remembered taken up. Committed with the next note. */
  async #noted({ settlements, memory }: Settlements): Promise<Settlement> {
    const settlement = settlements[0]!;
    const object = 'object' in settlement && settlement.object !== undefined ? settlement.object : this.#canary.object;
    await this.#note({ object, memory: { ...this.#canary.memory, ...memory } });
    return settlement;
  }

  async #note(more: Partial<Pick<Canary, 'state' | 'object' | 'memory' | 'detail'>>): Promise<void> {
    this.#canary = { ...this.#canary, ...more };
    await noteCanary(this.#to.ledger, this.#canary, this.#claim);
  }
}

/** After it was sent again, to find what the first attempt has made: undefined where that is clear now. */
function stillUnclear(sent: Settlement): Withdrawal | undefined {
  switch (sent.kind) {
    case 'retry':
    case 'unknown':
    case 'pause':
      return { kind: 'waiting', detail: sent.detail };
    case 'unsent':
      return { kind: 'waiting', detail: noTurn };
    default:
      return undefined;
  }
}

/** Result of a withdrawal. `none`: nothing was written; `waiting`: it is retried; `left`: an operator has to remove it. */
export type Withdrawal =
  | { readonly kind: 'none' }
  | { readonly kind: 'withdrawn'; readonly detail: string | null }
  | { readonly kind: 'waiting' | 'left'; readonly detail: string };
