import { canonicalJson } from './canonical-json.js';
import type { Fields } from './item-form.js';
import type { KeyedHash } from './keyed-hash.js';
import type { SeenItem } from './seen-item.js';

/** The derived list of who took part how much: per attendee and session, and per attendee and pigeonhole. */
export const engagementList = 'engagement';

/** Version of the rule by which is counted; to be raised when it changes, for everything is then counted anew. */
export const engagementRule = 1;

/** Lists whose named items count. `questions` does not: `qna-questions` has the same ones, each with its flag. */
export const countedLists = [
  'qna-questions',
  'poll-mcq-votes',
  'poll-quiz-votes',
  'answers',
  'votes',
  'answer_ratings',
] as const;

/** Of these, those whose items answer a prompt that the session offered. */
export const promptLists = ['poll-mcq-votes', 'poll-quiz-votes'] as const;

/** Interactions named as evidence, the first of them: later ones never take the place of those that were named. */
export const mostEvidence = 100;

/** Longer ones are cut: an index takes no entry beyond 2,700 bytes, and an id is an integer by the specification. */
const longestPrompt = 200;

/**
 * SQL for the prompt that an interaction answers: the id of its question, as text.
 * @param payload an SQL expression, made readable (`readableJson`)
 */
export function promptOf(payload: string): string {
  return `left(${payload} -> 'question' ->> 'id', ${longestPrompt})`;
}

/** What one attendee did in a session, or (null) in the whole pigeonhole. */
export interface Engagement {
  readonly attendeeId: number;
  readonly sessionId: number | null;
  readonly asked: number;
  /** Questions of polls, however many options were chosen. */
  readonly answered: number;
  readonly responded: number;
  readonly voted: number;
  readonly rated: number;
  readonly offered: number;
  /** `<list>:<key>`. */
  readonly evidence: readonly string[];
}

/** As an item of its list: always of a person who may be shown, since nothing else is counted. */
export function toEngagementItem(hash: KeyedHash, engagement: Engagement): SeenItem {
  const { attendeeId, sessionId } = engagement;
  return {
    key: hash.rowKey(canonicalJson([engagementList, attendeeId, sessionId])),
    sessionId,
    attendeeId,
    saysAnonymous: null,
    consent: null,
    visibility: 'named',
    fields: fieldsOf(engagement),
  };
}

function fieldsOf({ attendeeId, sessionId, offered, evidence, ...done }: Engagement): Fields {
  const { asked, answered, responded, voted, rated } = done;
  return {
    scope: sessionId === null ? 'pigeonhole' : 'session',
    attendeeId,
    ...(sessionId !== null && { sessionId }),
    interactions: asked + answered + responded + voted + rated,
    asked,
    answered,
    responded,
    voted,
    rated,
    offered,
    evidence,
    rule: engagementRule,
  };
}
