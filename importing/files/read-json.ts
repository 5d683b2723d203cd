import { columnsOf, type Table } from './table.js';
import { inPortions } from './row-portions.js';
import { plainDecimal } from './plain-decimal.js';
import { RegistrantFileError, type Finding, type RawRow, readLimits } from './registrant-file.js';
import { type JsonKind, splitElements } from './json-elements.js';

/** An element with its number from 1. */
export interface Element {
  readonly number: number;
  /** Undefined: the element is not an object. */
  readonly object:
    | {
        readonly fields: Readonly<Record<string, unknown>>;
        /** Whether it has a field twice, of which only the last is in `fields`. */
        readonly isRepeated: boolean;
      }
    | undefined;
}

/**
 * Reads the objects of a JSON list or NDJSON as rows. The columns are the fields of the first 4 MiB of elements, in
 * order of appearance. A field that first appears later is reported for its row, so that nothing is lost silently.
 * @param bytes UTF-8 without a byte order mark
 * @throws {RegistrantFileError} if the text is not JSON, not a list, or has no objects
 */
export async function readJson(bytes: AsyncIterable<Buffer>, kind: JsonKind): Promise<Table> {
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
    for (const name of Object.keys(element.object?.fields ?? {})) names.add(name);
    if (names.size > readLimits.columns) break; // refused below
  }
  if (first.length === 0) throw new RegistrantFileError('empty', 'The JSON list is empty; export it again.');
  if (names.size === 0)
    throw new RegistrantFileError(
      'not-a-table',
      'The JSON list holds no objects with fields; give one object for each registrant.',
    );
  const fields = [...names];
  return { columns: columnsOf(named(fields)), rows: inPortions(rowsOf(fields, first, source)) };
}

/** Gives a name to each field whose name is empty, because `columnsOf` drops empty names at the end. */
function named(fields: readonly string[]): string[] {
  return fields.map((field, index) => (field.trim() === '' ? `(column ${index + 1})` : field));
}

async function* elements(
  bytes: AsyncIterable<Buffer>,
  kind: JsonKind,
): AsyncGenerator<{ element: Element; size: number }, void, undefined> {
  let number = 0;
  for await (const text of splitElements(bytes, kind)) {
    number++;
    yield { element: { number, object: objectOf(text, number) }, size: text.length };
  }
}

function objectOf(text: Buffer, number: number): Element['object'] {
  const json = text.toString('utf8');
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    // without the parser's error as cause, because its message quotes the text
    throw new RegistrantFileError(
      'damaged',
      `Element ${number.toLocaleString('en')} is not valid JSON; correct or export it again.`,
    );
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  return { fields: value as Record<string, unknown>, isRepeated: membersOf(json) > Object.keys(value).length };
}

/** Counts the members of a valid JSON object, so that a name that it has twice is noticed. */
function membersOf(json: string): number {
  let members = 0;
  let depth = 0;
  for (let at = 0; at < json.length; at++) {
    const character = json[at];
    if (character === '"') {
      at = json.indexOf('"', at + 1);
      while (isEscaped(json, at)) at = json.indexOf('"', at + 1);
    } else if (character === '{' || character === '[') depth++;
    else if (character === '}' || character === ']') depth--;
    else if (character === ':' && depth === 1) members++;
  }
  return members;
}

function isEscaped(json: string, at: number): boolean {
  let backslashes = 0;
  while (json[at - 1 - backslashes] === '\\') backslashes++;
  return backslashes % 2 === 1;
}

async function* rowsOf(
  fields: readonly string[],
  first: Element[],
  rest: AsyncGenerator<{ element: Element; size: number }, void, undefined>,
): AsyncGenerator<RawRow, void, undefined> {
  const known = new Set(fields);
  try {
    for (const element of first.splice(0)) yield rowOf(element, fields, known);
    for await (const { element } of rest) yield rowOf(element, fields, known);
  } finally {
    await rest.return();
  }
}

function rowOf(element: Element, fields: readonly string[], known: ReadonlySet<string>): RawRow {
  const row = element.number + 1;
  if (element.object === undefined) {
    return { row, values: fields.map(() => ''), findings: [{ column: null, kind: 'not-an-object' }] };
  }
  const { fields: object, isRepeated } = element.object;
  const findings: Finding[] = isRepeated ? [{ column: null, kind: 'repeated-field' }] : [];
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
