import { reasonOf } from '../../../sinks/all-reasons.js';
import type { Fields, HeldResult, Lane, Operation, Outcome, ReadBack, Sink, Subject } from '../../../sinks/sink.js';
import { laneOf } from '../../../sinks/sink-environment.test-kit.js';

/** The part of an item that an audit needs: its last delivered subject, and what the destination should have of it. */
export interface Delivered {
  readonly subject: Subject;
  readonly expected?: ReadBack['expected'];
}

const pauseMs = 5000;

/**
 * A minimal delivery and audit engine for a sink that sends the latest revision: delivers, reads back with `again`,
 * compares, and repairs what differs.
 */
export class Auditor {
  /** The object of each item, by list and key, as the ledger stores it. */
  readonly objects = new Map<string, Fields | null>();
  memory: Record<string, unknown> = {};

  constructor(
    private readonly sink: Sink,
    private readonly signal: AbortSignal = new AbortController().signal,
    /** Waits before a batch is sent again of which nothing was settled. */
    private readonly pass: (ms: number) => Promise<void> = () => Promise.resolve(),
  ) {}

  get lane(): Lane {
    return laneOf(this.memory);
  }

  /** Sends subjects in batches until each is delivered or rejected. @returns the causes of those that were rejected */
  async deliver(subjects: readonly Subject[]): Promise<string[]> {
    const causes: string[] = [];
    let left = [...subjects];
    for (let round = 0; left.length > 0; round += 1) {
      if (round > 2 * subjects.length + 10) throw new Error(`${left.length} subjects are still not settled`);
      const batch = left.slice(0, this.sink.traits.batchSize);
      const planned = await this.sink.plan(batch.map((subject) => this.#known(subject)));
      const sent = batch.flatMap((subject, at) => {
        const plan = planned[at]!;
        return plan.kind === 'send' ? [{ subject, operation: plan.operation }] : [];
      });
      const operations = sent.map(({ operation }) => operation);
      const result = await this.sink.send(operations, this.lane, this.signal);
      Object.assign(this.memory, result.memory);
      const open = sent.filter(({ subject }, at) => this.#settle(subject, result.outcomes[at]!, causes));
      left = [...open.map(({ subject }) => subject), ...left.slice(batch.length)];
      if (open.length === batch.length) await this.pass(pauseMs);
    }
    return causes;
  }

  /** Returns the results of reading these items back, in the same order. */
  async readBack(items: readonly Delivered[]): Promise<{ entry: ReadBack; result: HeldResult }[]> {
    const found: { entry: ReadBack; result: HeldResult }[] = [];
    const { batchSize } = this.sink.traits;
    for (let at = 0; at < items.length; at += batchSize) {
      const slice = items.slice(at, at + batchSize);
      const again = slice.map(({ subject }): Subject => ({ ...this.#known(subject), again: true }));
      const planned = await this.sink.plan(again);
      const entries = again.flatMap(({ change, object, removal }, index): ReadBack[] => {
        const plan = planned[index]!;
        const operation: Operation | null = plan.kind === 'send' ? plan.operation : null;
        const isLeft = removal !== null && object !== null && plan.kind === 'nothing';
        const isByHand = isLeft && reasonOf(plan.reason)?.help !== undefined;
        if (plan.kind === 'nothing' && !isByHand) return []; // nothing to compare
        const { expected = removal === null ? 'content' : 'absence' } = slice[index]!;
        return [{ change, expected, operation, object, removal }];
      });
      const results = await this.sink.readBack!(entries, this.lane, this.signal);
      expect(results).toHaveLength(entries.length);
      found.push(...entries.map((entry, index) => ({ entry, result: results[index]! })));
    }
    return found;
  }

  /** Returns how the items differ, by key. Items that do not are left out. */
  async differences(items: readonly Delivered[]): Promise<Record<string, string[]>> {
    const found = await this.readBack(items);
    return Object.fromEntries(
      found
        .map(({ entry, result }) => [entry.change.key, this.differenceOf(entry, result)] as const)
        .filter(([, names]) => names.length > 0),
    );
  }

  differenceOf(entry: ReadBack, result: HeldResult): string[] {
    const copies = 'copies' in result && result.copies !== undefined ? [`copies: ${result.copies.length}`] : [];
    switch (result.kind) {
      case 'held': {
        const names = entry.operation === null ? [] : this.sink.compareHeld!(entry.operation, result.held);
        const isExtra = entry.expected === 'absence' && (entry.operation === null || names.length > 0);
        return [...(isExtra ? ['extra'] : []), ...names, ...copies];
      }
      case 'missing':
        return [...(entry.expected === 'content' ? ['missing'] : []), ...copies];
      case 'unreadable':
        return [`unreadable: ${result.cause}`];
      default:
        return [result.kind];
    }
  }

  /** Removes copies, and sends exactly the items that differ again. @returns the causes of those that were rejected */
  async repair(items: readonly Delivered[]): Promise<string[]> {
    const found = await this.readBack(items);
    const differing = new Set<string>();
    for (const { entry, result } of found) {
      if (this.differenceOf(entry, result).length === 0) continue;
      const item = itemOf(entry.change);
      differing.add(item);
      if ('object' in result && result.object !== undefined) this.objects.set(item, result.object);
      if ('copies' in result && result.copies !== undefined) {
        await this.sink.removeHeld!([{ ...entry, copies: result.copies }], this.lane, this.signal);
      }
    }
    const again = items.filter(({ subject }) => differing.has(itemOf(subject.change)));
    return await this.deliver(again.map(({ subject }): Subject => ({ ...subject, again: true })));
  }

  #known(subject: Subject): Subject {
    return { ...subject, object: this.objects.get(itemOf(subject.change)) ?? null };
  }

  /** @returns whether the subject must be sent again */
  #settle(subject: Subject, outcome: Outcome, causes: string[]): boolean {
    if (outcome.object !== undefined) this.objects.set(itemOf(subject.change), outcome.object);
    if (outcome.kind === 'rejected') causes.push(outcome.cause);
    if (outcome.kind === 'pause') throw new Error(outcome.detail);
    return outcome.kind !== 'delivered' && outcome.kind !== 'rejected';
  }
}

function itemOf({ list, key }: { readonly list: string; readonly key: string }): string {
  return `${list} ${key}`;
}
