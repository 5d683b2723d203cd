import { type Fields, type Outcome, type Result, fieldsOf } from '../sink.js';
import type { RecordReply } from './batch.js';
import { isHeld } from './classify.js';
import type { HubSpotOperation, Step } from './operation.js';

/** An operation under way: what its steps have made so far, and what has ended it, if anything has. */
export class Task {
  readonly #made: Record<string, Fields | null> = {};
  readonly #details: string[] = [];
  /** Entries of `records` whose kind of record HubSpot refuses to this key, with what is to be said of it. */
  readonly #held = new Map<string, Result>();
  #end: Result | undefined;

  constructor(readonly operation: HubSpotOperation) {}

  /**
   * Says whether the step of an entry may go on. A step that failed ends the operation, and the steps after it wait for
   * the next attempt; an entry that is held back keeps only itself waiting.
   */
  isOpen(record: string): boolean {
    return this.#end === undefined && !this.#held.has(record);
  }

  /** The steps of one kind, as long as nothing has ended them. */
  steps<Kind extends Step['kind']>(kind: Kind): Extract<Step, { kind: Kind }>[] {
    return this.operation.steps.filter(
      (step): step is Extract<Step, { kind: Kind }> => step.kind === kind && this.isOpen(step.record),
    );
  }

  /** What an entry of `records` has made of the item; null: nothing is left of it. */
  made(record: string, object: Fields | null): void {
    this.#made[record] = object;
  }

  /** The id of what an entry of `records` has made, in this attempt. */
  madeId(record: string): string | undefined {
    const id = this.#made[record]?.id;
    return typeof id === 'string' ? id : undefined;
  }

  /** What an entry of `records` has made so far, in this attempt or before. */
  has(record: string): Fields {
    const before = this.operation.object?.[record];
    return this.#made[record] ?? (typeof before === 'object' && before !== null ? (before as Fields) : {});
  }

  /** Something a person who asks will want to know. */
  note(detail: string): void {
    this.#details.push(detail);
  }

  /** @param record the entry of `records` whose step it was */
  end(result: Result, record: string): void {
    if (!isHeld(result)) this.#end ??= result;
    else if (!this.#held.has(record)) this.#held.set(record, result);
  }

  /** Ends as a record's answer says; `missing` has to be dealt with before. */
  endBy(reply: Exclude<RecordReply, { kind: 'done' }>, record: string): void {
    switch (reply.kind) {
      case 'missing':
        return this.end(
          { kind: 'rejected', cause: 'hubspot:not-found', detail: 'HubSpot has no such record', about: 'record' },
          record,
        );
      case 'rejected':
        return this.end(reply, record);
      case 'failed':
        return this.end(reply.result, record);
    }
  }

  outcome(): Outcome {
    const held = this.#end === undefined ? this.#held.values().next().value : undefined;
    const result: Result = this.#end ??
      held ?? {
        kind: 'delivered',
        detail: this.#details.length === 0 ? 'HubSpot took it' : this.#details.join('; '),
      };
    const before = this.operation.object ?? {};
    const wasHeld = Object.values(before).some((made) => fieldsOf(made).heldAt !== undefined);
    if (Object.keys(this.#made).length === 0 && (held !== undefined || !wasHeld)) return result;
    const object = Object.fromEntries(
      Object.entries({ ...before, ...this.#made })
        .filter(([, made]) => made !== null)
        .map(([record, made]) => [record, this.#marked(record, fieldsOf(made), held !== undefined)]),
    );
    return { ...result, object: Object.keys(object).length === 0 ? null : object };
  }

  /**
   * While one entry is held back, what the others have made of this change is marked with it: the next attempt, ten
   * minutes later, must not write it again over what people have edited since.
   */
  #marked(record: string, { heldAt, ...made }: Fields, isHeldBack: boolean): Fields {
    const { changeId } = this.operation;
    const isDone = this.#made[record] != null ? !this.#held.has(record) : heldAt === changeId;
    return isHeldBack && isDone ? { ...made, heldAt: changeId } : made;
  }
}
