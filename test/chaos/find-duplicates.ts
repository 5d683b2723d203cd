import { authoredLists } from '../kit/list-facts.js';
import type { HeldLine } from './held.js';
import type { Finding, SinkUnderJudgement } from './judge.js';
import { itemName, revisionsOf } from './latest-lines.js';

/** Finds duplicates in a sink: the same change twice, or two consecutive changes with the same content. */
export function findDuplicates(sink: SinkUnderJudgement): Finding[] {
  const repeated = sink.kind === 'file' ? repeatedLines(sink.lines) : repeatedUnlike(sink.lines);
  return [...repeated, ...saidTwice(sink.lines)];
}

/** Finds revisions of an item that occur more than once in a file. */
function repeatedLines(lines: readonly HeldLine[]): Finding[] {
  const seen = new Set<string>();
  const findings: Finding[] = [];
  for (const line of lines) {
    const name = `${itemName(line)} ${line.revision}`;
    if (seen.has(name)) findings.push({ fault: 'duplicated', list: line.list, where: `${name} occurs twice` });
    seen.add(name);
  }
  return findings;
}

/**
 * Finds repeats with different bytes. A receiver may receive a change again with the same id and bytes; only the person
 * may be missing in the repeat. Two ids for one revision are two changes.
 */
function repeatedUnlike(lines: readonly HeldLine[]): Finding[] {
  const texts = new Map<string, string>();
  const ids = new Map<string, string>();
  const findings: Finding[] = [];
  for (const line of lines) {
    const name = `${itemName(line)} ${line.revision}`;
    const text = JSON.stringify(line);
    const before = texts.get(line.id);
    if (before !== undefined && text !== before && text !== withoutPerson(before)) {
      findings.push({ fault: 'duplicated', list: line.list, where: `${name} arrived again with other bytes` });
    }
    texts.set(line.id, text);
    const id = ids.get(name);
    if (id !== undefined && id !== line.id) {
      findings.push({ fault: 'duplicated', list: line.list, where: `${name} arrived under two ids` });
    }
    ids.set(name, line.id);
  }
  return findings;
}

function withoutPerson(text: string): string {
  const line = JSON.parse(text) as HeldLine;
  const { attendeeId: _, attendee, ...data } = line.data ?? {};
  return JSON.stringify({ ...line, data: attendee === undefined ? data : { attendee: { anonymous: true }, ...data } });
}

/**
 * Finds consecutive changes with the same content. Ignores items without a person: if their author becomes visible,
 * this is a change, but it looks the same in a sink that does not accept the author's consent.
 */
function saidTwice(lines: readonly HeldLine[]): Finding[] {
  const findings: Finding[] = [];
  for (const [name, revisions] of revisionsOf(lines)) {
    revisions.forEach((line, index) => {
      const before = revisions[index - 1];
      if (before?.revision !== line.revision - 1) return;
      if (JSON.stringify(before.data) !== JSON.stringify(line.data) || hidesPerson(line)) return;
      findings.push({
        fault: 'duplicated',
        list: line.list,
        where: `${name} ${line.revision} repeats the previous content`,
      });
    });
  }
  return findings;
}

const authored: ReadonlySet<string> = new Set(authoredLists);

function hidesPerson({ list, data }: HeldLine): boolean {
  if (!authored.has(list) || data === null) return false;
  const attendee = data['attendee'] as { id?: unknown } | undefined;
  return data['attendeeId'] === undefined && attendee?.id === undefined;
}
