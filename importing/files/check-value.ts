import { type PlainCode, maxValueLength } from './checked-row.js';
import { asWritten } from '../../base/sheets/spreadsheet-safe.js';

/** Kinds of fields whose values are judged differently. */
export type ValueKind = 'code' | 'name' | 'email' | 'phone' | 'other';

export interface CheckedValue {
  /** The value to send. */
  readonly value: string;
  /** Codes of changes to the value, and of what is remarkable about it. */
  readonly notes: readonly PlainCode[];
  readonly problem: PlainCode | undefined;
}

/**
 * One `@` between a local part and a domain with a dot, without delimiters of address lists. Wider than what mail
 * servers accept, so that only clear mistakes are refused.
 */
const emailAddress = /^[^\s@<>(),;:"]+@[^\s@<>(),;:"]+\.[^\s@<>(),;:".]+$/;

/** Kinds in which a character that cannot be seen is never meant. Names may need joiners (Persian, emoji). */
const plainKinds: ReadonlySet<ValueKind> = new Set(['code', 'email', 'phone']);

/** Characters without a shape of their own: zero-width ones, direction marks, soft hyphens, no-break spaces, fillers. */
const invisible = /[\p{Default_Ignorable_Code_Point}\p{Cf}\u00a0\u2007\u202f]/gu;

/**
 * Normalizes a cell's text for sending and judges it. Trims it, removes protections against spreadsheets (an apostrophe,
 * `="00123"`) and invisible characters, and converts line ends to LF. Values that a spreadsheet has destroyed are
 * problems, unless an apostrophe or a formula marks them as text. In a code, so are line ends and tabs.
 */
export function checkValue(text: string, kind: ValueKind): CheckedValue {
  const notes: PlainCode[] = [];
  const trimmed = text.trim();
  if (trimmed !== text) notes.push('trimmed');
  const visible = plainKinds.has(kind) ? trimmed.replaceAll(invisible, '').trim() : trimmed;
  if (visible !== trimmed) notes.push('invisible-removed');
  const written = asWritten(visible);
  if (written !== visible) notes.push('apostrophe-removed');
  const quoted = written === visible ? quotedText(written) : undefined;
  if (quoted !== undefined) notes.push('formula-removed');
  const isText = written !== visible || quoted !== undefined;
  let value = (quoted ?? written).replaceAll(/\r\n?/g, '\n');
  if (!isText && (kind === 'code' || kind === 'phone') && /^\d+\.0+$/.test(value)) {
    value = value.slice(0, value.indexOf('.'));
    notes.push('decimals-removed');
  }
  const problem = problemOf(value, kind) ?? (isText ? undefined : destroyed(value, kind)) ?? formProblem(value, kind);
  if (problem === undefined) notes.push(...remarksOn(value, kind));
  return { value, notes, problem };
}

/** Returns the text of a formula that only protects it from the spreadsheet: `="00123"`. */
function quotedText(value: string): string | undefined {
  return /^=\s*"((?:[^"]|"")*)"$/.exec(value)?.[1]?.replaceAll('""', '"').trim();
}

function problemOf(value: string, kind: ValueKind): PlainCode | undefined {
  if (/\p{Cs}/u.test(value)) return 'control-character'; // a lone surrogate, which JSON allows
  if (kind === 'code' ? /[\p{Cc}\p{Zl}\p{Zp}]/u.test(value) : /[^\P{Cc}\t\n]/u.test(value)) return 'control-character';
  // code points, so that a surrogate pair counts once
  if (value.length > maxValueLength && Array.from(value).length > maxValueLength) return 'too-long';
  return undefined;
}

function formProblem(value: string, kind: ValueKind): PlainCode | undefined {
  return kind === 'email' && value !== '' && !emailAddress.test(value) ? 'no-email-address' : undefined;
}

