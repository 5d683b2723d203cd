import { isDeepStrictEqual } from 'node:util';
import type { Item } from '../kit/compare-with-truth.js';
import { factsOf } from '../kit/list-facts.js';
import type { HeldLine } from './held.js';
import type { Finding, SinkUnderJudgement } from './judge.js';
import { latestLines } from './latest-lines.js';
import type { Source } from './source.js';

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
    const facts = factsOf(list);
    if (facts === undefined) return false;
    if (facts.flagIn !== null) return flags.get(`${pigeonholeId} ${facts.flagIn} ${key}`) === true;
    if (facts.shows !== 'an author without a flag') return false;
    const session = (data?.['session'] as Item | undefined)?.['id'];
    return anonymousSessions.has(`${pigeonholeId} ${String(session)}`);
  };
  return [...latestLines(sink.lines).values()].flatMap((line): Finding[] => {
    const where = `${line.pigeonholeId} ${line.key}: revision ${line.revision}`;
    if (line.list === 'attendees') {
      const allowed = line.data === null || sink.accepts(line.data['consent']) || consentedLater(line, sink, source);
      return allowed ? [] : [{ fault: 'leaked', list: line.list, where }];
    }
    return showsPerson(line) && isAnonymous(line) ? [{ fault: 'leaked', list: line.list, where }] : [];
  });
}

/**
 * Whether, after the service first showed the consent in this line, the person gave one that the sink accepts.
 * pigeonpost decides by the consent at the time of sending, so a sink that lagged behind may receive the older
 * revision. Compares the order of states and not times, because the clock of the worker jumps.
 */
function consentedLater({ pigeonholeId, key, data }: HeldLine, sink: SinkUnderJudgement, source: Source): boolean {
  const changes = source.consents.filter((each) => each.pigeonholeId === pigeonholeId && String(each.id) === key);
  const states = [...changes.slice(0, 1).map(({ from }) => from), ...changes.map(({ to }) => to)];
  const shown = states.findIndex((state) => isDeepStrictEqual(state, data?.['consent']));
  return shown !== -1 && states.slice(shown).some((state) => sink.accepts(state));
}

function showsPerson({ data }: HeldLine): boolean {
  const attendee = data?.['attendee'] as { id?: unknown; attendeeCode?: unknown } | undefined;
  return data?.['attendeeId'] !== undefined || attendee?.id !== undefined || attendee?.attendeeCode !== undefined;
}
