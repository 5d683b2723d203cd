import type { ServiceListName } from '../base/list-names.js';

/**
 * Whether sinks may see the identity of the person who created an item. `unknown` is treated as anonymous, but may
 * still become named.
 */
export type Visibility = 'named' | 'anonymous' | 'unknown';

/** The visibility that sinks see. It is part of the item's content. `unknown` counts as `anonymous`. */
export type EffectiveVisibility = 'named' | 'anonymous';

/**
 * How the items of a list relate to a person. This decides whether an item is sent, and whether with the person's
 * identity:
 * - `none`: the items show nobody.
 * - `own-record`: an item is a person's own record. Without the identity, it would be empty, or would connect
 *   interactions that are sent anonymously. It is therefore sent with the identity or not at all.
 * - `flagged`: an interaction with an anonymity flag of its own.
 * - `judged`: an interaction with `attendeeId` and no flag. Its session decides; for an item of `questions`, also the
 *   `qna-questions` item with the same id.
 */
export type PersonRule = 'none' | 'own-record' | 'flagged' | 'judged';

const personRules: Readonly<Record<ServiceListName | 'engagement' | 'registrants', PersonRule>> = {
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

/**
 * Returns the rule of a list. A list that this version does not know is `judged`, so that it is sent without the
 * identity.
 */
export function personRuleOf(list: string): PersonRule {
  return Object.hasOwn(personRules, list) ? personRules[list as keyof typeof personRules] : 'judged';
}

const withRule = (rule: PersonRule) =>
  new Set(Object.entries(personRules).flatMap(([list, own]) => (own === rule ? [list] : [])));

export const judgedLists: ReadonlySet<string> = withRule('judged');
export const ownRecords: ReadonlySet<string> = withRule('own-record');

export interface VisibilityFacts {
  /** The session's `anonymousResponses`; undefined if the session or its setting is not known yet. */
  readonly anonymousResponses: boolean | undefined;
  /**
   * For `questions`: the flag of the `qna-questions` item with the same id and session; undefined if it is not known
   * yet.
   */
  readonly questionIsAnonymous: boolean | undefined;
}

/**
 * Decides the visibility of an interaction. It is `named` only if its session is known not to accept anonymous
 * responses or, for a question, if its own flag says so. A question's flag takes precedence over its session. A
 * question without a flag is `unknown`, because the flag may still arrive; any other interaction in a session with
 * anonymous responses is `anonymous`. Pure.
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
