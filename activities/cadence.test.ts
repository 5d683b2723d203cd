import type { Intervals } from '../config/config.js';
import { intervalOf, shortest, type StreamFacts, untilNextRead } from './cadence.js';

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

describe('the next read of a stream', () => {
  const dueAt = (interval: number, ref: number, now: number): number => now + untilNextRead(interval, ref, now);

  it('comes at one instant for all streams of a pigeonhole that were read within half an interval', () => {
    const first = dueAt(2000, 7, 10_000);
    const starts = Array.from({ length: 10 }, (_, n) => first - 2000 + n * 100);
    expect(new Set(starts.map((now) => dueAt(2000, 7, now)))).toEqual(new Set([first]));
  });

  it('is at least half an interval away and at most one and a half', () => {
    for (let now = 1_800_000_000_000; now < 1_800_000_006_000; now += 37) {
      expect(untilNextRead(2000, 3, now)).toBeGreaterThanOrEqual(1000);
      expect(untilNextRead(2000, 3, now)).toBeLessThan(3000);
    }
  });

  it('comes at different instants for different pigeonholes', () => {
    expect(new Set([1, 2, 3, 4].map((ref) => dueAt(2000, ref, 10_000) % 2000)).size).toBe(4);
  });

  it('follows the last one by the whole interval where that is longer than a minute', () => {
    expect(untilNextRead(3_600_000, 7, 12_345)).toBe(3_600_000);
  });
});
