import type { ProblemFacts } from '../problem-traits.js';
import type { AlertCode } from '../problems.js';
import type { NewAlertMessage } from './alert-store.js';
import { alertText } from './alert-text.js';

const since = new Date('2026-11-21T09:30:15Z');
const page = 'https://pigeonpost.example.com';

function message(code: AlertCode, subject: string, facts: ProblemFacts, kind: NewAlertMessage['kind'] = 'raised') {
  return { code, subjects: [subject], facts, kind, since };
}

const pausedAt = '2026-11-21T08:00:00.000Z';
const byCause = (cause: string): ProblemFacts => ({ pausedBy: 'cause', cause, pausedAt });
const quota = {
  left: 1200,
  limit: 10_000,
  lastsUntil: '2026-11-21T11:00:00.000Z',
  resetAt: '2026-11-22T00:00:00.000Z',
};
const failing = { problem: 'sink-failing', oldestAt: pausedAt, backlog: 7, retryAt: '2026-11-21T10:05:00.000Z' };
const ended = { pigeonhole: 'acme/101', state: 'ended', created: 4998, confirmed: 2 };

describe('the text of a message', () => {
  it.each<[ReturnType<typeof message>, string, RegExp, RegExp | null, string]>([
    [
      message('sink-paused', 'crm', byCause('credential')),
      'The destination of sink crm refuses its credentials',
      /^The sink has been paused since 2026-11-21 08:00 UTC\. It keeps its backlog\.$/,
      /"pigeonpost try-now sink:crm"/,
      '/sink/crm',
    ],
    [
      message('sink-paused', 'crm', byCause('gone')),
      'Sink crm is paused',
      /answered at 2026-11-21 08:00 UTC that it accepts no more changes/,
      /resume sink:crm/,
      '/sink/crm',
    ],
    [
      message('sink-paused', 'crm', byCause('destination')),
      'Sink crm is paused',
      /Since 2026-11-21 08:00 UTC, its destination has not been as pigeonpost left it/,
      /resume sink:crm/,
      '/sink/crm',
    ],
    [
      message('sink-paused', 'crm', byCause('restored')),
      'Sink crm is paused',
      /^The ledger was restored from a backup at 2026-11-21 08:00 UTC/,
      /what a repeated delivery does.*resume sink:crm/,
      '/sink/crm',
    ],
    [
      message('sink-paused', 'crm', byCause('of a later version')),
      'Sink crm is paused',
      /^pigeonpost paused it at 2026-11-21 08:00 UTC/,
      /resume sink:crm/,
      '/sink/crm',
    ],
    [
      message('workspace-paused', 'acme', { pausedBy: 'person', cause: null, pausedAt }),
      'Workspace acme is paused',
      /^An operator paused it at 2026-11-21 08:00 UTC\. pigeonpost reads nothing from it\.$/,
      /"pigeonpost resume workspace:acme"/,
      '/',
    ],
    [
      message('sink-behind', 'crm', { oldestAt: pausedAt, backlog: 1234 }),
      'Sink crm is behind',
      /since 2026-11-21 08:00 UTC\. 1,234 changes wait; nothing is lost\.$/,
      /worker/,
      '/sink/crm',
    ],
    [
      message('sink-behind', 'crm', { oldestAt: pausedAt, backlog: 1 }),
      'Sink crm is behind',
      / 1 change waits; nothing is lost\.$/,
      /worker/,
      '/sink/crm',
    ],
    [
      message('sink-behind', 'crm', { ...failing, cause: 'http:429' }),
      'Sink crm accepts nothing',
      /^Its oldest change has been waiting since 2026-11-21 08:00 UTC\. The destination answers HTTP 429 \(Too Many Requests\)\. 7 changes wait; nothing is lost\. pigeonpost tries again at 2026-11-21 10:05 UTC\.$/,
      /"pigeonpost try-now sink:crm"/,
      '/sink/crm',
    ],
    [
      message('sink-behind', 'crm', { ...failing, cause: 'ECONNREFUSED', retryAt: null }),
      'Sink crm accepts nothing',
      / The destination refused the connection\. 7 changes wait; nothing is lost\. pigeonpost tries again\.$/,
      /"pigeonpost try-now sink:crm"/,
      '/sink/crm',
    ],
    [
      message('sink-behind', 'crm', { ...failing, cause: null }),
      'Sink crm accepts nothing',
      / "pigeonpost status" shows why\. /,
      /"pigeonpost try-now sink:crm"/,
      '/sink/crm',
    ],
    [
      message('sink-behind', 'crm', { oldestAt: pausedAt, backlog: 7, cause: 'no-answer' }),
      'Sink crm is behind',
      / The destination does not answer in time\. 7 changes wait/,
      /worker/,
      '/sink/crm',
    ],
    [
      message('dead-letters', 'crm', { letters: 1 }),
      'Sink crm has refused 1 change',
      /dead letters/,
      /"pigeonpost dead-letters list --sink crm"/,
      '/sink/crm',
    ],
    [
      message('deletions-held', 'acme/101', { items: 1500 }),
      '1,500 deletions in pigeonhole acme/101 wait for an operator',
      /Unusually many items disappeared, which may be a mistake/,
      /"pigeonpost deletions list"/,
      '/sync/acme/101',
    ],
    [
      message('deletions-held', 'acme/101', { items: 1 }),
      '1 deletion in pigeonhole acme/101 waits for an operator',
      /may be a mistake/,
      /confirm or reject/,
      '/sync/acme/101',
    ],
    [
      message('quota-short', 'acme', quota),
      'The request quota of workspace acme is too small for the configured intervals',
      /^1,200 of 10,000 requests are left\. At the present intervals, they last until 2026-11-21 11:00 UTC\. The window ends at 2026-11-22 00:00 UTC\. /,
      /check --estimate/,
      '/',
    ],
    [
      message('quota-short', 'acme', { ...quota, lastsUntil: null, live: 11.5, idle: 20, sweep: 1 }),
      'The request quota of workspace acme is too small for the configured intervals',
      / So that they last, pigeonpost lengthens the intervals of live lists 11\.5 times, other lists 20\.0 times\. /,
      /"every"/,
      '/',
    ],
    [
      message('quota-short', 'acme', { left: null, limit: null, lastsUntil: null, resetAt: null }),
      'The request quota of workspace acme is too small for the configured intervals',
      /^The service does not say how much is left\. Reading/,
      /every/,
      '/',
    ],
    [
      message('quota-used-up', 'acme', { waitUntil: '2026-11-21T10:40:00.000Z' }),
      'The request quota of workspace acme is used up',
      /^pigeonpost reads nothing of the workspace until 2026-11-21 10:40 UTC, then tries again/,
      /"pigeonpost try-now workspace:acme"/,
      '/',
    ],
    [
      message('import-ended', '7', ended, 'happened'),
      'An import into pigeonhole acme/101 has ended',
      /^5,000 registrants created\.$/,
      null,
      '/imports/7',
    ],
    [
      message('import-ended', '7', { ...ended, existing: 3, rejected: 2, conflict: 0, invalid: 1 }, 'happened'),
      'An import into pigeonhole acme/101 has ended',
      /^5,000 registrants created, 3 were there before, 2 rejected, 1 invalid\.$/,
      /"pigeonpost import report 7"/,
      '/imports/7',
    ],
    [
      message('import-ended', '7', { ...ended, created: 1, confirmed: 0, existing: 1 }, 'happened'),
      'An import into pigeonhole acme/101 has ended',
      /^1 registrant created, 1 was there before\.$/,
      null,
      '/imports/7',
    ],
    [
      message('quota-short', 'acme', { ...quota, left: 1 }),
      'The request quota of workspace acme is too small for the configured intervals',
      /^1 of 10,000 requests is left\. /,
      /check --estimate/,
      '/',
    ],
    [
      message('import-ended', '7', { pigeonhole: 'acme/101', state: 'unusable', created: 0 }, 'happened'),
      'A file in a drop folder of pigeonhole acme/101 cannot be used',
      /^No registrant of it was sent\.$/,
      /"pigeonpost import status 7" says why/,
      '/imports/7',
    ],
    [
      message('import-ended', '7', { pigeonhole: 'acme/101', state: 'cancelled', cancelled: 40 }, 'happened'),
      'An import into pigeonhole acme/101 was cancelled',
      /^0 registrants created, 40 cancelled\.$/,
      /import report 7/,
      '/imports/7',
    ],
  ])('describes %j', (told, title, says, todo, place) => {
    const text = alertText(told, page);
    expect(text).toMatchObject({ title, says: expect.stringMatching(says), link: `${page}/#${place}` });
    expect(text.todo).toEqual(todo === null ? null : expect.stringMatching(todo));
    expect(JSON.stringify(text)).not.toMatch(/undefined|null"|NaN/);
  });

  it.each<[AlertCode, string, string]>([
    ['sink-paused', 'crm', 'Sink crm is no longer paused'],
    ['workspace-paused', 'acme', 'Workspace acme is no longer paused'],
    ['sink-behind', 'crm', 'Sink crm is no longer behind: no change waits longer than the limit'],
    ['dead-letters', 'crm', 'Sink crm has fewer dead letters again'],
    ['sink-withholding', 'crm', 'Sink crm no longer withholds what it should send'],
    ['deletions-held', 'acme/101', 'No deletions of pigeonhole acme/101 wait any longer'],
    ['quota-used-up', 'acme', 'The request quota of workspace acme is no longer used up'],
    ['quota-short', 'acme', 'The request quota of workspace acme is sufficient again'],
  ])('reports that %s of %s has ended', (code, subject, title) => {
    const text = alertText(message(code, subject, {}, 'recovered'), null);
    expect(text).toMatchObject({ title, says: 'Since 2026-11-21 09:30 UTC.', todo: null, link: null });
  });
});

const twelve = Array.from({ length: 12 }, (_, n) => `n${n + 1}`);
const names = 'They are n1, n2, n3, n4, n5, n6, n7, n8, n9, n10 and 2 more.';

function textOf(code: AlertCode, kind: NewAlertMessage['kind'], facts: ProblemFacts = {}, subjects = twelve) {
  return alertText({ code, kind, subjects, since, facts }, page);
}

describe('the problem of a message', () => {
  it.each<[string, AlertCode, ProblemFacts]>([
    ['sink-paused', 'sink-paused', {}],
    ['sink-behind', 'sink-behind', { problem: null }],
    ['sink-failing', 'sink-behind', failing],
    ['sink-withholding', 'sink-withholding', {}],
  ])('is %s for %s with %j', (problem, code, facts) => {
    expect(alertText(message(code, 'crm', facts), null).problem).toBe(problem);
  });
});

describe('the text of a message about several subjects', () => {
  it.each<[AlertCode, NewAlertMessage['kind'], ProblemFacts, string, string, RegExp, string]>([
    [
      'sink-paused',
      'raised',
      { pausedBy: 'cause', cause: 'credential' },
      '12 sinks are paused',
      `The credentials of all of them are refused. ${names}`,
      /"pigeonpost status"/,
      '/',
    ],
    [
      'workspace-paused',
      'raised',
      { pausedBy: 'person', cause: null },
      '12 workspaces are paused',
      `Operators paused all of them. ${names}`,
      /"pigeonpost status"/,
      '/',
    ],
    ['sink-paused', 'raised', { pausedBy: 'cause', cause: null }, '12 sinks are paused', names, /status/, '/'],
    ['sink-behind', 'raised', { backlog: 1200 }, '12 sinks are behind', names, /status/, '/'],
    [
      'sink-behind',
      'raised',
      { problem: 'sink-failing', cause: 'http:503' },
      '12 sinks accept nothing',
      `The destination of each answers HTTP 503 (Service Unavailable). ${names}`,
      /status/,
      '/',
    ],
    [
      'dead-letters',
      'raised',
      { letters: 1500 },
      '12 sinks have refused 1,500 changes',
      names,
      /dead-letters list/,
      '/',
    ],
    ['sink-withholding', 'raised', {}, '12 sinks withhold what they should probably send', names, /status/, '/'],
    [
      'deletions-held',
      'raised',
      { items: 2000 },
      '2,000 deletions in 12 pigeonholes wait for an operator',
      names,
      /deletions list/,
      '/',
    ],
    [
      'quota-used-up',
      'raised',
      { waitUntil: '2026-11-21T10:40:00.000Z' },
      'The request quotas of 12 workspaces are used up',
      `pigeonpost reads nothing of them until 2026-11-21 10:40 UTC. ${names}`,
      /status/,
      '/',
    ],
    [
      'quota-short',
      'raised',
      {},
      'The request quotas of 12 workspaces are too small for the configured intervals',
      names,
      /status/,
      '/',
    ],
    ['import-ended', 'happened', {}, '12 imports have ended', names, /import list/, '/imports'],
  ])('describes %s, %s with %j', (code, kind, facts, title, says, todo, place) => {
    const text = textOf(code, kind, facts);
    expect(text).toMatchObject({ title, says, todo: expect.stringMatching(todo), link: `${page}/#${place}` });
  });

  it.each<[AlertCode, string]>([
    ['sink-paused', '12 sinks are no longer paused'],
    ['workspace-paused', '12 workspaces are no longer paused'],
    ['sink-behind', '12 sinks are no longer behind: no change waits longer than the limit'],
    ['dead-letters', '12 sinks have fewer dead letters again'],
    ['sink-withholding', '12 sinks no longer withhold what they should send'],
    ['deletions-held', 'No deletions of 12 pigeonholes wait any longer'],
    ['quota-used-up', 'The request quotas of 12 workspaces are no longer used up'],
    ['quota-short', 'The request quotas of 12 workspaces are sufficient again'],
  ])('reports that %s has ended', (code, title) => {
    expect(textOf(code, 'recovered')).toMatchObject({ title, says: names, todo: null, link: `${page}/#/` });
  });

  it('names every subject if there are only a few', () => {
    expect(textOf('sink-behind', 'raised', {}, ['crm', 'lms']).says).toBe('They are crm, lms.');
  });
});
