import type { Fields } from '../sink.js';

/**
 * Returns a record's value under the first of these names that has one. Events name the same profile field differently
 * ("Email", "E-mail", "e mail"), so case, spaces, hyphens and underscores make no difference; an exact match has
 * priority. Empty texts and null count as missing.
 */
export function findField(record: Fields | null, names: readonly string[]): unknown {
  if (record === null) return undefined;
  for (const name of names) {
    const exact = Object.hasOwn(record, name) ? record[name] : undefined;
    if (holdsSomething(exact)) return exact;
    const alike = Object.keys(record).find((each) => fieldKey(each) === fieldKey(name) && holdsSomething(record[each]));
    if (alike !== undefined) return record[alike];
  }
  return undefined;
}

/** Returns the normalized form of a field's name: `E-mail` and `email` have the same. */
export function fieldKey(name: string): string {
  return name
    .normalize('NFKC')
    .toLowerCase()
    .replaceAll(/[\s\p{Pd}_]/gu, '');
}

function holdsSomething(value: unknown): boolean {
  return value !== undefined && value !== null && !(typeof value === 'string' && value.trim() === '');
}
