import type { HeldLine } from './held.js';
import type { Finding, SinkUnderJudgement } from './judge.js';
import { itemName, revisionsOf } from './latest-lines.js';

/** Duplicates in a sink: the same change twice, or the same content as two consecutive changes. */
export function findDuplicates(sink: SinkUnderJudgement): Finding[] {
  const repeated = sink.kind === 'file' ? repeatedLines(sink.lines) : repeatedUnlike(sink.lines);
  return [...repeated, ...saidTwice(sink.lines)];
}

/** A file holds each revision of an item once. */
function repeatedLines(lines: readonly HeldLine[]): Finding[] {
  const seen = new Set<string>();
  const findings: Finding[] = [];
  for (const line of lines) {
    const name = `${itemName(line)} ${line.revision}`;
    if (seen.has(name)) findings.push({ fault: 'duplicated', list: line.list, where: `${name} stands twice` });
    seen.add(name);
  }
  return findings;
}

/**
 * A receiver may receive a change again under its id with the same bytes, except that the repeat may leave out the
 * person. Two ids for one revision are two changes.
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
      findings.push({ fault: 'duplicated', list: line.list, where: `${name} came under two ids` });
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
 * A change says something new. An item without its person is let pass: that its author may be shown from now on is a
 * change too, and it looks the same at a sink that does not accept that author's consent.
 */
function saidTwice(lines: readonly HeldLine[]): Finding[] {
  const findings: Finding[] = [];
  for (const [name, revisions] of revisionsOf(lines)) {
    revisions.forEach((line, index) => {
      const before = revisions[index - 1];
      if (before?.revision !== line.revision - 1) return;
      if (JSON.stringify(before.data) !== JSON.stringify(line.data) || hidesPerson(line)) return;
      findings.push({ fault: 'duplicated', list: line.list, where: `${name} ${line.revision} says what came before` });
    });
  }
  return findings;
}

/** Lists whose items are of a person, who may be left out. */
const personal = new Set([
  'questions',
  'votes',
  'answers',
  'answer_ratings',
  'qna-questions',
  'poll-mcq-votes',
  'poll-quiz-votes',
]);

function hidesPerson({ list, data }: HeldLine): boolean {
  if (!personal.has(list) || data === null) return false;
  const attendee = data['attendee'] as { id?: unknown } | undefined;
  return data['attendeeId'] === undefined && attendee?.id === undefined;
}
