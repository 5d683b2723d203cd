import type { ListName } from '../pigeonhole/lists.js';

/** May the person behind an interaction be shown? `unknown` is treated as anonymous, but may still become named. */
export type Visibility = 'named' | 'anonymous' | 'unknown';

/** The visibility that an item's row in a sink shows. It is part of the content; `unknown` looks like `anonymous`. */
export type EffectiveVisibility = 'named' | 'anonymous';

/**
 * The person in a list's items, which decides who may be sent with them:
 * - `none`: the items show nobody.
 * - `own-record`: an item is a person's own record. Without the person it would be empty, or would connect interactions
 *   that are sent anonymously, so it is sent with its person or not at all.
 * - `flagged`: an interaction with an anonymity flag of its own.
 * - `judged`: an interaction with `attendeeId` and no flag. Its session decides, and for a question its twin.
 */
export type PersonRule = 'none' | 'own-record' | 'flagged' | 'judged';

const personRules: Readonly<Record<ListName | 'engagement' | 'registrants', PersonRule>> = {
  pigeonholes: 'none',
  subscriptions: 'none',
  sessions: 'none',
  attendees: 'own-record',
  engagement: 'own-record',
  registrants: 'own-record',
  questions: 'judged',
  votes: 'judged',
  answer_ratings: 'judged',
  answers: 'judged',
  'poll-mcq-votes': 'flagged',
  'poll-quiz-votes': 'flagged',
  'qna-questions': 'flagged',
};

/** Returns the rule of a list. A list that this version does not know is judged, so that it is sent without a person. */
export function personRuleOf(list: string): PersonRule {
  return Object.hasOwn(personRules, list) ? personRules[list as keyof typeof personRules] : 'judged';
}

const withRule = (rule: PersonRule) =>
  new Set(Object.entries(personRules).flatMap(([list, own]) => (own === rule ? [list] : [])));

export const judgedLists: ReadonlySet<string> = withRule('judged');
export const ownRecords: ReadonlySet<string> = withRule('own-record');

export interface VisibilityFacts {
  /** The session's `anonymousResponses`; undefined while the session, or its setting, is not known. */
  readonly anonymousResponses: boolean | undefined;
  /** For `questions`: the flag of the `qna-questions` item of the same id and session; undefined while not known. */
  readonly questionIsAnonymous: boolean | undefined;
}

/**
 * Fails closed: an interaction is anonymous unless its session is known to take no anonymous responses or, for a
 * question, its own flag says that it is not. A flag that says anonymous wins over a session that says it cannot be.
 * Without a flag a question may still get one (`unknown`); anything else in an anonymous session never will.
 */
export function judgeVisibility(list: string, facts: VisibilityFacts): Visibility {
  if (list === 'questions' && facts.questionIsAnonymous !== undefined) {
    return facts.questionIsAnonymous ? 'anonymous' : 'named';
  }
  if (facts.anonymousResponses === false) return 'named';
  if (facts.anonymousResponses === undefined || list === 'questions') return 'unknown';
  return 'anonymous';
}

export function effective(visibility: Visibility): EffectiveVisibility {
  return visibility === 'named' ? 'named' : 'anonymous';
}
