/** A pigeonhole or a session as the service shows it. */
export interface Shown {
  readonly id: number;
  readonly [field: string]: unknown;
}

/** The fields by which an object is known again when its id is not known. */
export type Looks = Readonly<Record<string, unknown>>;

const telling = { pigeonhole: ['name', 'startDate', 'endDate'], session: ['name', 'type', 'startDate'] } as const;

/** Of what is sent, the fields by which it can be looked up. Pure. */
export function looksOf(kind: 'pigeonhole' | 'session', fields: Readonly<Record<string, unknown>>): Looks {
  return Object.fromEntries(telling[kind].map((field) => [field, fields[field] ?? null]));
}

/** Whether what the service shows is what was sent, as far as that tells. Pure. */
export function looksLike(looks: Looks, shown: Shown): boolean {
  return Object.entries(looks).every(([field, value]) => isSame(value, shown[field]));
}

/** Whether it has the name at least. Pure. */
export function isNamesake(looks: Looks, shown: Shown): boolean {
  return foldText(looks['name']) === foldText(shown['name']);
}

/**
 * Whether two values of a field are the same but for how the service may write them: blanks at the ends and in a row,
 * one instant with another offset, nothing as null or as an empty text. Pure.
 */
export function isSame(sent: unknown, shown: unknown): boolean {
  const [one, other] = [plainValue(sent), plainValue(shown)];
  return one === other || (instantOf(one) !== undefined && instantOf(one) === instantOf(other));
}

function plainValue(value: unknown): unknown {
  if (value === undefined || value === null) return '';
  if (typeof value === 'string') return value.normalize('NFC').replaceAll(/\s+/g, ' ').trim();
  return typeof value === 'object' ? JSON.stringify(value) : value;
}

function instantOf(value: unknown): number | undefined {
  if (typeof value !== 'string' || !/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}/.test(value)) return undefined;
  const at = Date.parse(value);
  return Number.isNaN(at) ? undefined : at;
}

function foldText(value: unknown): string {
  return String(plainValue(value)).toLowerCase();
}

/** A field that the service shows otherwise than the file has it. */
export interface Difference {
  readonly field: string;
  readonly inFile: unknown;
  readonly atService: unknown;
}

/** What the file has otherwise than the service shows it. A field that it does not show cannot be compared. Pure. */
export function findDifferences(fields: Readonly<Record<string, unknown>>, shown: Shown): Difference[] {
  return Object.entries(fields)
    .filter(([field, value]) => shown[field] !== undefined && !isSame(value, shown[field]))
    .map(([field, value]) => ({ field, inFile: value, atService: shown[field] }));
}
