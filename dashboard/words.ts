import { counted, grouped } from '../base/words.js';

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
