import { type Fields, type Outcome, type Result, fieldsOf } from '../sink.js';
import type { RecordReply } from './batch.js';
import { isHeld } from './classify.js';
import type { HubSpotOperation, Step } from './operation.js';

/** An operation in progress: the results of its steps, and the result that ended it, if any. */
export class Task {
  readonly #made: Record<string, Fields | null> = {};
  readonly #details: string[] = [];
  /** Entries of `records` whose kind of record HubSpot refuses to this key, with the reason. */
  readonly #held = new Map<string, Result>();
  #end: Result | undefined;

  constructor(readonly operation: HubSpotOperation) {}

  /**
   * Whether the step of an entry may continue. A failed step ends the operation, and the steps after it wait for the
   * next attempt; an entry that is held back delays only itself.
   */
  isOpen(record: string): boolean {
    return this.#end === undefined && !this.#held.has(record);
  }

  /** Returns the open steps of one kind. */
  steps<Kind extends Step['kind']>(kind: Kind): Extract<Step, { kind: Kind }>[] {
    return this.operation.steps.filter(
      (step): step is Extract<Step, { kind: Kind }> => step.kind === kind && this.isOpen(step.record),
    );
  }

  /** Sets an entry's part of the item's object; null: nothing is left. */
  made(record: string, object: Fields | null): void {
    this.#made[record] = object;
  }

  /** Returns the id of the record that an entry created or found in this attempt. */
  madeId(record: string): string | undefined {
    const id = this.#made[record]?.id;
    return typeof id === 'string' ? id : undefined;
  }

  /** Returns an entry's part of the item's object, from this attempt or before. */
  has(record: string): Fields {
    const before = this.operation.object?.[record];
    return this.#made[record] ?? (typeof before === 'object' && before !== null ? (before as Fields) : {});
  }

  /** Adds a detail for the operator. */
  note(detail: string): void {
    this.#details.push(detail);
  }

  /** @param record the step's entry of `records` */
  end(result: Result, record: string): void {
    if (!isHeld(result)) this.#end ??= result;
    else if (!this.#held.has(record)) this.#held.set(record, result);
  }

  /** Ends with a record's reply; handle `missing` before. */
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
        detail: this.#details.length === 0 ? 'HubSpot accepted it' : this.#details.join('; '),
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
   * Marks the other entries' results with this change while one entry is held back: the next attempt, ten minutes
   * later, must not overwrite what people edited since.
   */
  #marked(record: string, { heldAt, ...made }: Fields, isHeldBack: boolean): Fields {
    const { changeId } = this.operation;
    const isDone = this.#made[record] != null ? !this.#held.has(record) : heldAt === changeId;
    return isHeldBack && isDone ? { ...made, heldAt: changeId } : made;
  }
}
