import { itemForm, droppedBy, readingRules, withoutFields } from './item-form.js';

const vote = {
  attendeeId: 7,
  createdAt: 'then',
  session: { id: 2, name: 'Keynote', type: 'qna', links: { admin: 'x' } },
  question: { id: 3, content: 'Why?', status: 'approved' },
};
const contentOf = (list: string, fields: object): string => itemForm(list, { ...fields }, 'with').content;

describe('the form of an item', () => {
  it.each([
    ['the name of its session', 'votes', { session: { ...vote.session, name: 'Renamed' } }],
    ['the text of its question', 'votes', { question: { ...vote.question, content: 'How?' } }],
    ['the status of its question', 'votes', { question: { ...vote.question, status: 'hidden' } }],
    ['the text of its question', 'answer_ratings', { question: { ...vote.question, content: 'How?' } }],
    ['the name of its session', 'questions', { session: { ...vote.session, name: 'Renamed' } }],
    ['the text of its option', 'poll-mcq-votes', { option: { id: 4, content: 'Other' } }],
  ])('has the same content but other copies if %s changes (%s)', (_what, list, change) => {
    const before = itemForm(list, { ...vote, option: { id: 4, content: 'So' } }, 'with');
    const after = itemForm(list, { ...vote, option: { id: 4, content: 'So' }, ...change }, 'with');
    expect(after.content).toBe(before.content);
    expect(after.copies).not.toBe(before.copies);
    expect(after.payload).not.toBe(before.payload);
  });

  it.each([
    ['its session is replaced', 'votes', { session: { ...vote.session, id: 9 } }],
    ['its question is replaced', 'votes', { question: { ...vote.question, id: 9 } }],
    ['its person is replaced', 'votes', { attendeeId: 8 }],
    ['its own text changes', 'questions', { question: { ...vote.question, content: 'How?' } }],
    ['its own status changes', 'questions', { question: { ...vote.question, status: 'hidden' } }],
    ['a copy becomes anonymous', 'votes', { question: { ...vote.question, anonymous: true } }],
    ['its attendee becomes anonymous', 'poll-quiz-votes', { attendee: { id: 7, anonymous: true } }],
    ['an unknown field appears', 'votes', { weight: 2 }],
  ])('has other content if %s (%s)', (_what, list, change) => {
    expect(contentOf(list, { ...vote, ...change })).not.toBe(contentOf(list, vote));
  });

  it.each([
    ['votes', { createdAt: '2026-11-21T08:00:00Z' }, { createdAt: '2026-11-21T08:00:00.000+00:00' }],
    ['qna-questions', { createdAt: '2026-11-21T08:00:00.5Z' }, { createdAt: '2026-11-21T08:00:00.500Z' }],
    [
      'attendees',
      { signInTime: '2026-11-21T08:00:00Z', consent: { obtained: true, obtainedAt: '2026-11-21T08:00:00Z' } },
      { signInTime: '2026-11-21T09:00:00+01:00', consent: { obtained: true, obtainedAt: '2026-11-21 08:00:00Z' } },
    ],
    ['sessions', { startDate: '2026-11-21T08:00:00+01:00' }, { startDate: '2026-11-21T07:00:00.000Z' }],
  ])('has the same content if the same instants are spelled differently (%s)', (list, before, after) => {
    expect(itemForm(list, after, 'with')).toMatchObject({
      content: contentOf(list, before),
      payload: expect.stringContaining(Object.values(after)[0] as string) as string,
    });
  });

  it.each([
    ['an instant changes', { createdAt: '2026-11-21T08:00:00Z' }, { createdAt: '2026-11-21T08:00:01Z' }],
    ['an instant becomes a date', { startDate: '2026-11-21T00:00:00Z' }, { startDate: '2026-11-21' }],
    ['a text contains an instant', { Note: '2026-11-21T08:00:00Z' }, { Note: '2026-11-21T08:00:00.000Z' }],
    [
      'a text contains a member with an instant',
      { Note: '"createdAt":"2026-11-21T08:00:00Z"' },
      { Note: '"createdAt":"2026-11-21T08:00:00.0Z"' },
    ],
  ])('has other content if %s', (_what, before, after) => {
    expect(contentOf('attendees', after)).not.toBe(contentOf('attendees', before));
  });

  it('never contains links', () => {
    expect(JSON.stringify(itemForm('votes', vote, 'with'))).not.toContain('links');
    expect(itemForm('sessions', { id: 1, links: { admin: 'x' } }, 'with').payload).toBe('{"id":1}');
  });

  it('without the person is the same for every person', () => {
    const forms = [7, 8].map((attendeeId) => itemForm('votes', { ...vote, attendeeId }, 'without'));
    expect(forms[0]).toEqual(forms[1]);
    expect(forms[0]!.payload).not.toContain('attendeeId');
  });

  it('keeps a copied value unchanged if it is not an object', () => {
    expect(contentOf('votes', { ...vote, session: null })).not.toBe(contentOf('votes', { ...vote, session: 'none' }));
  });
});

describe('reading rules', () => {
  it('do not depend on the order and repetition of the dropped fields', () => {
    expect(readingRules(['b', 'a', 'b'])).toBe(readingRules(['a', 'b']));
    expect(readingRules(['a'])).not.toBe(readingRules([]));
    expect(readingRules(['a,b'])).not.toBe(readingRules(['a', 'b']));
  });

  it('contain the names of the dropped fields', () => {
    expect(droppedBy(readingRules(['b', 'a "quoted"']))).toEqual(['a "quoted"', 'b']);
    expect(droppedBy(readingRules([]))).toEqual([]);
  });

  it('omit a field only at the top level', () => {
    expect(withoutFields({ a: 1, b: { a: 2 } }, new Set(['a']))).toEqual({ b: { a: 2 } });
  });
});
