import type { HeldLine } from './held.js';

/** Returns `pigeonhole list key`, which identifies an item in a sink. */
export function itemName({ pigeonholeId, list, key }: Pick<HeldLine, 'pigeonholeId' | 'list' | 'key'>): string {
  return `${pigeonholeId} ${list} ${key}`;
}

/** Returns the line with the highest revision of each item, by `itemName`. */
export function latestLines(lines: readonly HeldLine[]): Map<string, HeldLine> {
  const latest = new Map<string, HeldLine>();
  for (const line of lines) {
    const name = itemName(line);
    if ((latest.get(name)?.revision ?? 0) < line.revision) latest.set(name, line);
  }
  return latest;
}

/** Returns the lines of each item, ordered by revision, each revision once. */
export function revisionsOf(lines: readonly HeldLine[]): Map<string, HeldLine[]> {
  const items = new Map<string, Map<number, HeldLine>>();
  for (const line of lines) {
    const revisions = items.get(itemName(line)) ?? new Map<number, HeldLine>();
    revisions.set(line.revision, line);
    items.set(itemName(line), revisions);
  }
  return new Map(
    [...items].map(([name, revisions]) => [name, [...revisions.values()].toSorted((a, b) => a.revision - b.revision)]),
  );
}

/**
 * Lists whose records may be withheld first and sent later, out of order: people without consent and unselected
 * pigeonholes. Missing revisions and delays are correct there.
 */
export const releasedLists: ReadonlySet<string> = new Set(['attendees', 'pigeonholes']);
