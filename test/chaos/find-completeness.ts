import { fingerprint } from '../kit/compare-with-truth.js';
import type { Finding, SinkUnderJudgement } from './judge.js';
import { itemName, latestLines, releasedLists, revisionsOf } from './latest-lines.js';
import type { Source, TrueItem } from './source.js';

/** Finds items of the source that the sink lacks, and items of the sink that the source no longer shows. */
export function findCompleteness(sink: SinkUnderJudgement, source: Source, deletions: boolean): Finding[] {
  const latest = latestLines(sink.lines);
  const wanted = source.items.filter(({ list, item }) => list !== 'attendees' || sink.accepts(item['consent']));
  const findings: Finding[] = [];

  const shown = new Set<string>();
  for (const item of source.items) {
    if (item.key !== null) shown.add(`${item.pigeonholeId} ${item.list} ${item.key}`);
  }
  for (const { pigeonholeId, list, key, fingerprint: print } of wanted) {
    if (key === null) continue;
    const held = latest.get(`${pigeonholeId} ${list} ${key}`);
    if (held === undefined || held.data === null) {
      findings.push({ fault: 'lost', list, where: `${pigeonholeId} ${key}: ${held ? 'held as deleted' : 'missing'}` });
    } else if (fingerprint(pigeonholeId, list, held.data) !== print) {
      findings.push({
        fault: 'lost',
        list,
        where: `${pigeonholeId} ${key}: held as it was at revision ${held.revision}`,
      });
    }
  }

  const unnamed = countUnnamed(wanted);
  for (const held of latest.values()) {
    if (held.data === null) continue;
    if (held.list === 'votes') {
      const print = fingerprint(held.pigeonholeId, held.list, held.data);
      const left = unnamed.get(print) ?? 0;
      unnamed.set(print, left - 1);
      if (left <= 0 && deletions) findings.push(kept(held));
    } else if (deletions && !shown.has(itemName(held)) && isTold(sink, held)) findings.push(kept(held));
  }
  for (const [print, left] of unnamed) {
    for (let n = 0; n < left; n += 1) findings.push({ fault: 'lost', list: 'votes', where: print });
  }
  return [...findings, ...holes(sink)];
}

function kept(held: { pigeonholeId: number; list: string; key: string; revision: number }): Finding {
  return {
    fault: 'kept',
    list: held.list,
    where: `${held.pigeonholeId} ${held.key}: held at revision ${held.revision}`,
  };
}

/**
 * Whether the sink must receive a change. It receives no further changes of a person whose record it may not receive.
 */
function isTold(
  sink: SinkUnderJudgement,
  held: { list: string; data: Readonly<Record<string, unknown>> | null },
): boolean {
  return held.list !== 'attendees' || sink.accepts(held.data?.['consent']);
}

/** Counts equal votes of the source, because votes have no id. */
function countUnnamed(items: readonly TrueItem[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { key, fingerprint: print } of items) {
    if (key === null) counts.set(print, (counts.get(print) ?? 0) + 1);
  }
  return counts;
}

/** Finds missing revisions in a sink that accepts all items of a list. */
function holes({ lines }: SinkUnderJudgement): Finding[] {
  const findings: Finding[] = [];
  for (const [name, revisions] of revisionsOf(lines)) {
    const { list } = revisions[0]!;
    if (releasedLists.has(list)) continue;
    revisions.forEach(({ revision }, index) => {
      const expected = (revisions[index - 1]?.revision ?? 0) + 1;
      for (let missing = expected; missing < revision; missing += 1) {
        findings.push({ fault: 'lost', list, where: `${name}: no revision ${missing}` });
      }
    });
  }
  return findings;
}