/** Errors as spreadsheets write them in their languages, and a column too narrow for its numbers. */
const errorText = /^(#(N\/[ABDV]|NV|[¡¿]?[\p{Lu}/0]{3,}[!?])|#{3,}|Err:\d{3})$/u;

/** Only spreadsheets write a sign and two digits of exponent: `4,687E+17` was a long number, and `1E5` may be a code. */
const scientific = /^[+-]?\d([.,]\d+)?E[+-]\d{2,3}$/i;

const formula = /^[=＝]\s*(\$?[A-Z]{1,3}\$?\d|[A-ZÄÖÜ.]+\(|["'\d(+-].*[&+*/()-])/iu;

/** Numbers after whose 15th digit everything is 0, because spreadsheets keep no more. */
const roundedNumber = /^\d{15}0{3,}$/;

const placeholders: ReadonlySet<string> = new Set([
  'nan',
  'null',
  'none',
  'nil',
  'undefined',
  'n/a',
  'n.a.',
  'tba',
  'tbd',
  '-',
  '--',
  '\u2013',
  '\u2014',
  '?',
  '#',
]);

/** Returns what a spreadsheet has probably done to a value that is stored as text. */
function destroyed(value: string, kind: ValueKind): PlainCode | undefined {
  if (errorText.test(value)) return 'error-cell';
  if (scientific.test(value)) return 'scientific-number';
  if (kind !== 'other' && formula.test(value)) return 'formula';
  if (kind !== 'code') return undefined;
  if (isDate(value)) return 'date-in-code';
  if (roundedNumber.test(value)) return 'digits-lost';
  return placeholders.has(value.toLowerCase()) ? 'placeholder' : undefined;
}

/** Months as spreadsheets abbreviate them in their languages. */
const month =
  '(jan|feb|mar|mrz|m\u00e4r|m\u00e4rz|apr|may|mai|maj|jun|juni|jul|juli|aug|sep|sept|oct|okt|out|nov|dec|dez|' +
  'janv|f\u00e9vr|mars|avr|juin|juil|ao\u00fbt|d\u00e9c|ene|abr|ago|dic|gen|mag|giu|lug|set|ott|mrt|mei|fev)';
const clock = '([ T]\\d{1,2}:\\d{2}(:\\d{2}(\\.\\d+)?)?( ?[AP]M)?Z?)?';
const dates = [
  `\\d{1,2}[-. ]{1,2}${month}\\.?([-. ]{1,2}\\d{2,4})?`,
  `${month}\\.?[- ]\\d{2}(\\d{2})?`,
  `(0?[1-9]|[12]\\d|3[01])([./-])(0?[1-9]|[12]\\d|3[01])\\2(19|20)\\d{2}${clock}`,
  `(0?[1-9]|[12]\\d|3[01])/(0?[1-9]|[12]\\d|3[01])/\\d{2}${clock}`,
  `(19|20)\\d{2}([./-])(0?[1-9]|1[0-2])([./-])(0?[1-9]|[12]\\d|3[01])${clock}`,
  '[34]\\d{4}[.,]\\d{3,}', // days since 1900, with a time of day
].map((form) => new RegExp(`^${form}$`, 'i'));

/** Whether a spreadsheet has probably made a date of the value. They never write months in capitals only. */
function isDate(value: string): boolean {
  if (/\p{L}/u.test(value) && value === value.toUpperCase() && !/\d:\d/.test(value)) return false;
  return dates.some((form) => form.test(value));
}

/** Letters of other alphabets that look like Latin ones. */
const lookAlikes = /^[АВЕЅІЈКМНОРСТУХаеѕіјорсухΑΒΕΖΗΙΚΜΝΟΡΤΥΧο]+$/u;

function remarksOn(value: string, kind: ValueKind): PlainCode[] {
  const remarks: PlainCode[] = [];
  if (/&(#\d{2,6}|#x[\da-f]{2,6}|[a-z]{2,8});/i.test(value)) remarks.push('html-codes');
  if (kind !== 'code') return remarks;
  if (isHardToType(value)) remarks.push('hard-to-type');
  if (/^\d+[.,]\d+$/.test(value)) remarks.push('decimal-code');
  return remarks;
}

function isHardToType(code: string): boolean {
  if (/[\u2010-\u201f\u2212\u2000-\u200a]/u.test(code) || code.normalize('NFKC') !== code) return true;
  const letters = code.replaceAll(/\P{L}/gu, '');
  return (
    lookAlikes.test(letters) ||
    (/\p{Script=Latin}/u.test(letters) && /[\p{Script=Cyrillic}\p{Script=Greek}]/u.test(letters))
  );
}
