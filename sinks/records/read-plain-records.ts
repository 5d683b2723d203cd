import { chunksOf, groupBy } from '../../base/grouping.js';
import { type Fields, type HeldResult, type Lane, type ReadBack } from '../sink.js';
import { differingFields } from './differing-fields.js';
import { type FoundRecord, type RecordCalls } from './plain-records.js';
import {
  type ForgetStep,
  madeRecord,
  type PlainOperation,
  type PlainStep,
  type SaveStep,
} from './plan-plain-records.js';
import { isOwnChange, presentValues } from './present-record.js';
import { compareParts, ReadItem, type ReadJob, readJobs } from './read-item.js';
import { type RecordWrites, type SharedRecords, type SharedWrite, writesOfOthers } from './shared-records.js';

/** The data that comparing a step with its record needs. Personal data: kept in memory only. */
interface Held {
  readonly found: FoundRecord | undefined;
  /** Fields, in lower case, whose value belongs to another item with the same record. */
  readonly ofOthers: ReadonlySet<string>;
}

type Reading<S extends PlainStep> = ReadJob<S, PlainStep, Held>;

export interface PlainReading {
  readonly calls: RecordCalls;
  readonly shared: SharedRecords;
}

/** Reads what a CRM holds of items, in searches by id. Only reads. */
export async function readPlainRecords(
  wanted: readonly ReadBack<PlainOperation>[],
  lane: Lane,
  { calls, shared }: PlainReading,
): Promise<HeldResult[]> {
  const options = { removes, refused: `${calls.causes}:not-readable` };
  const items = wanted.map(
    (entry) => new ReadItem<PlainStep, Held>(entry, entry.operation?.steps ?? removalSteps(entry.object), options),
  );
  const saves = readJobs(items, 'save').filter(({ step }) => step.known !== null);
  const forgets = readJobs(items, 'forget');
  const found = new Map<Reading<PlainStep>, FoundRecord>([
    ...(await find(saves, calls, ({ step }) => step.writes.map(({ name }) => name))),
    ...(await find(forgets, calls, ({ step }) => step.known.written)),
  ]);
  for (const job of forgets.filter(({ isOpen }) => isOpen)) {
    const record = found.get(job);
    if (record !== undefined && remains(job.step, record)) there(job, { found: record, ofOthers: new Set() });
    else job.item.missing(job.step.record);
  }
  const present = saves.filter((job) => job.isOpen && found.has(job));
  for (const job of saves.filter(({ isOpen }) => isOpen)) {
    const record = found.get(job);
    if (record === undefined) job.item.missing(job.step.record);
    else there(job, { found: record, ofOthers: new Set() });
  }
  const differing = present.filter((job) => differingIn(job, calls).length > 0);
  if (differing.length > 0) {
    await shared.read(lane, Math.max(...differing.map((job) => found.get(job)!.lastModifiedAtMs)));
    const others = writesOfOthers(
      shared,
      present.map((job) => sharedWrite(job, found.get(job)!, calls)),
    );
    present.forEach((job, index) => there(job, { found: found.get(job)!, ofOthers: others[index]! }));
  }
  for (const job of differing.filter((each) => differingIn(each, calls).length > 0 || isMerged(each))) {
    const { modifiedBy, lastModifiedAtMs } = found.get(job)!;
    if (isMerged(job) || !isOwnChange(lastModifiedAtMs, job.step.known!.writtenAtMs)) {
      job.item.changed(modifiedBy ?? undefined, lastModifiedAtMs);
    }
  }
  return items.map((item) => item.result());
}

/** Returns the names of the parts and fields in which a CRM differs from an operation. Pure. */
export function comparePlainRecords(
  operation: PlainOperation,
  held: unknown,
  { rules }: Pick<RecordCalls, 'rules'>,
): string[] {
  return compareParts<PlainStep, Held>(operation, held, removes, (step, facts) =>
    step.kind === 'save' ? differingFieldsOf(step, facts, rules) : [],
  );
}

/** Returns the writes in an item's object, for items that share a record. */
export function plainWritesIn(object: Fields): RecordWrites[] {
  return Object.entries(object).flatMap(([record, found]) => {
    const made = madeRecord(found);
    if (made === null) return [];
    const times = made.written.map((field): [string, number] => [field.toLowerCase(), made.writtenAtMs]);
    return [{ record: `${objectOf(record)} ${made.id}`, writtenAtMs: new Map(times) }];
  });
}

function removes({ kind }: PlainStep): boolean {
  return kind === 'forget';
}

