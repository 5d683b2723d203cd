import { effective, judgeVisibility, withoutIdentity } from './visibility.js';
import fc from 'fast-check';

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

const marker = 'NADIA';
const identifyingNames = [
  'attendeeId',
  'attendee',
  'attendeeCode',
  'registrantId',
  'Email',
  'e-mail',
  'authorName',
  'userName',
  'user',
  'profileImageUrl',
  'participant',
  'displayName',
  'first_name',
  'createdBy',
  'voterId',
  'phone',
  'linkedIn',
];

/** Generates JSON whose identifying members contain the marker, at any depth. */
const anyItem = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom('text', 1, null, true),
    fc.array(tie('value'), { maxLength: 3 }),
    tie('object'),
  ),
  object: fc
    .tuple(
      fc.dictionary(fc.constantFrom('content', 'session', 'question', '__proto__', 'x'), tie('value'), { maxKeys: 3 }),
      fc.dictionary(fc.constantFrom(...identifyingNames), fc.constantFrom<unknown>(marker, { id: marker }, [marker]), {
        maxKeys: 3,
      }),
    )
    .map(([other, personal]) => ({ ...other, ...personal })),
})).object as fc.Arbitrary<Record<string, unknown>>;

describe('an item without identity', () => {
  it('contains no identifying value, at any depth', () => {
    fc.assert(
      fc.property(anyItem, (item) => {
        expect(JSON.stringify(withoutIdentity(item))).not.toContain(marker);
      }),
    );
  });

  it('stays the same if the identity is removed a second time', () => {
    fc.assert(
      fc.property(anyItem, (item) => {
        const once = withoutIdentity(item);
        expect(withoutIdentity(once)).toEqual(once);
      }),
    );
  });

  it('shows an attendee object only as anonymous, and has no attendeeId', () => {
    const item = { attendeeId: 7, attendee: { id: 7, attendeeCode: 'A7', anonymous: false }, createdAt: 'then' };
    expect(withoutIdentity(item)).toEqual({ attendee: { anonymous: true }, createdAt: 'then' });
  });

  it('keeps the content, the session and the time', () => {
    const item = {
      id: 1,
      createdAt: 'then',
      session: { id: 2, name: 'Keynote', type: 'qna' },
      question: { id: 3, content: 'Why?', status: 'approved' },
      option: { id: 4, content: 'So' },
      answerRating: { id: 5, rate: 4 },
      timeTaken: 6,
    };
    expect(withoutIdentity(item)).toEqual(item);
  });

  it('keeps a member named __proto__', () => {
    const item = JSON.parse('{"__proto__":{"x":1}}') as Record<string, unknown>;
    expect(JSON.stringify(withoutIdentity(item))).toBe('{"__proto__":{"x":1}}');
  });
});
