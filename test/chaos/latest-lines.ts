import type { HeldLine } from './held.js';

/** `pigeonhole list key`: what identifies an item at a sink. */
export function itemName({ pigeonholeId, list, key }: Pick<HeldLine, 'pigeonholeId' | 'list' | 'key'>): string {
  return `${pigeonholeId} ${list} ${key}`;
}

/** The line with the highest revision of each item, by `itemName`. */
export function latestLines(lines: readonly HeldLine[]): Map<string, HeldLine> {
  const latest = new Map<string, HeldLine>();
  for (const line of lines) {
    const name = itemName(line);
    if ((latest.get(name)?.revision ?? 0) < line.revision) latest.set(name, line);
  }
  return latest;
}

/** The lines of each item in the order of their revisions, each revision once. */
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
 * Lists whose records a sink may be refused and given later, out of turn: people without consent, pigeonholes that
 * nobody had selected. Holes and lateness are right there.
 */
export const releasedLists: ReadonlySet<string> = new Set(['attendees', 'pigeonholes']);
