import type { ReadingPlan } from '../../work/reading-plan.js';
import type { Config } from '../../config/config.js';
import { ApiError } from '../../pigeonhole/api-error.js';
import { Expression } from '../../sinks/mapping/expression.js';
import { judgeConsent, judgeFields } from './judge-people.js';
import { judgeQuota, judgeSink } from './check-ready.js';
import { judgeService } from './judge-event.js';

const hour = 3_600_000;
const today = Date.parse('2026-11-21T00:00:00Z');
const now = today + 18 * hour;

describe('the consent check of a sink', () => {
  it.each<[string, { list: string; items: number; withheld: Record<string, number> }[], string, string]>([
    [
      'counts the people whom the sink accepts',
      [{ list: 'attendees', items: 20_000, withheld: {} }],
      'ok',
      'will send 20,000 attendees, withhold 0',
    ],
    [
      'counts the people who refused',
      [{ list: 'attendees', items: 1, withheld: { 'consent-refused': 1200 } }],
      'ok',
      'will send 1 attendee, withhold 1,200 (1,200 have refused)',
    ],
    [
      'warns if nobody has answered yet',
      [{ list: 'registrants', items: 0, withheld: { 'consent-not-known': 20_000 } }],
      'warning',
      'will send 0 registrants, withhold 20,000 (20,000 have not said yet); it accepts consent obtained',
    ],
    ['is ok if no attendee was read yet', [], 'ok', 'no attendee has been read yet; it accepts consent obtained'],
  ])('%s', (_, counts, state, says) => {
    expect(judgeConsent('crm', ['obtained'], counts)).toMatchObject({ id: 'consent:crm', state, says });
  });
});

describe('the check of a destination', () => {
  it('is ok if all its lines are, and otherwise reports the failed lines', () => {
    const good = { ok: true, text: 'the token is taken' };
    const bad = { ok: false, text: 'there is no property "eventId"' };
    expect(judgeSink('crm', 'hubspot', [good])).toMatchObject({ id: 'sink:crm', state: 'ok', says: good.text });
    expect(judgeSink('crm', 'hubspot', [good, bad])).toMatchObject({ state: 'failed', says: bad.text });
  });
});

describe('the check of the event in the service', () => {
  const event = { status: 'upcoming', startDate: '2026-11-22', endDate: '2026-11-23', timezone: 'UTC' };
  const failure = (kind: 'transient' | 'credential'): ApiError =>
    new ApiError({ method: 'GET', path: '/x' }, { kind, problem: 'it is refused', mayHaveTakenEffect: false });

  it.each<[string, Parameters<typeof judgeService>[0], string]>([
    ['is ok if the event is upcoming', { item: event, failure: null }, 'ok'],
    ['warns if the event has ended', { item: { ...event, status: 'ended' }, failure: null }, 'warning'],
    [
      'warns if the days of the event have passed',
      { item: { ...event, startDate: '2026-11-01', endDate: '2026-11-02' }, failure: null },
      'warning',
    ],
    ['warns if the event has no days', { item: { status: 'new' }, failure: null }, 'warning'],
    ['is unknown if the request fails', { item: event, failure: failure('transient') }, 'unknown'],
    ['fails if the service refuses the key', { item: event, failure: failure('credential') }, 'failed'],
  ])('%s', (_, asked, state) => {
    expect(judgeService(asked, now).state).toBe(state);
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

describe('the profile fields of an event', () => {
  const configWith = (text: string): Config => {
    const email = new Expression(text);
    email.standsAt({ line: 34, key: 'sinks.crm.records[0].properties.email' });
    return {
      syncs: { all: { workspace: 'acme', pigeonholes: {}, sinks: ['crm'] } },
      sinks: {
        crm: {
          type: 'hubspot',
          settings: { records: [{ from: 'attendees', properties: { email: { value: email } } }] },
        },
      },
    } as unknown as Config;
  };
  const known = { workspace: 'acme', pigeonholeId: 101, profile: ['E-mail', 'Name'], seen: new Map() };

  it.each<[string, string, readonly string[], string, RegExp]>([
    ['are ok if mappings read them', 'item.Name', known.profile, 'ok', /"E-mail", "Name"; the mappings find all/],
    [
      'get a warning if they have another name',
      'item.Email',
      known.profile,
      'warning',
      /reads item.Email.*seen: "E-mail"/,
    ],
    ['are ok if the service sets them', 'item.consent.obtained', known.profile, 'ok', /find all/],
    ['get a warning if none is known', 'item.Email', [], 'warning', /nobody was imported/],
    ['are ok if no mapping reads any', '"constant"', [], 'ok', /no mapping reads any/],
  ])('%s', (_, text, profile, state, says) => {
    const check = judgeFields(configWith(text), { ...known, profile });
    expect([check.state, check.says]).toEqual([state, expect.stringMatching(says)]);
  });
});
