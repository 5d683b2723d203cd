import type { Fields, Outcome, Result } from '../sink.js';
import type { RecordReply } from './batch.js';
import type { HubSpotOperation, Step } from './operation.js';

/** An operation under way: what its steps have made so far, and what has ended it, if anything has. */
export class Task {
  readonly #made: Record<string, Fields | null> = {};
  readonly #details: string[] = [];
  #end: Result | undefined;

  constructor(readonly operation: HubSpotOperation) {}

  /** A step that failed ends the operation: the steps after it wait for its next attempt. */
  get isOpen(): boolean {
    return this.#end === undefined;
  }

  /** The steps of one kind, as long as nothing has ended it. */
  steps<Kind extends Step['kind']>(kind: Kind): Extract<Step, { kind: Kind }>[] {
    if (!this.isOpen) return [];
    return this.operation.steps.filter((step): step is Extract<Step, { kind: Kind }> => step.kind === kind);
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

  end(result: Result): void {
    this.#end ??= result;
  }

  /** Ends as a record's answer says; `missing` has to be dealt with before. */
  endBy(reply: Exclude<RecordReply, { kind: 'done' }>): void {
    switch (reply.kind) {
      case 'missing':
        return this.end({
          kind: 'rejected',
          cause: 'hubspot:not-found',
          detail: 'HubSpot has no such record',
          about: 'record',
        });
      case 'rejected':
        return this.end(reply);
      case 'failed':
        return this.end(reply.result);
    }
  }

  outcome(): Outcome {
    const result: Result = this.#end ?? {
      kind: 'delivered',
      detail: this.#details.length === 0 ? 'HubSpot took it' : this.#details.join('; '),
    };
    if (Object.keys(this.#made).length === 0) return result;
    const object = Object.fromEntries(
      Object.entries({ ...this.operation.object, ...this.#made }).filter(([, made]) => made !== null),
    );
    return { ...result, object: Object.keys(object).length === 0 ? null : object };
  }
}
