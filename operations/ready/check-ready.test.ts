import type { ReadingPlan } from '../../reading/reading-plan.js';
import { judgeQuota, judgeSink, shareAnswers } from './check-ready.js';

const hour = 3_600_000;
const today = Date.parse('2026-11-21T00:00:00Z');
const now = today + 18 * hour;

function asking() {
  const asked: string[] = [];
  let at = 0;
  const ask = shareAnswers(
    async (name: string) => {
      asked.push(name);
      if (name === 'bad') throw new Error('not now');
      return `${name} ${asked.length}`;
    },
    { nameOf: (name) => name, forMs: 10, now: () => at },
  );
  return { ask, asked, pass: (ms: number) => (at += ms) };
}

describe('a shared answer', () => {
  it('is used for concurrent requests and for requests within 10 ms', async () => {
    const { ask, asked, pass } = asking();
    expect(await Promise.all([ask('a'), ask('a'), ask('b')])).toEqual(['a 1', 'a 1', 'b 2']);
    pass(9);
    expect(await ask('a')).toBe('a 1');
    pass(1);
    expect(await ask('a')).toBe('a 3');
    expect(asked).toEqual(['a', 'b', 'a']);
  });

  it('is not stored if the request fails', async () => {
    const { ask, asked } = asking();
    await expect(ask('bad')).rejects.toThrow('not now');
    await expect(ask('bad')).rejects.toThrow('not now');
    expect(asked).toHaveLength(2);
  });
});

describe('the check of a destination', () => {
  it('is ok if all its lines are, and otherwise reports the failed lines', () => {
    const good = { ok: true, text: 'the token is taken' };
    const bad = { ok: false, text: 'there is no property "eventId"' };
    expect(judgeSink('crm', 'hubspot', [good])).toEqual([
      { id: 'sink:crm', label: 'Sink crm (hubspot)', state: 'ok', says: good.text },
    ]);
    expect(judgeSink('crm', 'hubspot', [good, bad])).toMatchObject([{ state: 'failed', says: bad.text }]);
  });

  it('has a line of its own for each warning, so that none is read as part of a success', () => {
    const warned = (text: string) => ({ ok: true, warning: true, text }) as const;
    const lines = [warned('names are replaced'), { ok: true, text: 'the token is taken' }, warned('old versions stay')];
    expect(judgeSink('crm', 'hubspot', lines)).toMatchObject([
      { id: 'sink:crm', state: 'ok', says: 'the token is taken' },
      { id: 'sink:crm:1', state: 'warning', says: 'names are replaced' },
      { id: 'sink:crm:2', state: 'warning', says: 'old versions stay' },
    ]);
  });
});

describe('the quota on the days of an event', () => {
  const everyMs = { live: 10_000, new: hour, upcoming: hour, ended: 6 * hour, sweep: hour, lists: {} };
  const plan = { lists: ['attendees'], everyMs, drop: {}, sinks: new Map() } as unknown as ReadingPlan;
  const days = (from: number, to: number) => ({ startsAt: today + from * 24 * hour, endsAt: today + to * 24 * hour });
  const planned = (event: { startsAt: number; endsAt: number }) => ({
    status: 'upcoming',
    event,
    sessions: new Map(),
    expectedParticipants: null,
    plan,
  });
  const facts = { event: days(1, 2), pigeonholes: [planned(days(1, 2))], workspacePlans: [], reserve: 0.1, now };

  it.each<[string, Partial<Parameters<typeof judgeQuota>[0]>, string, RegExp]>([
    ['is ok if it suffices', { limit: 20_000 }, 'ok', /2026-11-22, needs about 8,640 .* it fits/],
    ['fails if it does not suffice', { limit: 9000 }, 'failed', /reading may use 8,100 of 9,000/],
    [
      'gets a warning if the service does not report it',
      { limit: null },
      'warning',
      /needs about 8,640 requests; the service does not report/,
    ],
    ['gets a warning if the event has no days', { event: { startsAt: null, endsAt: null } }, 'warning', /not known/],
    ['is ok if the event is over', { event: days(-3, -1) }, 'ok', /is over/],
  ])('%s', (_, given, state, says) => {
    const check = judgeQuota({ ...facts, limit: 20_000, ...given });
    expect([check.state, check.says]).toEqual([state, expect.stringMatching(says)]);
  });

  it('counts only the days of the event, not the demand of later events', () => {
    const others = Array.from({ length: 20 }, () => planned(days(9, 10)));
    expect(judgeQuota({ ...facts, limit: 20_000, pigeonholes: [...facts.pigeonholes, ...others] }).state).toBe('ok');
  });

  it('includes the demand of another event on the same day', () => {
    const other = planned(days(1, 2));
    expect(judgeQuota({ ...facts, limit: 15_000, pigeonholes: [...facts.pigeonholes, other] }).state).toBe('failed');
  });
});
