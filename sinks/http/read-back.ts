import type { Fields, HeldResult, ReadBack } from '../sink.js';
import { fieldsOf } from '../sink.js';
import { MappingError } from '../mapping/mapping-error.js';
import { classifyAnswer, isReadable, type Reading, viewOf } from './classify.js';
import { CONNECTIONS, type HttpClient } from './client.js';
import type { HttpConfig } from './config.js';
import type { HttpOperation, MadeRecord, ReadRequest, Step } from './plan.js';

interface ReadingBack {
  readonly config: HttpConfig;
  readonly client: HttpClient;
  readonly reading: Reading;
  readonly signal: AbortSignal;
  /** Called before each request. Once it returns false, no more requests start. */
  readonly mayBegin: () => boolean;
}

/** A record as `find` found it: its id, and the values that `holds` read. Personal data: kept in memory only. */
interface HeldRecord {
  readonly id: string | number;
  readonly values: Fields;
}

/** The records of an item by the name of their entry; null if there is none. */
type Held = ReadonlyMap<string, HeldRecord | null>;

/** The declared cause of a receiver that refuses `find`. */
const REFUSED = 'http:not-readable';

/** Whether the sink can read back: `find` reads records of at least one entry. */
export function canReadBack({ revisions, records }: HttpConfig): boolean {
  return revisions === 'latest' && records.some(({ find }) => find !== undefined);
}

/** Looks items up with the request `find` of their entries, a few at a time. Only reads, if `find` does. */
export async function readBackItems(
  wanted: readonly ReadBack<HttpOperation>[],
  reading: ReadingBack,
): Promise<HeldResult[]> {
  const results: HeldResult[] = wanted.map(() => ({ kind: 'retry', detail: 'the time for reading has ended' }));
  const entries = wanted.entries(); // shared: each loop continues with the next entry
  let isPaused = false;
  const work = async (): Promise<void> => {
    for (const [at, entry] of entries) {
      if (isPaused || !reading.mayBegin()) return;
      const result = await readOne(entry, reading);
      results[at] = result;
      isPaused ||= result.kind === 'pause' || reading.client.usedUpForMs > 0;
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, work));
  return results;
}

/** Returns the names of the records and properties in which a receiver differs from an operation. Pure. */
export function compareItem({ steps, made }: HttpOperation, held: unknown): string[] {
  const records = held as Held;
  return steps.flatMap(({ record, purpose, read }) => {
    const found = records.get(record);
    if (found === undefined || read === undefined) return [];
    if (isRemoval(purpose)) return found === null ? [] : [record];
    if (found === null) return [record];
    const { id } = made[record] ?? {};
    const properties = Object.entries(found.values).filter(
      ([name, value]) => Object.hasOwn(read.properties, name) && !isSame(value, read.properties[name]),
    );
    const isOther = id !== undefined && String(id) !== String(found.id);
    return [...(isOther ? ['id'] : []), ...properties.map(([name]) => name)].map((name) => `${record}.${name}`);
  });
}

async function readOne(
  { operation, object, expected }: ReadBack<HttpOperation>,
  reading: ReadingBack,
): Promise<HeldResult> {
  const held = new Map<string, HeldRecord | null>();
  const corrected: Record<string, unknown> = { ...object };
  let isCorrected = false;
  const steps = (operation?.steps ?? []).filter((step): step is ReadStep => step.read !== undefined);
  for (const step of steps) {
    const found = await find(step, reading);
    if (found !== null && 'kind' in found) return found;
    held.set(step.record, found);
    const made = fieldsOf(corrected[step.record]) as MadeRecord;
    if (isRemoval(step.purpose) || made.id === undefined) continue;
    if (found === null) Reflect.deleteProperty(corrected, step.record);
    else if (String(found.id) !== String(made.id)) corrected[step.record] = { ...made, id: found.id, found: true };
    else continue;
    isCorrected = true;
  }
  const facts = isCorrected ? { object: Object.keys(corrected).length === 0 ? null : corrected } : {};
  const written = steps.filter(({ purpose }) => !isRemoval(purpose));
  const isExpected = expected === 'absence' ? steps.length > 0 : written.length > 0;
  const isMissing = isExpected && [...held.values()].every((each) => each === null);
  if (isMissing) return { kind: 'missing', ...facts };
  if (operation === null || steps.length === 0) {
    const detail = 'no entry of "records" has a request "find" for this item';
    return { kind: 'unreadable', cause: REFUSED, detail };
  }
  return { kind: 'held', held, ...facts };
}

type ReadStep = Step & { readonly read: ReadRequest };

/** @returns null if the receiver certainly has no record */
async function find(
  { record, read }: ReadStep,
  { config, client, reading, signal }: ReadingBack,
): Promise<HeldRecord | null | Exclude<HeldResult, { kind: 'held' | 'missing' }>> {
  const keys = config.records.find(({ name }) => name === record)!.find!;
  const answer = await client.call(read.request, signal);
  if (answer.kind === 'none') {
    const { result } = answer;
    return result.kind === 'retry' || result.kind === 'pause'
      ? result
      : { kind: 'retry', detail: 'stopped before the record was looked up' };
  }
  if (answer.status === 404) return null;
  const asked = { purpose: 'find', removes: false, items: [null], idFrom: keys.idFrom, label: record } as const;
  const [verdict] = await classifyAnswer(answer, asked, reading);
  switch (verdict!.kind) {
    case 'missing':
      return null;
    case 'retry':
    case 'pause':
      return verdict as Extract<HeldResult, { kind: 'retry' | 'pause' }>;
    case 'rejected':
      return { kind: 'unreadable', cause: REFUSED, detail: (verdict as { detail: string }).detail };
  }
  const { id } = verdict!;
  if (id === undefined) {
    if (isReadable(answer)) return null;
    const detail = `${reading.host} answered "find" with something that is not JSON or is too long (HTTP ${answer.status}): check "url"`;
    return { kind: 'retry', detail };
  }
  try {
    const values = await keys.holds?.evaluate(viewOf(answer, asked), `${reading.name}.holds`);
    return { id, values: fieldsOf(values) };
  } catch (error) {
    if (!(error instanceof MappingError)) throw error;
    return { kind: 'unreadable', cause: REFUSED, detail: error.message };
  }
}

function isRemoval(purpose: Step['purpose']): boolean {
  return purpose === 'delete' || purpose === 'forget';
}

/** Whether a value means the same as the one that was sent: an empty one as null, a number as its text. */
function isSame(one: unknown, other: unknown): boolean {
  return plain(one) === plain(other);
}

function plain(value: unknown): string {
  if (value === undefined || value === null) return '';
  return typeof value === 'object' ? JSON.stringify(value) : String(value as string | number | boolean).trim();
}
