import type { Change } from '../../../sinks/change.js';
import { operationsFor } from '../../../sinks/plan-of.test-kit.js';
import type { Lane, Operation, Outcome, SendResult, Sink } from '../../../sinks/sink.js';

/** A change that a destination received. */
export interface Received {
  readonly change: Change;
  /** The bytes of the request, or a hash of them. */
  readonly bytes: string;
}

/** A destination for one test, with a sink that sends to it on the lane acme / 101. */
export interface Destination {
  readonly sink: Sink;
  /** Returns everything that arrived, oldest first within an item. */
  received(): Promise<Received[]>;
  /** Texts that must not appear in any outcome. */
  readonly secrets: readonly string[];
  close(): Promise<void>;
}

/** A failure of a destination that lasts from `begin` to `repair`. */
export interface Fault<D extends Destination> {
  readonly name: string;
  begin(destination: D): Promise<void>;
  repair(destination: D): Promise<void>;
}

/** A minimal delivery engine: keeps unsettled operations and the memory of the lane. */
export class Courier {
  #unsettled: Operation[] = [];
  #planned: Promise<void>;
  #memory: Record<string, unknown> = {};
  #mustLookUp = false;

  constructor(
    private readonly sink: Sink,
    changes: readonly Change[],
  ) {
    this.#planned = this.plan(changes);
  }

  add(changes: readonly Change[]): void {
    this.#planned = this.#planned.then(() => this.plan(changes));
  }

  get lane(): Lane {
    return {
      workspace: 'acme',
      pigeonholeId: 101,
      ledgerId: 'ledger-1',
      memory: { ...this.#memory },
      remember: (memory) => Promise.resolve(void Object.assign(this.#memory, memory)),
    };
  }

  get isDone(): boolean {
    return this.#unsettled.length === 0;
  }

  /** Sends the next batch of unsettled operations and commits the result. */
  async sendOnce(signal: AbortSignal = new AbortController().signal): Promise<readonly Outcome[]> {
    await this.#planned;
    if (this.#mustLookUp) this.commit(await this.sink.recover!(this.batch(), this.lane, signal));
    return this.commit(await this.sink.send(this.batch(), this.lane, signal));
  }

  /** Sends and dies before anything is committed. The next holder of the lane calls `recover` first if the sink needs it. */
  async sendAndDie(signal: AbortSignal = new AbortController().signal): Promise<void> {
    await this.#planned;
    await this.sink.send(this.batch(), this.lane, signal);
    this.#mustLookUp = this.sink.traits.repeats === 'lookUp';
  }

  /** Sends until everything is delivered. @throws if operations are left after as many rounds as operations */
  async sendAll(): Promise<void> {
    await this.#planned;
    for (let rounds = this.#unsettled.length + 1; !this.isDone; rounds -= 1) {
      if (rounds === 0) throw new Error(`${this.#unsettled.length} operations are still not delivered`);
      await this.sendOnce();
    }
  }

  /** Returns the next batch, after planning has finished. */
  async nextBatch(): Promise<Operation[]> {
    await this.#planned;
    return this.batch();
  }

  private batch(): Operation[] {
    return this.#unsettled.slice(0, this.sink.traits.batchSize);
  }

  private async plan(changes: readonly Change[]): Promise<void> {
    this.#unsettled.push(...(await operationsFor(this.sink, changes)));
  }

  private commit({ outcomes, memory }: SendResult): readonly Outcome[] {
    this.#mustLookUp = outcomes.some(({ kind }) => kind === 'unknown');
    Object.assign(this.#memory, memory);
    const settled = (position: number): boolean => ['delivered', 'rejected'].includes(outcomes[position]?.kind ?? '');
    this.#unsettled.splice(0, outcomes.length, ...this.batch().filter((_, position) => !settled(position)));
    return outcomes;
  }
}
