import { chunksOf } from '../../base/grouping.js';
import type { Outcome, Result } from '../sink.js';
import type { IsOurs, PresentValues, Value, ValueRules, ValueWrite } from './decide-values.js';
import type { Exclusive } from './exclusive.js';
import { findInOrder } from './find-in-order.js';
import { type Clearing, type Forgetting, forgetRecords, type ForgetVendor } from './forget-records.js';
import type { ForgetStep, MadeRecord, PlainOperation, PlainStep, SaveStep } from './plan-plain-records.js';
import { isAmong, type PresentRecord, presentValues } from './present-record.js';
import { RecordTask, TaskJob, unansweredOutcome } from './record-task.js';
import type { WriteReply } from './reply.js';
import type { Draft, Group } from './write-merged.js';
import { type RecordJob, type RecordVendor, writeRecords } from './write-records.js';

/** A record that a search found. */
export interface FoundRecord extends PresentRecord {
  readonly id: string;
  /** The id of the record into which this one was merged; null if it was not. */
  readonly mergedInto: string | null;
  /** The id of the user who changed it last; null if the vendor does not say. */
  readonly modifiedBy: string | null;
}

/**
 * The calls of a CRM that knows the values of a record and the time of its last change, and not more. A call never
 * throws.
 */
export interface RecordCalls {
  /** The vendor's name in messages, such as `Dynamics`. */
  readonly vendor: string;
  /** The beginning of the causes of dead letters, such as `dynamics`. */
  readonly causes: string;
  readonly rules: ValueRules;
  /** Maximum number of values in one search. */
  readonly maxValues: number;
  /**
   * Returns the records in which a field has one of the values, the oldest first, or the reason why they cannot be read.
   * @param field null: the id
   * @param fields the fields to read
   */
  search(
    object: string,
    wanted: { readonly field: string | null; readonly values: readonly string[]; readonly fields: readonly string[] },
  ): Promise<readonly FoundRecord[] | Result>;
  /** Creates a record under the id of the step. If an earlier attempt created it, updates it. */
  create(step: SaveStep, values: Readonly<Record<string, Value>>): Promise<WriteReply>;
  update(object: string, id: string, values: Readonly<Record<string, Value>>): Promise<WriteReply>;
  remove(object: string, id: string): Promise<WriteReply>;
}

export interface PlainSending {
  readonly calls: RecordCalls;
  /** One lane at a time searches for new records, because two searches could both find none. */
  readonly newRecords: Exclusive;
  readonly signal: AbortSignal;
  /** Unix time in ms. */
  readonly now: () => number;
}

/** Maximum number of writes in progress in a lane. */
const WRITERS = 4;

/** Carries out operations: first the people to forget, then the records, by entry of `records`. Safe to repeat. */
export async function sendPlainRecords(
  operations: readonly PlainOperation[],
  sending: PlainSending,
): Promise<Outcome[]> {
  const { calls } = sending;
  const options = { accepted: `${calls.vendor} accepted it`, failureEnds: 'entry' } as const;
  const tasks = operations.map((operation) => new RecordTask<PlainStep>(operation, options));
  const forgets = tasks.flatMap((task) => task.steps('forget').map((step) => new TaskJob(task, step)));
  await forgetRecords(forgets, new PlainForgetting(calls));
  const saves = tasks.flatMap((task) => task.steps('save').map((step) => new Search(task, step)));
  for (const record of new Set(saves.map(({ step }) => step.record))) {
    const same = saves.filter(({ step }) => step.record === record);
    await writeRecords(same, new PlainRecords(sending, same[0]!.step.object));
  }
  return tasks.map((task) => task.outcome());
}

/**
 * Stores that the vendor may have records of operations that an earlier attempt may have sent. Makes no call, because a
 * repeat is harmless.
 */
export function recoverPlainRecords(operations: readonly PlainOperation[]): Outcome[] {
  return operations.map(({ steps, object }) => {
    const records = steps.flatMap(({ kind, record }) => (kind === 'save' ? [record] : []));
    return unansweredOutcome(object, records);
  });
}

/** The search for the record of a step. */
class Search extends TaskJob<SaveStep, PlainStep> implements RecordJob {
  id = this.step.known?.id ?? null;
  /** The record as read; undefined if it was not read or does not exist. */
  found: FoundRecord | undefined;

  get happenedAtMs(): number {
    return this.step.happenedAtMs;
  }

  settle(found: FoundRecord | undefined): void {
    this.found = found;
    this.id = found?.id ?? null;
  }
}

type SearchDraft = Draft<Search, Group<Search>>;

/** The records of one entry of `records`. */
class PlainRecords implements RecordVendor<Search, Group<Search>> {
  readonly rules: ValueRules;
  readonly #calls: RecordCalls;

  constructor(
    private readonly sending: PlainSending,
    private readonly object: string,
  ) {
    this.#calls = sending.calls;
    this.rules = sending.calls.rules;
  }

