import { type Fields, fieldsOf, type HeldResult, type ReadBack, type Result } from '../sink.js';
import type { Job } from './job.js';
import { isHeld, type RecordOperation, type RecordStep } from './record-task.js';

/**
 * The state of an entry of `records` of an item at the vendor.
 * - `missing`: the record does not exist.
 * - `there`: the record exists, or the step that would remove it has something to remove. `facts` is what comparing
 *   the step needs. `isMerged`: it is another record, into which the known one was merged.
 */
type Part<Facts> =
  | { readonly kind: 'missing' }
  | { readonly kind: 'there'; readonly facts: Facts; readonly isMerged: boolean };

/** The `held` of a result: the parts of an item by the name of their entry. */
export type HeldParts<Facts> = ReadonlyMap<string, Part<Facts>>;

/** An item that is read back, with the parts that were read so far. */
export class ReadItem<S extends RecordStep, Facts> {
  readonly #parts = new Map<string, Part<Facts>>();
  readonly #failures: HeldResult[] = [];
  readonly #copies: string[] = [];
  #object: Record<string, Fields | null> | undefined;
  #changed: { readonly by: string | undefined; readonly atMs: number } | undefined;

  /**
   * @param steps the steps to read: those of the operation, or those that a complete removal would have
   * @param options `removes`: whether a step removes its record. `refused`: the declared cause of what the vendor does
   * not show
   */
  constructor(
    readonly entry: Pick<ReadBack<RecordOperation<S>>, 'expected' | 'operation' | 'object'>,
    readonly steps: readonly S[],
    private readonly options: { readonly removes: (step: S) => boolean; readonly refused: string },
  ) {}

  /** Whether reading may continue: nothing has failed. */
  get isOpen(): boolean {
    return this.#failures.length === 0;
  }

  there(record: string, facts: Facts, { isMerged = false }: { readonly isMerged?: boolean } = {}): void {
    this.#parts.set(record, { kind: 'there', facts, isMerged });
  }

  missing(record: string): void {
    this.#parts.set(record, { kind: 'missing' });
  }

  /** Returns the facts of an entry's record; undefined if it was not read or does not exist. */
  factsOf(record: string): Facts | undefined {
    const part = this.#parts.get(record);
    return part?.kind === 'there' ? part.facts : undefined;
  }

  /** Corrects an entry's part of the item's object. Null: the entry has no record. */
  correct(record: string, made: Fields | null): void {
    (this.#object ??= {})[record] = made;
  }

  /** Returns an entry's part of the item's object, as far as it was corrected. */
  madeOf(record: string): Fields {
    return this.#object?.[record] ?? fieldsOf(this.entry.object?.[record]);
  }

  copy(id: string): void {
    this.#copies.push(id);
  }

  /** Notes who changed the item and when; the latest change counts. */
  changed(by: string | undefined, atMs: number): void {
    if (Number.isFinite(atMs) && !(this.#changed !== undefined && this.#changed.atMs >= atMs)) {
      this.#changed = { by, atMs };
    }
  }

  /** Ends the item, because a call failed or was refused. */
  end(result: Result): void {
    const detail = 'detail' in result && result.detail !== undefined ? result.detail : 'the time for reading has ended';
    if (result.kind === 'pause' || result.kind === 'retry') this.#failures.push(result);
    else if (isHeld(result) || result.kind === 'rejected') {
      this.#failures.push({ kind: 'unreadable', cause: this.options.refused, detail });
    } else this.#failures.push({ kind: 'retry', detail });
  }

  /** Ends the item, because the vendor does not show it. @param cause a declared cause */
  unreadable(cause: string, detail: string): void {
    this.#failures.push({ kind: 'unreadable', cause, detail });
  }

  result(): HeldResult {
    const [failure] = (['pause', 'retry', 'unreadable'] as const).flatMap((kind) =>
      this.#failures.filter((each) => each.kind === kind),
    );
    if (failure !== undefined) return failure;
    const facts = {
      ...(this.#copies.length > 0 && { copies: this.#copies }),
      ...(this.#object !== undefined && { object: this.#corrected() }),
    };
    if (this.#isMissing()) return { kind: 'missing', ...facts };
    const held: HeldParts<Facts> = this.#parts;
    const { by, atMs } = this.#changed ?? {};
    return {
      kind: 'held',
      held,
      ...(by !== undefined && { changedBy: by }),
      ...(atMs !== undefined && { changedAt: new Date(atMs).toISOString() }),
      ...facts,
    };
  }

  /** Whether nothing of the item is there, although something should be, or nothing is left of a removed item. */
  #isMissing(): boolean {
    const written = this.steps.filter((step) => !this.options.removes(step) && this.#parts.has(step.record));
    const isExpected = this.entry.expected === 'absence' || written.length > 0;
    return isExpected && [...this.#parts.values()].every(({ kind }) => kind === 'missing');
  }

  #corrected(): Fields | null {
    const all = Object.entries({ ...this.entry.object, ...this.#object }).filter(([, made]) => made !== null);
    return all.length === 0 ? null : Object.fromEntries(all);
  }
}

/** A step of an item that is read back. */
export class ReadJob<S extends All, All extends RecordStep, Facts> implements Job {
  constructor(
    readonly item: ReadItem<All, Facts>,
    readonly step: S,
  ) {}

  get isOpen(): boolean {
    return this.item.isOpen;
  }

  end(result: Result): void {
    this.item.end(result);
  }
}

/** Returns the steps of one kind of all items that may still be read. */
export function readJobs<All extends RecordStep, Kind extends All['kind'], Facts>(
  items: readonly ReadItem<All, Facts>[],
  kind: Kind,
): ReadJob<Extract<All, { kind: Kind }>, All, Facts>[] {
  return items
    .filter(({ isOpen }) => isOpen)
    .flatMap((item) =>
      item.steps
        .filter((step): step is Extract<All, { kind: Kind }> => step.kind === kind)
        .map((step) => new ReadJob(item, step)),
    );
}

/**
 * Returns the names of the parts and fields in which an item differs from its operation, such as `contacts.email`, and
 * `notes` for a record that is missing or should not be there. `contacts.id`: the record was merged into another one.
 * @param removes whether a step removes its record
 * @param differing returns the names of the fields in which a record differs from its step
 */
export function compareParts<S extends RecordStep, Facts>(
  { steps }: RecordOperation<S>,
  held: unknown,
  removes: (step: S) => boolean,
  differing: (step: S, facts: Facts) => readonly string[],
): string[] {
  const parts = held as HeldParts<Facts>;
  return steps.flatMap((step) => {
    const part = parts.get(step.record);
    if (part === undefined) return [];
    if (removes(step) || part.kind === 'missing') return removes(step) === (part.kind === 'there') ? [step.record] : [];
    const names = [...(part.isMerged ? ['id'] : []), ...differing(step, part.facts)];
    return names.map((name) => `${step.record}.${name}`);
  });
}
