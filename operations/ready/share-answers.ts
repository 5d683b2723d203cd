/**
 * Shares the result of an expensive request: callers during the request, and within `forMs` after it, receive the same
 * result. A failure is passed to the waiting callers and not cached.
 * @param now milliseconds by a clock that never jumps
 */
export function shareAnswers<Question, Answer>(
  ask: (question: Question) => Promise<Answer>,
  { nameOf, forMs, now }: { nameOf: (question: Question) => string; forMs: number; now: () => number },
): (question: Question) => Promise<Answer> {
  const answers = new Map<string, { readonly answer: Promise<Answer>; until: number }>();
  return async (question) => {
    for (const [name, { until }] of answers) if (until <= now()) answers.delete(name);
    const name = nameOf(question);
    const known = answers.get(name);
    if (known !== undefined) return await known.answer;
    const entry = { answer: ask(question), until: Number.POSITIVE_INFINITY };
    answers.set(name, entry);
    try {
      const answer = await entry.answer;
      entry.until = now() + forMs;
      return answer;
    } catch (error) {
      answers.delete(name);
      throw error;
    }
  };
}
