import type { QuotaState } from '../work/requests/quota.js';
import { operatedSink, viewQuota } from './status-view.js';

const now = Date.parse('2026-11-21T10:00:00Z');
const hour = 3_600_000;
const state: QuotaState = {
  limit: 1000,
  limitReported: true,
  remaining: 400,
  used: 600,
  usedImports: 0,
  usedIdle: 0,
  usedSweeps: 0,
  window: 1,
  resetInMs: 4 * hour,
  planInMs: 4 * hour,
  resetReported: true,
  refusals: 0,
  waitMs: 0,
  exclusiveMs: 0,
};
const needs = { live: 99.5, idle: 30.25, sweep: 20 };

describe('the view of a quota', () => {
  it('shows what is used, left and kept for imports, and when the share for reading runs out', () => {
    expect(viewQuota(state, 0.1, needs, now)).toEqual({
      limit: 1000,
      learnt: false,
      used: 600,
      usedByAll: 600,
      left: 400,
      reserved: 100,
      resetAt: '2026-11-21T14:00:00.000Z',
      nextHour: { live: 100, idle: 31, sweep: 20, all: 150 },
      lastsUntil: new Date(now + (300 / 149.75) * hour).toISOString(),
    });
  });

  it('counts the requests of other programs with the same key', () => {
    expect(viewQuota({ ...state, remaining: 150 }, 0.1, needs, now)).toMatchObject({ used: 600, usedByAll: 850 });
  });

  it('shows no end if the quota lasts until the reset, or if no limit is known', () => {
    expect(viewQuota({ ...state, planInMs: hour }, 0.1, needs, now).lastsUntil).toBeNull();
    expect(viewQuota({ ...state, limit: null, remaining: null }, 0.1, needs, now)).toMatchObject({
      left: null,
      reserved: 0,
      lastsUntil: null,
    });
  });

  it('shows nothing left while the service refuses requests, and no reset that the service did not report', () => {
    const refused = { ...state, remaining: null, waitMs: 1000, resetReported: false, limitReported: false };
    expect(viewQuota(refused, 0.1, needs, now)).toMatchObject({ left: 0, resetAt: null, learnt: true });
  });
});

describe('the view of an observing sink', () => {
  it('adds up the lanes, and lists the reasons of withholding with the largest count first, as for other sinks', () => {
    const lane = (wouldWithhold: Readonly<Record<string, number>>) => {
      const place = { sink: 'crm', workspace: 'acme', pigeonholeId: 101 };
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
