import { recoverSent } from '../../../delivering/recover-batch.js';
import type { Settlement } from '../../../delivering/send-batch.js';
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
      this.#keep(subject, outcome);
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
    this.#left = this.#left.slice(subjects.length);
    if (this.#sink.recover === undefined) this.#left = [...subjects, ...this.#left];
    else this.#doubtful = subjects;
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

  /**
   * Forgets the person of these items, as an erasure does: the ledger has no data of them any more, so what is not settled
   * is looked up without data, and each item is removed.
   * @returns how the removal of each item ended
   * @throws if items are left after many rounds
   */
  async forget(subjects: readonly Subject[]): Promise<Settlement[]> {
    const ended = new Map<Subject, Settlement>();
    let doubtful = this.#doubtful.map(toRemoval);
    this.#doubtful = [];
    this.#left = [];
    for (let rounds = 40; doubtful.length > 0; rounds -= 1) {
      if (rounds === 0) throw new Error(`${doubtful.length} are still not looked up`);
      const known = doubtful.map((subject) => this.#known(subject));
      const { settlements, memory } = await recoverSent(this.#sink, known, this.#held);
      Object.assign(this.#memory, memory);
      settlements.forEach((settlement, index) => this.#keep(doubtful[index]!, settlement));
      doubtful = doubtful.filter((_, index) => ['unknown', 'retry'].includes(settlements[index]!.kind));
    }
    for (let rounds = 40; ended.size < subjects.length; rounds -= 1) {
      if (rounds === 0) throw new Error(`${subjects.length - ended.size} are still not removed`);
      const due = subjects.filter((subject) => !ended.has(subject)).slice(0, this.#sink.traits.batchSize);
      const planned = await this.#sink.plan(due.map((subject) => this.#known(toRemoval(subject))));
      const sent = due.filter((subject, index) => {
        const plan = planned[index]!;
        if (plan.kind !== 'send') ended.set(subject, plan);
        return plan.kind === 'send';
      });
      const operations = planned.flatMap((plan) => (plan.kind === 'send' ? [plan.operation] : []));
      if (operations.length === 0) continue;
      const { outcomes, memory } = await this.#sink.send(operations, this.#lane, new AbortController().signal);
      Object.assign(this.#memory, memory);
      for (const [index, outcome] of outcomes.entries()) {
        this.#keep(sent[index]!, outcome);
        if (['delivered', 'rejected'].includes(outcome.kind)) ended.set(sent[index]!, outcome);
      }
    }
    return subjects.map((subject) => ended.get(subject)!);
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

  get #held(): Parameters<typeof recoverSent>[2] {
    const confirm = () => undefined; // the lease was confirmed recently
    return { lane: this.#lane, signal: new AbortController().signal, confirm, isFailing: false };
  }

  #known(subject: Subject): Subject {
    return { ...subject, object: this.#objects.get(itemOf(subject)) ?? null };
  }

  #keep(subject: Subject, settlement: Settlement): void {
    if ('object' in settlement && settlement.object !== undefined) {
      this.#objects.set(itemOf(subject), settlement.object);
    }
  }

  #next(): readonly Subject[] {
    const { batchSize } = this.#sink.traits;
    return (this.#doubtful.length > 0 ? this.#doubtful : this.#left).slice(0, batchSize);
  }

  /** @throws if one of them would not be sent */
  async #plan(subjects: readonly Subject[]): Promise<Operation[]> {
    const planned = await this.#sink.plan(subjects.map((subject) => this.#known(subject)));
    return planned.map((each) => {
      if (each.kind !== 'send') throw new Error(`nothing is sent: ${JSON.stringify(each)}`);
      return each.operation;
    });
  }
}

/** Returns the item of a subject as the ledger has it after its person was erased. */
function toRemoval({ change, session, pigeonhole, object }: Subject): Subject {
  const type = `${change.list}.deleted` as const;
  const gone = {
    ...change,
    id: `${change.id} erased`,
    type,
    revision: change.revision + 1,
    data: null,
  };
  return { change: gone, previous: null, attendee: null, session, pigeonhole, object, removal: 'erased' };
}

function itemOf({ change }: Subject): string {
  return `${change.list} ${change.key}`;
}