/** Returns the steps that would remove what an item's object names, if an operator has to remove it. */
function removalSteps(object: Fields | null): ForgetStep[] {
  return Object.entries(object ?? {}).flatMap(([record, found]): ForgetStep[] => {
    const known = madeRecord(found);
    return known === null
      ? []
      : [{ kind: 'forget', record, object: objectOf(record), known, how: 'delete', isUnsure: false }];
  });
}

/** Returns the type of the records of an entry. Its name is the type, with a number if there are several. */
function objectOf(record: string): string {
  return record.replace(/-\d+$/, '');
}

function there(job: Reading<PlainStep>, held: Held): void {
  job.item.there(job.step.record, held, { isMerged: isMerged(job, held.found) });
}

function isMerged({ step, item }: Reading<PlainStep>, found = item.factsOf(step.record)?.found): boolean {
  return found !== undefined && found.id !== step.known!.id;
}

/** Whether a removal has something to remove: the record itself, or a value that this sink wrote. */
function remains({ how, known }: ForgetStep, { id, values }: FoundRecord): boolean {
  if (how === 'delete' || id !== known.id) return true;
  return known.written.some((name) => (values.get(name) ?? '') !== '');
}

function differingIn({ item, step }: Reading<SaveStep>, { rules }: RecordCalls): string[] {
  return differingFieldsOf(step, item.factsOf(step.record)!, rules);
}

function differingFieldsOf(step: SaveStep, { found, ofOthers }: Held, rules: RecordCalls['rules']): string[] {
  if (found === undefined || step.known === null) return [];
  const present = presentValues(found, { writtenAtMs: step.known.writtenAtMs, isOurs: false });
  return differingFields(step.writes, present, step.happenedAtMs, rules).filter(
    (name) => !ofOthers.has(name.toLowerCase()),
  );
}

function sharedWrite({ step }: Reading<SaveStep>, found: FoundRecord, { rules }: RecordCalls): SharedWrite {
  const written = new Set(step.known!.written.map((name) => name.toLowerCase()));
  return {
    record: `${step.object} ${found.id}`,
    writtenAtMs: (field) => (written.has(field) ? step.known!.writtenAtMs : undefined),
    fields: step.writes.map(({ name, value }) => {
      const field = name.toLowerCase();
      const isSame = differingFields(
        [{ name, value, policy: 'always' }],
        presentValues(found, { writtenAtMs: null, isOurs: false }),
        step.happenedAtMs,
        rules.isSame === undefined ? {} : { isSame: rules.isSame },
      );
      return { field, isAsWanted: isSame.length === 0 };
    }),
  };
}

/** Reads the records of jobs by id. A merged record is returned as the one into which it was merged. */
async function find<J extends Reading<SaveStep> | Reading<ForgetStep>>(
  jobs: readonly J[],
  calls: RecordCalls,
  fieldsOfJob: (job: J) => readonly string[],
): Promise<Map<J, FoundRecord>> {
  const found = new Map<J, FoundRecord>();
  for (const [object, same] of groupBy(jobs, ({ step }) => step.object)) {
    const { nameParts = [] } = calls.rules;
    const named = same.flatMap(fieldsOfJob);
    const fields = [...new Set([...named, ...(nameParts.some((part) => named.includes(part)) ? nameParts : [])])];
    const own = await read(same, ({ step }) => step.known!.id);
    const merged = same.filter((job) => own.get(job)?.mergedInto != null);
    const masters = await read(merged, (job) => own.get(job)!.mergedInto!);
    for (const job of same) {
      const record = merged.includes(job) ? masters.get(job) : own.get(job);
      if (record !== undefined) found.set(job, record);
    }

    async function read(some: readonly J[], idOf: (job: J) => string): Promise<Map<J, FoundRecord>> {
      const byJob = new Map<J, FoundRecord>();
      for (const chunk of chunksOf(
        [
          ...groupBy(
            some.filter(({ isOpen }) => isOpen),
            idOf,
          ),
        ],
        calls.maxValues,
      )) {
        const records = await calls.search(object, { field: null, values: chunk.map(([id]) => id), fields });
        for (const [id, sharing] of chunk) {
          for (const job of sharing) {
            if ('kind' in records) job.end(records);
            else {
              const record = records.find((each) => each.id.toLowerCase() === id.toLowerCase());
              if (record !== undefined) byJob.set(job, record);
            }
          }
        }
      }
      return byJob;
    }
  }
  return found;
}
