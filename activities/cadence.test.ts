import type { Intervals } from '../config/config.js';
import { intervalOf, shortest, type StreamFacts } from './cadence.js';

const every: Intervals = { live: 1, new: 2, upcoming: 3, ended: 4, sweep: 5, lists: { votes: 6, pigeonholes: 7 } };
const facts = (more: Partial<StreamFacts>): StreamFacts => ({
  list: 'attendees',
  sessionType: undefined,
  status: 'live',
  ...more,
});

describe('the interval of a stream', () => {
  it.each<[Partial<StreamFacts>, number]>([
    [{ status: 'live' }, 1],
    [{ status: 'new' }, 2],
    [{ status: 'upcoming' }, 3],
    [{ status: 'ended' }, 4],
    [{ status: null }, 1], // not known yet
    [{ status: 'postponed' }, 1], // never heard of
    [{ list: 'votes', sessionType: 'qna' }, 6],
    [{ list: 'votes', sessionType: undefined }, 6],
    [{ list: 'votes', sessionType: 'qna', status: 'ended' }, 4],
    [{ list: 'votes', sessionType: 'poll_quiz' }, 5],
    [{ list: 'answers', sessionType: 'poll_word_cloud' }, 1],
    [{ list: 'answers', sessionType: 'qna' }, 5],
    [{ list: 'answer_ratings', sessionType: 'break' }, 5],
    [{ list: 'poll-quiz-votes', sessionType: undefined }, 1],
    [{ list: 'pigeonholes', status: null }, 7],
    [{ list: 'subscriptions', status: null }, 5],
  ])('with %j is number %i', (more, expected) => {
    expect(intervalOf(facts(more), every)).toBe(expected);
  });

  it('of the list of pigeonholes is a minute unless set', () => {
    expect(intervalOf(facts({ list: 'pigeonholes' }), { ...every, lists: {} })).toBe(60_000);
  });
});

describe('the intervals of several syncs', () => {
  const one = { live: 10, new: 100, upcoming: 50, ended: 70, sweep: 90, lists: {} };

  it('are the shortest of each', () => {
    expect(shortest([one, { ...one, live: 20, new: 30, sweep: 95 }])).toEqual({ ...one, new: 30 });
  });

  it('let a sync that reads a list rarely slow down no other', () => {
    const rare = { ...one, lists: { votes: 500, attendees: 5, pigeonholes: 600_000 } };
    expect(shortest([rare, one]).lists).toEqual({ votes: 10, attendees: 5, pigeonholes: 60_000 });
    expect(shortest([rare]).lists).toEqual(rare.lists);
  });
});
