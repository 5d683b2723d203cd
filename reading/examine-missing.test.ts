import { filteredSet } from './examine-missing.js';

const of = (list: string, item: { attendeeId?: number | null; payload?: object }) =>
  filteredSet(
    101,
    { list, sessionId: 7 },
    { attendeeId: item.attendeeId ?? null, payload: JSON.stringify(item.payload ?? {}) },
  );

describe('the filtered set of an item', () => {
  it.each(['votes', 'answer_ratings'])('of %s holds the items of one question of the session', (list) => {
    const set = of(list, { payload: { question: { id: 3 } } })!;
    expect(set.ref).toEqual({ list, pigeonholeId: 101, sessionId: 7, filters: { questionId: 3 } });
    expect(set.contains({ question: { id: 3 }, session: { id: 7 } })).toBe(true);
    expect(set.contains({ question: { id: 4 }, session: { id: 7 } })).toBe(false);
    expect(set.contains({ question: { id: 3 }, session: { id: 8 } })).toBe(false);
  });

  it.each(['poll-mcq-votes', 'poll-quiz-votes', 'qna-questions'])('of %s holds the items of one attendee', (list) => {
    const set = of(list, { attendeeId: 5 })!;
    expect(set.ref).toEqual({ list, pigeonholeId: 101, filters: { attendeeId: 5 } });
    expect(set.contains({ attendee: { id: 5 } })).toBe(true);
    expect(set.contains({ attendee: { id: 6 } })).toBe(false);
    expect(set.contains({})).toBe(false);
  });

  it('does not exist if the attendee of an item is unknown, or if the list has no filter by a value that never changes', () => {
    expect(of('qna-questions', {})).toBeUndefined();
    expect(of('votes', {})).toBeUndefined();
    for (const list of ['questions', 'answers', 'attendees', 'sessions']) {
      expect(of(list, { attendeeId: 5, payload: { question: { id: 3 } } })).toBeUndefined();
    }
  });
});
