import type { Intervals } from '../config/config.js';
import { noWindow, type StreamFacts } from './cadence.js';
import { demandBetween } from './demand.js';
import { unstretched } from '../requests/quota-rules.js';

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;
const every: Intervals = {
  live: 10_000,
  new: hour,
  upcoming: 5 * minute,
  ended: 6 * hour,
  sweep: 30 * minute,
  lists: {},
};
const now = Date.parse('2026-11-21T10:00:00Z');
const facts = (more: Partial<StreamFacts>): StreamFacts => ({
  list: 'attendees',
  sessionType: undefined,
  session: noWindow,
  status: 'live',
  event: noWindow,
  lastChangeAt: null,
  quietReads: 10,
  pages: 1,
  isUnordered: false,
  sweptAt: now,
  endedAt: null,
  rehearsalUntil: null,
  stretch: unstretched,
  ...more,
});

describe('the demand of a stream', () => {
  it.each<[string, Partial<StreamFacts>, number, { live: number; idle: number; sweep: number }]>([
    ['is its live polls, which sweep a single page', {}, hour, { live: 360, idle: 0, sweep: 0 }],
    [
      'is its live polls, and a page of the rolling sweep for each',
      { pages: 50 },
      hour,
      { live: 360, idle: 0, sweep: 360 },
    ],
    [
      'is ten pages for each read if its walks have shown no order, with the priority of polls',
      { pages: 50, isUnordered: true },
      hour,
      { live: 3600, idle: 0, sweep: 0 },
    ],
    [
      'is all pages for each read of a shorter list in no order',
      { pages: 3, isUnordered: true },
      hour,
      { live: 1080, idle: 0, sweep: 0 },
    ],
    [
      'is all pages for each poll of up to five pages of questions',
      { list: 'qna-questions', pages: 4 },
      hour,
      { live: 360, idle: 0, sweep: 1440 },
    ],
    [
      'is half of the pages for each poll of more questions',
      { list: 'questions', pages: 6 },
      hour,
      { live: 360, idle: 0, sweep: 1080 },
    ],
    [
      'is its idle polls and complete sweeps before the event',
      { status: 'upcoming', pages: 4 },
      hour,
      { live: 0, idle: 12, sweep: 8 },
    ],
    [
      'is one more sweep if one is due',
      { status: 'upcoming', pages: 4, sweptAt: null },
      hour,
      { live: 0, idle: 12, sweep: 12 },
    ],
    [
      'is the sum for an hour of session with its margins and for the rest of the day',
      { list: 'votes', sessionType: 'qna', session: { startsAt: now + 5 * hour, endsAt: now + 6 * hour } },
      day,
      { live: (100 * minute) / 10_000, idle: (day - 100 * minute) / (5 * minute), sweep: 0 },
    ],
    [
      'is a few polls and the final sweeps after the end',
      { status: 'ended', endedAt: now, pages: 3, sweptAt: now - minute },
      7 * day,
      { live: 0, idle: 8, sweep: 9 },
    ],
    [
      'is nothing when dormant',
      { status: 'ended', endedAt: now - 8 * day, sweptAt: now - hour },
      day,
      { live: 0, idle: 0, sweep: 0 },
    ],
  ])('%s', (_, more, lengthMs, expected) => {
    const needs = demandBetween(facts(more), every, now, now + lengthMs);
    expect(needs.live).toBeCloseTo(expected.live, 5);
    expect(needs.sweep).toBeCloseTo(expected.sweep, 5);
    expect(Math.abs(needs.idle - expected.idle)).toBeLessThanOrEqual(1.05); // The schedule splits the span at these instants.
  });
});
