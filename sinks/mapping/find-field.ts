import type { Fields } from '../sink.js';

/**
 * What a record holds under the first of these names that it has and that holds something. Events name the same profile
 * field differently ("Email", "E-mail", "e mail"), so case, spaces, hyphens and underscores make no difference; a name
 * that is exactly the one asked for goes first. Empty texts and null count as not there.
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

/** What names of one field have in common: `E-mail` and `email` have the same. */
export function fieldKey(name: string): string {
  return name
    .normalize('NFKC')
    .toLowerCase()
    .replaceAll(/[\s\p{Pd}_]/gu, '');
}

function holdsSomething(value: unknown): boolean {
  return value !== undefined && value !== null && !(typeof value === 'string' && value.trim() === '');
}
