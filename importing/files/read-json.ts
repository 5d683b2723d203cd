import { columnsOf, type Table, RowBatch } from './table.js';
import type { TextKind } from './find-format.js';
import { plainDecimal } from './plain-decimal.js';
import { readLimits } from './read-limits.js';
import { RegistrantFileError, type Finding, type RawRow } from './registrant-file.js';
import { splitElements } from './split-json.js';

/** An element with its number from 1; `fields` is undefined if it is not an object. */
interface Element {
  readonly number: number;
  readonly fields: Readonly<Record<string, unknown>> | undefined;
}

/**
 * Reads the objects of a JSON list or NDJSON as rows. The columns are the fields of the first 4 MiB of elements, in
 * order of appearance. A field that first appears later is reported for its row, so that nothing is lost silently.
 * @param bytes UTF-8 without a byte order mark
 * @throws {RegistrantFileError} if the text is not JSON, not a list, or has no objects
 */
export async function readJson(bytes: AsyncIterable<Buffer>, kind: Exclude<TextKind, 'csv'>): Promise<Table> {
  const source = elements(bytes, kind);
  const first: Element[] = [];
  const names = new Set<string>();
  let looked = 0;
  while (looked < readLimits.fieldSearchBytes) {
    const next = await source.next();
    if (next.done === true) break;
    const { element, size } = next.value;
    first.push(element);
    looked += size;
    for (const name of Object.keys(element.fields ?? {})) names.add(name);
    if (names.size > readLimits.columns) break; // refused below
  }
  if (first.length === 0) throw new RegistrantFileError('empty', 'The JSON list is empty; export it again.');
  if (names.size === 0)
    throw new RegistrantFileError(
      'not-a-table',
      'The JSON list holds no objects with fields; give one object for each registrant.',
    );
  const fields = [...names];
  return { columns: columnsOf(named(fields)), rows: batches(fields, first, source) };
}

/** Names fields with an empty name, because `columnsOf` drops empty names at the end. */
function named(fields: readonly string[]): string[] {
  return fields.map((field, index) => (field.trim() === '' ? `(column ${index + 1})` : field));
}

async function* elements(
  bytes: AsyncIterable<Buffer>,
  kind: Exclude<TextKind, 'csv'>,
): AsyncGenerator<{ element: Element; size: number }, void, undefined> {
  let number = 0;
  for await (const text of splitElements(bytes, kind)) {
    number++;
    yield { element: { number, fields: fieldsOf(text, number) }, size: text.length };
  }
}

function fieldsOf(text: Buffer, number: number): Readonly<Record<string, unknown>> | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text.toString('utf8'));
  } catch {
    // without the parser's error as cause, because its message quotes the text
    throw new RegistrantFileError(
      'damaged',
      `Element ${number.toLocaleString('en')} is not valid JSON; correct or export it again.`,
    );
  }
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : undefined;
}

async function* batches(
  fields: readonly string[],
  first: Element[],
  rest: AsyncGenerator<{ element: Element; size: number }, void, undefined>,
): AsyncGenerator<readonly RawRow[], void, undefined> {
  const known = new Set(fields);
  const batch = new RowBatch();
  try {
    for (const element of first.splice(0)) {
      const full = batch.add(rowOf(element, fields, known));
      if (full !== undefined) yield full;
    }
    for await (const { element } of rest) {
      const full = batch.add(rowOf(element, fields, known));
      if (full !== undefined) yield full;
    }
  } finally {
    await rest.return();
  }
  const last = batch.take();
  if (last.length > 0) yield last;
}

function rowOf(element: Element, fields: readonly string[], known: ReadonlySet<string>): RawRow {
  const row = element.number + 1;
  const object = element.fields;
  if (object === undefined) {
    return { row, values: fields.map(() => ''), findings: [{ column: null, kind: 'not-an-object' }] };
  }
  const findings: Finding[] = [];
  const values = fields.map((field, column) => {
    const value = Object.hasOwn(object, field) ? object[field] : null;
    const { text, finding } = textOf(value);
    if (finding !== undefined) findings.push({ column, kind: finding });
    return text;
  });
  const late = Object.entries(object).some(([field, value]) => !known.has(field) && value !== null && value !== '');
  if (late) findings.push({ column: null, kind: 'late-field' });
  return findings.length === 0 ? { row, values } : { row, values, findings };
}

function textOf(value: unknown): { text: string; finding?: Finding['kind'] } {
  switch (typeof value) {
    case 'string':
      return { text: value };
    case 'boolean':
      return { text: String(value) };
    case 'number': {
      if (!Number.isFinite(value)) return { text: '', finding: 'digits-lost' }; // 1e999
      const { text, digitsLost } = plainDecimal(value);
      return digitsLost ? { text, finding: 'digits-lost' } : { text };
    }
    default:
      return value === null ? { text: '' } : { text: '', finding: 'nested-value' };
  }
}
