import { effective, judgeVisibility } from './visibility.js';

describe('the visibility of an interaction', () => {
  it.each([
    // list, anonymousResponses of its session, flag of its `qna-questions` item
    ['questions', undefined, undefined, 'unknown'],
    // the `qna-questions` item may still say that the question is not anonymous
    ['questions', true, undefined, 'unknown'],
    ['questions', false, undefined, 'named'],
    ['questions', undefined, false, 'named'],
    ['questions', true, false, 'named'],
    ['questions', false, true, 'anonymous'],
    ['questions', undefined, true, 'anonymous'],
    ['votes', undefined, undefined, 'unknown'],
    ['votes', true, undefined, 'anonymous'],
    ['votes', false, undefined, 'named'],
    ['answers', true, undefined, 'anonymous'],
    ['answers', false, undefined, 'named'],
    ['answer_ratings', undefined, undefined, 'unknown'],
    ['answer_ratings', true, undefined, 'anonymous'],
    ['votes', true, false, 'anonymous'], // the flag of a question does not apply to its votes
    ['votes', undefined, false, 'unknown'],
  ] as const)(
    'of %s with anonymousResponses %s and flag %s is %s',
    (list, anonymousResponses, questionIsAnonymous, expected) => {
      expect(judgeVisibility(list, { anonymousResponses, questionIsAnonymous })).toBe(expected);
    },
  );

  it('shows a person only if it is "named"', () => {
    expect([effective('named'), effective('anonymous'), effective('unknown')]).toEqual([
      'named',
      'anonymous',
      'anonymous',
    ]);
  });
});
