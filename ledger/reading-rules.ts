import { canonicalJson } from './canonical-json.js';
import type { Fields } from './item-form.js';

/** Version of what this code makes of an item (what is a copy, what is never kept): to be raised when that changes. */
const readerVersion = 1;

/**
 * The rules under which an item is stored, as a text that is the same for the same rules. Kept with each item: a
 * difference that only these rules make is no change of the item.
 * @param drop names of top-level fields that do not enter the ledger
 */
export function readingRules(drop: readonly string[]): string {
  return canonicalJson([readerVersion, ...[...new Set(drop)].toSorted()]);
}

/** The fields that these rules leave out. */
export function droppedBy(rules: string): string[] {
  return (JSON.parse(rules) as unknown[]).filter((part) => typeof part === 'string');
}

export function withoutFields(fields: Fields, names: ReadonlySet<string>): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !names.has(name)));
}
