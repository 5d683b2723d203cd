import type { ListReading } from './lateness.js';

export const now = new Date('2026-11-21T10:00:00.000Z');
export const minute = 60_000;

export function secondsAgo(seconds: number): Date {
  return new Date(now.getTime() - seconds * 1000);
}

/** Returns a live list that is not late, with what a test changes. */
export function listReading(given: Partial<ListReading>): ListReading {
  return {
    list: 'questions',
    sessionId: null,
    reason: 'live',
    everyMs: 5000,
    wantedMs: given.everyMs === undefined ? 5000 : given.everyMs,
    readAt: secondsAgo(3),
    dueAt: secondsAgo(-2),
    ...given,
  };
}
