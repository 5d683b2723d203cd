import type { Change } from '../../../sinks/change.js';
import { subjectOf } from '../../../sinks/plan-of.test-kit.js';
import type { Fields, Lane, Operation, Outcome, Planned, SendResult, Sink, Subject } from '../../../sinks/sink.js';

/** An item as the minimal engine stores it. */
interface Item {
  subject: Subject;
  /** Whether the latest change is neither delivered nor given up. */
  open: boolean;
  object: Fields | null;
  /** The subject that was sent but not settled, and the time at which to look it up. */
  sent: { readonly subject: Subject; lookUpAtMs: number } | undefined;
  dueAtMs: number;
}

export interface StateCourierOptions {
  /** Opens a new sink after each kill. */
  readonly openSink: () => Sink;
  readonly clock: { now(): number };
  readonly lane?: Partial<Pick<Lane, 'workspace' | 'pigeonholeId'>>;
}

const lookUpAfterMs = 60_000;
const retryAfterMs = 5000;

/**
 * A minimal delivery engine for a sink that wants the latest revision of each item and looks up what it may have sent.
 * A kill loses the state of the process and keeps the store.
 */
export class StateCourier {
  readonly dead: { readonly key: string; readonly cause: string; readonly detail: string }[] = [];
  /** All outcomes of the sink. */
  readonly outcomes: Outcome[] = [];
  readonly nothings: string[] = [];
  paused: Extract<Outcome, { kind: 'pause' }> | undefined;
  #sink: Sink;
  #memory: Record<string, unknown> = {};
  #items = new Map<string, Item>();
  #epoch = 0;
  #isTakenOver = false;

  constructor(private readonly options: StateCourierOptions) {
    this.#sink = options.openSink();
  }

  get sink(): Sink {
    return this.#sink;
  }

  get memory(): Fields {
    return this.#memory;
  }

  object(list: string, key: string): Fields | null {
    return this.#items.get(`${list} ${key}`)?.object ?? null;
  }

  /** Stores an object, as a repair does before it sends the item again. */
  setObject(list: string, key: string, object: Fields | null): void {
    this.#items.get(`${list} ${key}`)!.object = object;
  }

  /** Adds a change. It replaces an earlier one that was not sent. */
  offer(change: Change, around: Partial<Subject> = {}): void {
    const name = `${change.list} ${change.key}`;
    const subject = subjectOf(change, around);
    const item = this.#items.get(name);
    if (item === undefined) {
      this.#items.set(name, { subject, open: true, object: null, sent: undefined, dueAtMs: 0 });
    } else {
      Object.assign(item, { subject, open: true });
      if (item.sent === undefined) item.dueAtMs = 0;
    }
  }

  get isDone(): boolean {
    return [...this.#items.values()].every(({ open, sent }) => !open && sent === undefined);
  }

  /** Simulates that the process dies: running work has no further effect, and another process takes over the lane. */
  kill(): void {
    this.#epoch += 1;
    this.#isTakenOver = true;
    const dying = this.#sink;
    this.#sink = this.options.openSink();
    for (const item of this.#items.values()) {
      if (item.sent !== undefined) item.sent.lookUpAtMs = this.options.clock.now() + lookUpAfterMs;
    }
    void dying.close().catch(() => undefined);
  }

  /** Performs one step, look-ups first. @returns whether there was anything to do */
  async step(signal: AbortSignal = new AbortController().signal): Promise<boolean> {
    if (this.paused !== undefined) return false;
    const now = this.options.clock.now();
    const size = this.#sink.traits.batchSize;
    const items = [...this.#items.values()];
    const lost = items.filter(({ sent }) => sent !== undefined && sent.lookUpAtMs <= now).slice(0, size);
    if (lost.length > 0 || this.#isTakenOver) {
      this.#isTakenOver = false;
      await this.#handOver(lost, 'recover', signal);
      return lost.length > 0;
    }
    const due = items.filter(({ open, sent, dueAtMs }) => open && sent === undefined && dueAtMs <= now).slice(0, size);
    for (const item of due) item.sent = { subject: item.subject, lookUpAtMs: Number.POSITIVE_INFINITY };
    if (due.length > 0) await this.#handOver(due, 'send', signal);
    return due.length > 0;
  }

  /** Performs steps until everything is settled. @throws if it is not within `withinMs` of its clock */
  async settle(withinMs: number, pass: (ms: number) => Promise<void>): Promise<void> {
    const until = this.options.clock.now() + withinMs;
    while (!this.isDone && this.paused === undefined) {
      if (this.options.clock.now() > until) throw new Error('not everything is settled in time');
      if (!(await this.step())) await pass(250);
    }
  }

  async #handOver(items: readonly Item[], how: 'send' | 'recover', signal: AbortSignal): Promise<void> {
    const epoch = this.#epoch;
    const subjects = items.map(({ sent, object }) => ({ ...sent!.subject, object }));
    const planned = await this.#sink.plan(subjects);
    const operations = planned.flatMap((each): Operation[] => (each.kind === 'send' ? [each.operation] : []));
    const result: SendResult =
      operations.length === 0 && how === 'send'
        ? { outcomes: [] }
        : await this.#sink[how]!(operations, this.#lane(epoch), signal);
    if (epoch !== this.#epoch) return; // killed in the meantime, so the result is lost
    this.#keep(result.memory ?? {});
    let next = 0;
    for (const [index, each] of planned.entries()) {
      this.#settle(items[index]!, each.kind === 'send' ? result.outcomes[next++]! : each);
    }
  }

  #lane(epoch: number): Lane {
    return {
      workspace: 'acme',
      pigeonholeId: 101,
      ...this.options.lane,
      ledgerId: 'ledger-1',
      memory: { ...this.#memory },
      remember: async (memory) => {
        if (epoch !== this.#epoch) throw new Error('the lane was taken over');
        this.#keep(memory);
      },
    };
  }

  /** Converts the memory through JSON, as the store does. */
  #keep(memory: Fields): void {
    this.#memory = JSON.parse(JSON.stringify({ ...this.#memory, ...memory })) as Record<string, unknown>;
  }

  #settle(item: Item, result: Outcome | Exclude<Planned, { kind: 'send' }>): void {
    const { sent } = item;
    const settled = (): void => {
      item.sent = undefined;
      item.open = item.subject !== sent!.subject;
      item.dueAtMs = 0;
    };
    const again = (inMs: number): void => {
      item.sent = undefined;
      // A later revision does not wait for the deferred one.
      item.dueAtMs = item.subject === sent!.subject ? this.options.clock.now() + inMs : 0;
    };
    if ('object' in result && result.object !== undefined) {
      item.object = JSON.parse(JSON.stringify(result.object)) as Fields | null;
    }
    if (result.kind !== 'nothing' && result.kind !== 'unplannable') this.outcomes.push(result);
    switch (result.kind) {
      case 'nothing':
        this.nothings.push(result.reason);
        return settled();
      case 'delivered':
        return settled();
      case 'unplannable':
      case 'rejected':
        this.dead.push({ key: item.subject.change.key, cause: result.cause, detail: result.detail });
        return settled();
      case 'retry':
        return again(Math.max(retryAfterMs, result.afterMs ?? 0));
      case 'unsent':
        return again(result.afterMs ?? 0);
      case 'pause':
        this.paused = result;
        return again(0);
      case 'unknown':
        sent!.lookUpAtMs = this.options.clock.now() + lookUpAfterMs;
    }
  }
}
