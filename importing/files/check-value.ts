import { asWritten } from './spreadsheet-safe.js';

/** Characters of a value. The service documents no maximum; a column of a database that holds names has this one. */
export const maxValueLength = 255;

export type ValueNote = 'trimmed' | 'apostrophe-removed';
export type ValueProblem = 'control-character' | 'too-long';

export interface CheckedValue {
  /** What is sent. */
  readonly value: string;
  readonly notes: readonly ValueNote[];
  readonly problem: ValueProblem | undefined;
}

/**
 * A cell's text as it is sent: without white space around it and without the apostrophe that keeps spreadsheets from running it.
 * Line ends within become LF. Control characters are a problem, in a code also line ends, tabs and what is invisible (a code with a
 * zero-width space cannot be typed); names may need invisible joiners (Persian, emoji).
 */
export function checkValue(text: string, isCode: boolean): CheckedValue {
  const notes: ValueNote[] = [];
  const trimmed = text.trim();
  if (trimmed !== text) notes.push('trimmed');
  const written = asWritten(trimmed);
  if (written !== trimmed) notes.push('apostrophe-removed');
  const value = written.includes('\r') ? written.replace(/\r\n?/g, '\n') : written;
  return { value, notes, problem: problemOf(value, isCode) };
}

function problemOf(value: string, isCode: boolean): ValueProblem | undefined {
  if (/\p{Cs}/u.test(value)) return 'control-character'; // half a character, which JSON can hold
  if (isCode ? /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(value) : /[^\P{Cc}\t\n]/u.test(value)) return 'control-character';
  // code points, so that a character beyond the 16-bit plane counts once
  if (value.length > maxValueLength && Array.from(value).length > maxValueLength) return 'too-long';
  return undefined;
}
