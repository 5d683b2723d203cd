import { fingerprint } from '../kit/compare-with-truth.js';
import type { HeldLine } from './held.js';
import type { Finding } from './judge.js';
import { itemName, revisionsOf } from './latest-lines.js';
import type { Source } from './source.js';

/** Finds deletions that a sink received before the item had left its list. */
export function findFalseDeletions(lines: readonly HeldLine[], { absences }: Source): Finding[] {
  const firstGoneAt = new Map<string, number>();
  for (const { name, goneAt } of absences) {
    firstGoneAt.set(name, Math.min(goneAt, firstGoneAt.get(name) ?? goneAt));
  }
  const findings: Finding[] = [];
  for (const [name, revisions] of revisionsOf(lines)) {
    revisions.forEach((line, index) => {
      if (line.data !== null) return;
      const before = revisions[index - 1];
      // If a deletion is the only change of an item, nothing shows which vote it was.
      if (line.list === 'votes' && before?.data == null) return;
      const gone = firstGoneAt.get(line.list === 'votes' ? printOf(before!) : itemName(line));
      if (gone !== undefined && gone <= Date.parse(line.timestamp)) return;
      findings.push({
        fault: 'falselyDeleted',
        list: line.list,
        where: `${name} ${line.revision} at ${line.timestamp}`,
      });
    });
  }
  return findings;
}

function printOf({ pigeonholeId, list, data }: HeldLine): string {
  return fingerprint(pigeonholeId, list, data ?? {});
}
