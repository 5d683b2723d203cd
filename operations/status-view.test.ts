import type { QuotaState } from '../requests/quota.js';
import { operatedSink, viewQuota } from './status-view.js';

const now = Date.parse('2026-11-21T10:00:00Z');
const hour = 3_600_000;
const state: QuotaState = {
  limit: 1000,
  remaining: 400,
  used: 600,
  usedImports: 0,
  usedIdle: 0,
  usedSweeps: 0,
  window: 1,
  resetInMs: 4 * hour,
  askInMs: null,
  asks: 0,
};
const inHour = { live: 99.5, idle: 30.25, sweep: 20 };
const needs = { hour: inHour, window: { live: 398, idle: 121, sweep: 80 } };
/** Needs that fit into the window. */
const few = { hour: inHour, window: inHour };

describe('the view of a quota', () => {
  it('shows what is used, left and kept for imports, and how much longer intervals become so that it lasts', () => {
    expect(viewQuota(state, 0.1, needs, now)).toEqual({
      limit: 1000,
      used: 600,
      usedByAll: 600,
      left: 400,
      reserved: 100,
      resetAt: '2026-11-21T14:00:00.000Z',
      nextHour: { live: 100, idle: 31, sweep: 20, all: 150 },
      lengthens: { live: 1.5, idle: 8.1, sweep: 5.3 },
      lastsUntil: null,
    });
  });

  it('counts the requests of other programs with the same key', () => {
    expect(viewQuota({ ...state, remaining: 150 }, 0.1, needs, now)).toMatchObject({ used: 600, usedByAll: 850 });
  });

  it('shows no end if the quota lasts until the reset, or if no limit is known', () => {
    const asConfigured = { lastsUntil: null, lengthens: { live: 1, idle: 1, sweep: 1 } };
    expect(viewQuota(state, 0.1, few, now)).toMatchObject(asConfigured);
    expect(viewQuota({ ...state, limit: null, remaining: null }, 0.1, needs, now)).toMatchObject({
      left: null,
      reserved: 0,
      ...asConfigured,
    });
  });

  it('counts only what reading still asks for when it says how long the quota lasts', () => {
    // Intervals are lengthened at most a hundredfold: 10,000 requests become 100, of which 5 are left.
    const many = { hour: inHour, window: { live: 10_000, idle: 0, sweep: 0 } };
    const view = viewQuota({ ...state, remaining: 105 }, 0.1, many, now);
    expect(view).toMatchObject({
      lengthens: { live: 100, idle: 1, sweep: 1 },
      lastsUntil: new Date(now + 0.05 * 4 * hour).toISOString(),
    });
  });

  it('shows nothing left while the service refuses requests, and no reset that the service did not report', () => {
    const refused = { ...state, remaining: 0, resetInMs: null, askInMs: 1000 };
    const asConfigured = { live: 1, idle: 1, sweep: 1 };
    expect(viewQuota(refused, 0.1, needs, now)).toMatchObject({ left: 0, resetAt: null, lengthens: asConfigured });
  });
});

describe('the view of an observing sink', () => {
  it('adds up the lanes, and lists the reasons of withholding with the largest count first, as for other sinks', () => {
    const lane = (wouldWithhold: Readonly<Record<string, number>>) => {
      const place = { sink: 'crm', workspace: 'acme', pigeonholeId: 101, configuration: 1 };
      return { ...place, behind: 1, wouldSend: 2, wouldSendAnonymously: 0, wouldWithhold };
    };
    const observed = [lane({ condition: 2, 'no-match': 3 }), lane({ 'consent-refused': 9, 'no-match': 4 })];
    const { observation } = operatedSink('crm', 'observe', { observed, approvals: [], replays: [] });
    expect(observation).toMatchObject({ wouldSend: 4, behind: 2 });
    expect(Object.entries(observation!.wouldWithhold)).toEqual([
      ['consent-refused', 9],
      ['no-match', 7],
      ['condition', 2],
    ]);
  });
});