  /**
   * Reads all records, because one that was merged into another one may still accept writes. The other one replaces it,
   * whatever its values of `match` are.
   */
  async readKnown(jobs: readonly Search[]): Promise<void> {
    const merged = new Map<Search, string>();
    await this.#read(
      jobs,
      null,
      ({ id }) => id!,
      (search, [found]) => {
        if (found !== undefined && found.mergedInto !== null) merged.set(search, found.mergedInto);
        else search.settle(found);
      },
    );
    await this.#read(
      [...merged.keys()],
      null,
      (search) => merged.get(search)!,
      (search, [found]) => search.settle(found?.mergedInto === null ? found : undefined),
    );
  }

  async find(jobs: readonly Search[]): Promise<void> {
    await findInOrder(
      jobs,
      ({ step }) => step.match.map(({ field, value }) => ({ kind: field, value })),
      ({ isOpen, id }) => isOpen && id === null,
      async (group, field) => {
        const values = new Map(group.map(({ search, look }) => [search, look.value]));
        const searches = group.map(({ search }) => search);
        await this.#read(
          searches,
          field,
          (search) => values.get(search)!,
          (search, found) => {
            const standing = found.filter(({ mergedInto }) => mergedInto === null);
            const { onSeveral } = search.step;
            if (standing.length > 1 && onSeveral === 'park') search.end(this.#ambiguous(field, standing));
            else search.settle(standing.at(onSeveral === 'newest' ? -1 : 0));
          },
        );
      },
    );
  }

  mayCreate({ step, task }: Search): boolean {
    if (step.create && step.match.length > 0) return true;
    task.note(`no ${step.object} record matches, and none may be created`);
    if (step.known !== null || step.isUnsure) task.made(step.record, null);
    return false;
  }

  newNamesOf({ step }: Search): string[] {
    return step.match.map(({ field, value }) => `${field} ${value.toLowerCase()}`);
  }

  groupOf(id: string | null, members: readonly Search[]): Group<Search> {
    return { id, members };
  }

  writesOf({ step }: Search): readonly ValueWrite[] {
    return step.writes;
  }

  presentOf(search: Search, { id, members }: Group<Search>): PresentValues | null {
    if (id === null) return null;
    const found = search.found ?? members.find((each) => each.found !== undefined)?.found;
    if (found === undefined) return new Map();
    const { known, isUnsure, newId, match } = search.step;
    const ours = known?.id === id ? known.written : [];
    // A record of another id was found by the values of `match`, so nothing says that this sink wrote them.
    const isMatch = (field: string): boolean => id !== newId && match.some((each) => each.field === field);
    const isOurs = (field: string): IsOurs => isAmong(field, ours) || (isUnsure && !isMatch(field) ? 'maybe' : false);
    return presentValues(found, { writtenAtMs: known?.writtenAtMs ?? null, isOurs });
  }

  async write(drafts: readonly SearchDraft[]): Promise<WriteReply[]> {
    return await inParallel(drafts, async ({ group, members, values: given }) => {
      const values = Object.fromEntries(given);
      if (group.id === null) return await this.#calls.create(members[0]!.step, values);
      return await this.#calls.update(this.object, group.id, values);
    });
  }

  wrote({ group, members, valuesOf }: SearchDraft, reply: Extract<WriteReply, { kind: 'written' }> | null): void {
    const id = reply?.id ?? group.id!;
    members.forEach((search, index) => {
      const { task, step } = search;
      const before = step.known?.id === id ? step.known : null;
      const made: MadeRecord = {
        id,
        created: (before?.created ?? false) || (reply?.isNew === true && index === 0),
        written: [...new Set([...(before?.written ?? []), ...valuesOf(search).keys()])],
        writtenAtMs: reply?.atMs ?? before?.writtenAtMs ?? 0,
      };
      task.made(step.record, { ...made });
    });
  }

  /**
   * A new record would have the id that this sink chose for the first item, so that a later change finds or forgets it. A
   * present one may have all values, which are cleared if the person is forgotten.
   */
  unanswered({ group, members, valuesOf }: SearchDraft): void {
    const id = group.id ?? members[0]!.step.newId;
    members.forEach((search, index) => {
      const { task, step } = search;
      const before = step.known?.id === id ? step.known : null;
      const made: MadeRecord = {
        id,
        created: before?.created ?? (group.id === null && index === 0),
        written: [...new Set([...(before?.written ?? []), ...valuesOf(search).keys()])],
        writtenAtMs: group.id === null ? this.sending.now() : (before?.writtenAtMs ?? 0),
      };
      task.made(step.record, { ...made });
    });
  }

  async alone(work: () => Promise<void>): Promise<void> {
    await this.sending.newRecords.run(this.sending.signal, work);
  }

  /** Reads records by the value of a field. Ends the searches whose records cannot be read. */
  async #read(
    searches: readonly Search[],
    field: string | null,
    valueOf: (search: Search) => string,
    settle: (search: Search, found: readonly FoundRecord[]) => void,
  ): Promise<void> {
    const { rules, maxValues } = this.#calls;
    const written = searches.flatMap(({ step }) => step.writes.map(({ name }) => name));
    // Whether one part of a name is written depends on the other part.
    const names = rules.nameParts?.some((part) => written.includes(part)) ? rules.nameParts : [];
    const fields = [...new Set([...(field === null ? [] : [field]), ...written, ...names])];
    const sameAs = (value: string, { id, values }: FoundRecord): boolean =>
      String(field === null ? id : values.get(field)).toLowerCase() === value.toLowerCase();
    for (const chunk of chunksOf(searches, maxValues)) {
      const values = [...new Set(chunk.map(valueOf))];
      const found = await this.#calls.search(this.object, { field, values, fields });
      for (const search of chunk) {
        if ('kind' in found) search.end(found);
        else
          settle(
            search,
            found.filter((each) => sameAs(valueOf(search), each)),
          );
      }
    }
  }

  #ambiguous(field: string, found: readonly FoundRecord[]): Result {
    const ids = found.slice(0, 3).map(({ id }) => id);
    return {
      kind: 'rejected',
      cause: `${this.#calls.causes}:ambiguous-match:${field}`,
      about: 'record',
      detail: `${found.length} records match by ${field} (${ids.join(', ')}): merge them, or choose one with "onSeveral", then redrive`,
    };
  }
}

