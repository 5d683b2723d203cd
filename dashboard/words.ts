/** Formats numbers, spans and instants for people. Pure. */

const minuteS = 60;
const hourS = 60 * minuteS;
const dayS = 24 * hourS;

/** "12 s", "3 min", "5 h", "2 d": uses the largest unit of which there are at least two. @param seconds 0 or more */
export function spanInWords(seconds: number): string {
  if (seconds < 2 * minuteS) return `${Math.round(seconds)} s`;
  if (seconds < 2 * hourS) return `${Math.round(seconds / minuteS)} min`;
  if (seconds < 2 * dayS) return `${Math.round(seconds / hourS)} h`;
  return `${Math.round(seconds / dayS)} d`;
}

/** "12 s ago", "in 3 min", "just now". */
export function whenInWords(atMs: number, nowMs: number): string {
  const seconds = Math.round((atMs - nowMs) / 1000);
  if (Math.abs(seconds) < 1) return 'just now';
  return seconds > 0 ? `in ${spanInWords(seconds)}` : `${spanInWords(-seconds)} ago`;
}

const grouping = new Intl.NumberFormat('en');

/** "20,000". */
export function grouped(n: number): string {
  return grouping.format(n);
}

/** "1 change", "20,000 changes". */
export function counted(n: number, one: string, many = `${one}s`): string {
  return `${grouped(n)} ${n === 1 ? one : many}`;
}

/** "row 7", "1,250 rows (2, 3, 4, …)". @param first the first rows in the order of the file */
export function rowsInWords(rows: number, first: readonly number[]): string {
  const named = first.map(grouped).join(', ');
  return rows === 1 ? `row ${named}` : `${counted(rows, 'row')} (${named}${rows > first.length ? ', …' : ''})`;
}

/**
 * Splits a sentence into instants, in ISO 8601, and the text between them, in order. An instant such as
 * "2026-11-21 09:30 UTC" has no seconds.
 */
export function splitAtInstants(sentence: string): { readonly text: string; readonly instant: boolean }[] {
  return sentence
    .split(/(\d{4}-\d\d-\d\d(?:T\d\d:\d\d:\d\d(?:\.\d+)?Z| \d\d:\d\d UTC))/)
    .map((text, position) => ({
      text: position % 2 === 1 ? text.replace(/ (\d\d:\d\d) UTC$/, 'T$1Z') : text,
      instant: position % 2 === 1,
    }))
    .filter(({ text }) => text !== '');
}

/** Capitalizes a sentence of the API, which starts with a lower-case letter. A command is left unchanged. */
export function capitalized(sentence: string): string {
  if (sentence.startsWith('pigeonpost ')) return sentence;
  return sentence.charAt(0).toUpperCase() + sentence.slice(1);
}
