import type { HeldLine } from './held.js';
import type { Finding } from './judge.js';
import { itemName, releasedLists } from './latest-lines.js';

/** Finds new changes of an item that arrived after one with the same or a higher revision. Ignores repeats. */
export function findDisorder(lines: readonly HeldLine[]): Finding[] {
  const seen = new Set<string>();
  const highest = new Map<string, number>();
  const findings: Finding[] = [];
  for (const line of lines) {
    if (releasedLists.has(line.list) || seen.has(line.id)) continue;
    seen.add(line.id);
    const name = itemName(line);
    const before = highest.get(name) ?? 0;
    if (line.revision <= before) {
      findings.push({ fault: 'outOfOrder', list: line.list, where: `${name}: ${line.revision} after ${before}` });
    }
    highest.set(name, Math.max(before, line.revision));
  }
  return findings;
}