type ForgetJob = TaskJob<ForgetStep, PlainStep>;

/** Records of people who must be forgotten. */
class PlainForgetting implements ForgetVendor<ForgetJob> {
  readonly causes: string;

  constructor(private readonly calls: RecordCalls) {
    this.causes = calls.causes;
  }

  nameOf({ step }: ForgetJob): string {
    return `${step.object} ${step.known.id}`;
  }

  async look(jobs: readonly ForgetJob[]): Promise<Map<ForgetJob, Forgetting>> {
    const states = new Map<ForgetJob, Forgetting>();
    for (const object of new Set(jobs.map(({ step }) => step.object))) {
      for (const chunk of chunksOf(
        jobs.filter(({ step }) => step.object === object),
        this.calls.maxValues,
      )) {
        const values = chunk.map(({ step }) => step.known.id);
        const found = await this.calls.search(object, { field: null, values, fields: [] });
        for (const job of chunk) {
          if ('kind' in found) job.end(found);
          else
            states.set(
              job,
              forgettingOf(
                job.step,
                found.find(({ id }) => id === job.step.known.id),
              ),
            );
        }
      }
    }
    return states;
  }

  async clear(records: readonly Clearing<ForgetJob>[]): Promise<WriteReply[]> {
    return await inParallel(records, ({ id, values, jobs }) => this.calls.update(jobs[0]!.step.object, id, values));
  }

  async remove(records: readonly Omit<Clearing<ForgetJob>, 'values'>[]): Promise<WriteReply[]> {
    return await inParallel(records, ({ id, jobs }) => this.calls.remove(jobs[0]!.step.object, id));
  }

  forgot({ task, step }: ForgetJob, how: 'cleared' | 'deleted', id: string | null): void {
    if (id === null && step.isUnsure) {
      const { vendor } = this.calls;
      const detail = `a person must be forgotten, and ${vendor} may have written a ${step.object} record without answering: search for the person there by hand, then discard the dead letter`;
      task.end({ kind: 'rejected', cause: 'forget-by-hand', about: 'record', detail }, step.record);
      return;
    }
    task.made(step.record, null);
    task.note(id === null ? 'the record no longer exists' : `${step.object} ${id} ${how}`);
  }
}

function forgettingOf({ known, how }: ForgetStep, found: FoundRecord | undefined): Forgetting {
  if (found === undefined) return { kind: 'gone' };
  if (found.mergedInto !== null) return { kind: 'merged', into: found.mergedInto };
  const { id, written } = known;
  if (how === 'delete') return { kind: 'delete', id };
  return { kind: 'clear', id, values: Object.fromEntries(written.map((name) => [name, null])) };
}

/** Makes calls, a few at a time. After a failure that no record causes, the rest is not sent. */
async function inParallel<T>(all: readonly T[], call: (each: T) => Promise<WriteReply>): Promise<WriteReply[]> {
  const replies: WriteReply[] = all.map(() => ({ kind: 'failed', processed: 'no', result: { kind: 'unsent' } }));
  const entries = all.entries(); // shared: each writer continues with the next entry
  let isOver = false;
  const work = async (): Promise<void> => {
    for (const [index, each] of entries) {
      if (isOver) return;
      const reply = await call(each);
      replies[index] = reply;
      isOver ||= reply.kind === 'failed';
    }
  };
  await Promise.all(Array.from({ length: WRITERS }, work));
  return replies;
}
