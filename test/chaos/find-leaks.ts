import type { Item } from '../kit/compare-with-truth.js';
import type { HeldLine } from './held.js';
import type { Finding, SinkUnderJudgement } from './judge.js';
import { latestLines } from './latest-lines.js';
import type { Source } from './source.js';

/** Lists whose items and twins do not show whether they are anonymous. */
const judgedBySession: ReadonlySet<string> = new Set(['votes', 'answers', 'answer_ratings']);

/** Finds people in items that the source shows as anonymous, and records whose consent the sink does not accept. */
export function findLeaks(sink: SinkUnderJudgement, source: Source): Finding[] {
  const anonymousSessions = new Set(
    source.items
      .filter(({ list, item }) => list === 'sessions' && item['anonymousResponses'] === true)
      .map(({ pigeonholeId, item }) => `${pigeonholeId} ${String(item['id'])}`),
  );
  const flags = new Map<string, boolean>();
  for (const { pigeonholeId, list, key, item } of source.items) {
    const flag = (item['attendee'] as { anonymous?: unknown } | undefined)?.anonymous;
    if (flag !== undefined) flags.set(`${pigeonholeId} ${list} ${key}`, flag === true);
  }
  /** The twin decides for a question, and the session for an item without a flag. Deleted items are not judged. */
  const isAnonymous = ({ pigeonholeId, list, key, data }: HeldLine): boolean => {
    if (!judgedBySession.has(list)) {
      return flags.get(`${pigeonholeId} ${list === 'questions' ? 'qna-questions' : list} ${key}`) === true;
    }
    const session = (data?.['session'] as Item | undefined)?.['id'];
    return anonymousSessions.has(`${pigeonholeId} ${String(session)}`);
  };
  return [...latestLines(sink.lines).values()].flatMap((line): Finding[] => {
    const where = `${line.pigeonholeId} ${line.key}: revision ${line.revision}`;
    if (line.list === 'attendees') {
      const refused = line.data !== null && !sink.accepts(line.data['consent']);
      return refused ? [{ fault: 'leaked', list: line.list, where }] : [];
    }
    return showsPerson(line) && isAnonymous(line) ? [{ fault: 'leaked', list: line.list, where }] : [];
  });
}

function showsPerson({ data }: HeldLine): boolean {
  const attendee = data?.['attendee'] as { id?: unknown; attendeeCode?: unknown } | undefined;
  return data?.['attendeeId'] !== undefined || attendee?.id !== undefined || attendee?.attendeeCode !== undefined;
}
