import type { Fields, Lane, Operation, Outcome, Sink, Subject } from '../../../sinks/sink.js';

/** A destination for one test of a sink that sends the latest revision of each item. */
export interface StateDestination {
  /** Opens a sink as a process does. Called again after a crash. */
  open(): Sink;
  /** Returns the objects in the destination for comparison, duplicates included. */
  state(): unknown;
  /** Returns the number of requests so far. */
  requests(): number;
  /** Makes one request fail in this way: the first possible one from this number on. The next request has number 0. */
  fail(how: 'answer-lost' | 'never-arrives' | 'error-after', requestNumber: number): void;
  /** Makes the destination refuse every request this way until `repair`. */
  begin(refusal: 'auth' | 'overload' | 'outage' | 'cut'): void;
  repair(): void;
  /** Texts that must not appear in any outcome. */
  readonly secrets: readonly string[];
  close(): Promise<void>;
}

/** A minimal delivery engine: keeps unsettled operations, the object of each item, and the memory of the lane. */
export class StateCourier {
  readonly #objects = new Map<string, Fields | null>();
  readonly #memory: Record<string, unknown> = {};
  #left: readonly Subject[] = [];
  /** Subjects that may have been sent, which are looked up first. */
  #doubtful: readonly Subject[] = [];
  #sink: Sink;

  constructor(private readonly destination: StateDestination) {
    this.#sink = destination.open();
  }

  add(subjects: readonly Subject[]): void {
    this.#left = [...this.#left, ...subjects];
  }

  get isDone(): boolean {
    return this.#left.length + this.#doubtful.length === 0;
  }

  /** Sends one batch of the remaining subjects, doubtful ones first. */
  async sendOnce(signal = new AbortController().signal): Promise<readonly Outcome[]> {
    const looksUp = this.#doubtful.length > 0;
    const subjects = this.#next();
    const operations = await this.#plan(subjects);
    const { outcomes, memory } = looksUp
      ? await this.#sink.recover!(operations, this.#lane, signal)
      : await this.#sink.send(operations, this.#lane, signal);
    Object.assign(this.#memory, memory);
    const open = subjects.filter((subject, at) => {
      const outcome = outcomes[at]!;
      if (outcome.object !== undefined) this.#objects.set(itemOf(subject), outcome.object);
      return !['delivered', 'rejected'].includes(outcome.kind);
    });
    const unknown = open.filter((subject) => outcomes[subjects.indexOf(subject)]!.kind === 'unknown');
    const rest = (looksUp ? this.#doubtful : this.#left).slice(subjects.length);
    if (looksUp) {
      this.#doubtful = [...unknown, ...rest];
      this.#left = [...open.filter((subject) => !unknown.includes(subject)), ...this.#left];
    } else {
      this.#doubtful = [...this.#doubtful, ...unknown];
      this.#left = [...open.filter((subject) => !unknown.includes(subject)), ...rest];
    }
    return outcomes;
  }

  /** Sends and dies before anything is committed. The next call acts as a new process. */
  async sendAndDie(signal = new AbortController().signal): Promise<void> {
    const subjects = this.#next();
    await this.#sink.send(await this.#plan(subjects), this.#lane, signal);
    if (this.#sink.traits.repeats === 'lookUp') {
      this.#left = this.#left.slice(subjects.length);
      this.#doubtful = subjects;
    }
    await this.#sink.close();
    this.#sink = this.destination.open();
  }

  /** @throws if subjects are left after many rounds */
  async sendAll(): Promise<void> {
    for (let rounds = 40; !this.isDone; rounds -= 1) {
      if (rounds === 0) throw new Error(`${this.#left.length + this.#doubtful.length} are still not delivered`);
      await this.sendOnce();
    }
  }

  async check(): Promise<readonly { readonly ok: boolean; readonly text: string }[]> {
    return await this.#sink.check(new AbortController().signal);
  }

  async close(): Promise<void> {
    await this.#sink.close();
  }

  get #lane(): Lane {
    return {
      workspace: 'acme',
      pigeonholeId: 101,
      ledgerId: 'ledger-1',
      memory: { ...this.#memory },
      remember: (memory) => Promise.resolve(void Object.assign(this.#memory, memory)),
    };
  }

  #next(): readonly Subject[] {
    const { batchSize } = this.#sink.traits;
    return (this.#doubtful.length > 0 ? this.#doubtful : this.#left).slice(0, batchSize);
  }

  /** @throws if one of them would not be sent */
  async #plan(subjects: readonly Subject[]): Promise<Operation[]> {
    const known = subjects.map((subject) => ({ ...subject, object: this.#objects.get(itemOf(subject)) ?? null }));
    const planned = await this.#sink.plan(known);
    return planned.map((each) => {
      if (each.kind !== 'send') throw new Error(`nothing is sent: ${JSON.stringify(each)}`);
      return each.operation;
    });
  }
}

function itemOf({ change }: Subject): string {
  return `${change.list} ${change.key}`;
}
