import { checkItems } from './page.js';
import { type ServiceListName, pigeonholeLists, workspaceLists } from '../base/lists.js';

/** One documented item per list, each with an unknown field. */
const documented: Record<ServiceListName, Record<string, unknown>> = {
  pigeonholes: { id: 1, name: 'Day', status: 'a status never seen', links: { admin: 'x' }, extra: 1 },
  subscriptions: { id: 1, name: 'Team', extra: 1 },
  sessions: { id: 1, type: 'a type never seen', anonymousResponses: true, extra: 1 },
  attendees: { Name: 'Ann', id: 1, registrantId: 2, consent: { obtained: true, extra: 1 }, twitter: null },
  questions: { attendeeId: 1, createdAt: 'x', session: { id: 1 }, question: { id: 2, content: 'why', extra: 1 } },
  votes: { attendeeId: null, createdAt: 'x', session: { id: 1 }, question: { id: 2 }, extra: 1 },
  answer_ratings: { attendeeId: 1, question: { id: 2 }, answerRating: { id: 3, rate: 4 }, extra: 1 },
  answers: { attendeeId: 1, answer: { id: 3, content: 'word' }, extra: 1 },
  'poll-mcq-votes': { id: 1, attendee: { id: 2, anonymous: true }, option: { id: 3 }, extra: 1 },
  'poll-quiz-votes': { id: 1, timeTaken: 5, attendee: { id: 2, attendeeCode: 'A1' }, extra: 1 },
  'qna-questions': { id: 1, content: 'why', attendee: { id: 2, anonymous: false }, extra: 1 },
};

describe('the items of a page', () => {
  it.each([...pigeonholeLists, ...workspaceLists])('of %s are returned as the same objects', (list) => {
    const item = documented[list];
    const checked = checkItems(list, [item]);
    expect(checked.items[0]).toBe(item);
    expect(checked.irregular).toEqual([]);
  });

  it.each([...pigeonholeLists, ...workspaceLists])('of %s are kept and reported if they lack their id', (list) => {
    const { items, irregular } = checkItems(list, [documented[list], { other: 'Ann' }]);
    expect(items).toHaveLength(2);
    expect(irregular).toMatchObject([{ index: 1, lacksIdentity: true }]);
  });

  it('are reported by field and expectation, without the value', () => {
    const { irregular } = checkItems('qna-questions', [{ id: 1, attendee: { id: 2, anonymous: 'Ann' } }]);
    expect(irregular).toEqual([{ index: 0, problem: 'attendee.anonymous: expected boolean', lacksIdentity: false }]);
  });

  it.each([2 ** 53, 1.5, '7', null])('have no identity if the id is %p', (id) => {
    expect(checkItems('attendees', [{ id }]).irregular).toMatchObject([{ lacksIdentity: true }]);
    expect(checkItems('answers', [{ answer: { id } }]).irregular).toMatchObject([{ lacksIdentity: true }]);
  });

  it('that are not objects are reported and left out, and the other indexes are right', () => {
    const { items, irregular } = checkItems('attendees', [null, 'Ann', [], { id: 'x' }, { id: 1 }]);
    expect(items).toEqual([{ id: 'x' }, { id: 1 }]);
    expect(irregular.map(({ index }) => index)).toEqual([null, null, null, 0]);
  });
});
