import { type ListRef, listPath, listQuery } from './lists.js';

describe('the request of a list', () => {
  const cases: [ListRef, path: string, filters: string][] = [
    [{ list: 'pigeonholes' }, '/v2/pigeonholes', ''],
    [
      { list: 'pigeonholes', filters: { status: ['upcoming', 'live', 'ended'], timezone: 'Asia/Tokyo' } },
      '/v2/pigeonholes',
      '&filter[status]=upcoming,live,ended&filter[timezone]=Asia%2FTokyo',
    ],
    [{ list: 'subscriptions' }, '/v2/subscriptions', ''],
    [
      { list: 'sessions', pigeonholeId: 1, filters: { startsBefore: '2026-11-21T09:30:00+08:00' } },
      '/v2/pigeonholes/1/sessions',
      '&filter[startsBefore]=2026-11-21T09%3A30%3A00%2B08%3A00',
    ],
    [{ list: 'attendees', pigeonholeId: 1 }, '/v2/pigeonholes/1/attendees', ''],
    [{ list: 'questions', pigeonholeId: 1 }, '/v2/pigeonholes/1/questions', ''],
    [
      { list: 'questions', pigeonholeId: 1, filters: { sessionId: 2 } },
      '/v2/pigeonholes/1/questions',
      '&filter[sessionId]=2',
    ],
    [
      { list: 'votes', pigeonholeId: 1, sessionId: 2, filters: { questionId: 3 } },
      '/v2/pigeonholes/1/votes',
      '&filter[sessionId]=2&filter[questionId]=3',
    ],
    [
      { list: 'answer_ratings', pigeonholeId: 1, sessionId: 2, filters: { questionId: 3, ratingBetween: [1, 5] } },
      '/v2/pigeonholes/1/answer_ratings',
      '&filter[sessionId]=2&filter[questionId]=3&filter[ratingBetween]=1,5',
    ],
    [
      { list: 'answers', pigeonholeId: 1, sessionId: 2, filters: { status: ['approved'] } },
      '/v2/pigeonholes/1/answers',
      '&filter[sessionId]=2&filter[status]=approved',
    ],
    [
      { list: 'poll-mcq-votes', pigeonholeId: 1, filters: { attendeeId: 4 } },
      '/v2/pigeonholes/1/poll-mcq-votes',
      '&filter[attendeeId]=4',
    ],
    [
      { list: 'poll-quiz-votes', pigeonholeId: 1, filters: { sessionId: 2, attendeeId: 4 } },
      '/v2/pigeonholes/1/poll-quiz-votes',
      '&filter[sessionId]=2&filter[attendeeId]=4',
    ],
    [
      { list: 'qna-questions', pigeonholeId: 1, filters: { attendeeId: 4 } },
      '/v2/pigeonholes/1/qna-questions',
      '&filter[attendeeId]=4',
    ],
  ];

  it.each(cases)('of %j has the documented path and filters', (list, path, filters) => {
    expect(listPath(list)).toBe(path);
    expect(listQuery(list, null, 300)).toBe(`count=300${filters}`);
  });

  it('leaves out a filter without values', () => {
    expect(listQuery({ list: 'pigeonholes', filters: { status: [] } }, null, 30)).toBe('count=30');
  });

  it('distinguishes a comma inside a value from the comma between two', () => {
    expect(listQuery({ list: 'pigeonholes', filters: { status: ['a,b', 'c'] } }, null, 30)).toContain('=a%2Cb,c');
  });

  it('encodes a cursor, whose base64 may contain characters with a meaning in a query', () => {
    expect(listQuery({ list: 'subscriptions' }, 'a+/b==', 30)).toBe('count=30&cursor=a%2B%2Fb%3D%3D');
  });

  it.each([0, 301, 1.5, Number.NaN])('is rejected with count %p', (count) => {
    expect(() => listQuery({ list: 'subscriptions' }, null, count)).toThrow(RangeError);
  });

  it.each([Number.NaN, 1.5, 2 ** 53])('is rejected with id %p, in the path and in a filter', (id) => {
    expect(() => listPath({ list: 'attendees', pigeonholeId: id })).toThrow(RangeError);
    expect(() => listQuery({ list: 'votes', pigeonholeId: 1, sessionId: id }, null, 30)).toThrow(RangeError);
  });
});
