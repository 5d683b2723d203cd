import type { Change } from '../../../sinks/change.js';
import { operationsFor } from '../../../sinks/plan-of.test-kit.js';
import type { Lane, Operation, Outcome, SendResult, Sink } from '../../../sinks/sink.js';

/** What stands at a destination for one call. */
export interface Received {
  readonly change: Change;
  /** The bytes of the call, or a hash of them. */
  readonly bytes: string;
}

/** A destination of its own for one test, with a sink that sends there on the lane acme / 101. */
export interface Destination {
  readonly sink: Sink;
  /** Everything that arrived, oldest first within an item. */
  received(): Promise<Received[]>;
  /** Texts that must stand in no outcome. */
  readonly secrets: readonly string[];
  close(): Promise<void>;
}

/** A way in which a destination fails, until it is mended. */
export interface Fault<D extends Destination> {
  readonly name: string;
  begin(destination: D): Promise<void>;
  mend(destination: D): Promise<void>;
}

/** The bookkeeping of the delivery engine in small: what is settled, and what the lane remembers. */
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

  /** Sends the next batch of what is not settled and commits what came back. */
  async sendOnce(signal: AbortSignal = new AbortController().signal): Promise<readonly Outcome[]> {
    await this.#planned;
    if (this.#mustLookUp) this.commit(await this.sink.recover!(this.batch(), this.lane, signal));
    return this.commit(await this.sink.send(this.batch(), this.lane, signal));
  }

  /** Sends and dies before anything is committed; the next holder of the lane looks first where it has to. */
  async sendAndDie(signal: AbortSignal = new AbortController().signal): Promise<void> {
    await this.#planned;
    await this.sink.send(this.batch(), this.lane, signal);
    this.#mustLookUp = this.sink.traits.repeats === 'lookUp';
  }

  /** Sends until all is delivered. @throws when something is still left after as many rounds as there are operations */
  async sendAll(): Promise<void> {
    await this.#planned;
    for (let rounds = this.#unsettled.length + 1; !this.isDone; rounds -= 1) {
      if (rounds === 0) throw new Error(`${this.#unsettled.length} operations are still not delivered`);
      await this.sendOnce();
    }
  }

  /** What would be sent next; once it is planned. */
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
