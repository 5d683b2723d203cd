/** May the person behind an interaction be shown? `unknown` is treated as anonymous, but may still become named. */
export type Visibility = 'named' | 'anonymous' | 'unknown';

/** The visibility that an item's row in a sink shows. It is part of the content; `unknown` looks like `anonymous`. */
export type EffectiveVisibility = 'named' | 'anonymous';

/** Lists that carry `attendeeId` and no flag of their own: judged from their session, and questions from their twin. */
export const judgedLists: ReadonlySet<string> = new Set(['questions', 'votes', 'answers', 'answer_ratings']);

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
