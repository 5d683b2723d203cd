import { type Fields, fieldsOf, type Operation, type Outcome, type Result } from '../sink.js';
import { withoutAnswer } from '../mapping/crm-records.js';
import type { Job } from './job.js';
import { worstOf } from './worst-result.js';

/** A step of an operation. It belongs to an entry of `records`, whose name is the key of its part of the item's object. */
export interface RecordStep {
  readonly kind: string;
  readonly record: string;
}

/** The calls for one change, with one step for each entry of `records` that reads the change's list. */
export interface RecordOperation<S extends RecordStep> extends Operation {
  readonly steps: readonly S[];
  /**
   * The item's object before this operation. The operation changes only the parts of the entries that its steps belong
   * to.
   */
  readonly object: Fields | null;
}

/** Whether a result holds back one entry of `records`, because the vendor refuses all records of its kind. */
export function isHeld(result: Result): result is Extract<Result, { kind: 'unsent' }> {
  return result.kind === 'unsent' && result.detail !== undefined;
}

/**
 * Returns the outcome of an operation that an earlier attempt may have sent and that is harmless to repeat: it is planned
 * again. The object says of which entries the vendor may have more than it names. Needs no call.
 */
export function unansweredOutcome(object: Fields | null, records: readonly string[]): Outcome {
  const marked = withoutAnswer(object, records);
  return { kind: 'unsent', ...(marked !== null && { object: marked }) };
}

/** An operation in progress. It collects the results of the operation's steps. */
export class RecordTask<S extends RecordStep> {
  readonly #made: Record<string, Fields | null> = {};
  readonly #details: string[] = [];
  /** The results of entries by which their steps ended. */
  readonly #results = new Map<string, Result>();

  constructor(
    readonly operation: RecordOperation<S>,
    private readonly options: {
      /** The detail if all went well and no step noted one. */
      readonly accepted: string;
      /**
       * `operation`: after a failed step, the later ones wait for the next attempt, because they may need its record. An
       * entry that is held back delays no other entry. `entry`: entries do not depend on each other.
       */
      readonly failureEnds: 'operation' | 'entry';
    },
  ) {}

  /** Whether the step of this entry may continue. */
  isOpen(record: string): boolean {
    if (this.#results.has(record)) return false;
    return this.options.failureEnds === 'entry' || [...this.#results.values()].every(isHeld);
  }

  /** Returns the result with which the step of an entry ended; undefined if it did not end. */
  resultOf(record: string): Result | undefined {
    return this.#results.get(record);
  }

  /** Returns the open steps of one kind. */
  steps<Kind extends S['kind']>(kind: Kind): Extract<S, { kind: Kind }>[] {
    return this.operation.steps.filter(
      (step): step is Extract<S, { kind: Kind }> => step.kind === kind && this.isOpen(step.record),
    );
  }

  /** Sets an entry's part of the item's object. Null: the vendor no longer has a record of this entry. */
  made(record: string, object: Fields | null): void {
    this.#made[record] = object;
  }

  /** Returns the id of the record that an entry created or found in this attempt. */
  madeId(record: string): string | undefined {
    const id = this.#made[record]?.id;
    return typeof id === 'string' ? id : undefined;
  }

  /** Returns an entry's part of the item's object, as this attempt or an earlier one left it. */
  has(record: string): Fields {
    return this.#made[record] ?? fieldsOf(this.operation.object?.[record]);
  }

  /** Returns the item's object by entry, as this attempt leaves it. */
  get object(): Readonly<Record<string, unknown>> {
    return { ...this.operation.object, ...this.#made };
  }

  /** Adds a detail for the operator. */
  note(detail: string): void {
    this.#details.push(detail);
  }

  /** Ends the step of an entry with this result. Only the first result of an entry has an effect. */
  end(result: Result, record: string): void {
    if (!this.#results.has(record)) this.#results.set(record, result);
  }

  outcome(): Outcome {
    const accepted: Result = { kind: 'delivered', detail: this.options.accepted };
    const worst = this.#results.size === 0 ? accepted : worstOf([...this.#results.values()]);
    const isNoted = worst.kind === 'delivered' && this.#details.length > 0;
    const result: Result = isNoted ? { ...worst, detail: this.#details.join('; ') } : worst;
    const isHeldBack = isHeld(result);
    const before = this.operation.object ?? {};
    const wasHeld = Object.values(before).some((made) => fieldsOf(made).heldAt !== undefined);
    if (Object.keys(this.#made).length === 0 && (isHeldBack || !wasHeld)) return result;
    const object = Object.fromEntries(
      Object.entries(this.object)
        .filter(([, made]) => made !== null)
        .map(([record, made]) => [record, this.#marked(record, fieldsOf(made), isHeldBack)]),
    );
    return { ...result, object: Object.keys(object).length === 0 ? null : object };
  }

  /**
   * While one entry is held back, marks the results of the other entries with this change's id. The next attempt, ten
   * minutes later, then skips these entries and does not overwrite edits that people have made since.
   */
  #marked(record: string, { heldAt, ...made }: Fields, isHeldBack: boolean): Fields {
    const { changeId } = this.operation;
    const isDone = this.#made[record] != null ? !this.#results.has(record) : heldAt === changeId;
    return isHeldBack && isDone ? { ...made, heldAt: changeId } : made;
  }
}

/** A step of a task. */
export class TaskJob<S extends RecordStep, All extends RecordStep = S> implements Job {
  constructor(
    readonly task: RecordTask<All>,
    readonly step: S,
  ) {}

  get isOpen(): boolean {
    return this.task.isOpen(this.step.record);
  }

  end(result: Result): void {
    this.task.end(result, this.step.record);
  }
}
