import { freshnessOf, pigeonholeOf, quotaOf, sinkOf, workspaceOf } from '../../cli/status/status.test-kit.js';
import { ago, laneOf, now } from '../snapshot.test-kit.js';
import type { AlertsConfig } from '../../config/config.js';
import type { WorkSnapshot } from '../find-problems.js';
import { findConditions } from './check-alerts.js';

/** Selects every occasion of `alerts.when`. */
const everything: AlertsConfig['when'] = {
  'service-down': true,
  'reading-late': true,
  'sink-paused': true,
  'workspace-paused': true,
  behind: 60_000,
  'dead-letters': 2,
  withholding: true,
  parity: true,
  'nightly-export': true,
  'deletions-held': true,
  'quota-used-up': true,
  'quota-short': true,
  'import-ended': true,
};
const nothing: AlertsConfig['when'] = {
  'service-down': false,
  'reading-late': false,
  'sink-paused': false,
  'workspace-paused': false,
  withholding: false,
  parity: false,
  'nightly-export': false,
  'deletions-held': false,
  'quota-used-up': false,
  'quota-short': false,
  'import-ended': false,
};
const quota = quotaOf({ limit: 1000, left: 400, reserved: 50, lastsUntil: null, resetAt: '2026-11-22T00:00:00.000Z' });

interface Given {
  readonly sink?: object;
  readonly workspace?: object;
  readonly held?: number;
  /** For how long a list of the first pigeonhole has been due. */
  readonly lateSeconds?: number;
  /** For how long the oldest change of each lane has waited. */
  readonly waitMs?: readonly number[];
}

function snapshot({ sink = {}, workspace = {}, held = 0, lateSeconds = 0, waitMs = [] }: Given): WorkSnapshot {
  const late = freshnessOf(lateSeconds === 0 ? {} : { lateLists: 1, lateSeconds, late: 'votes' });
  const pigeonholes = [pigeonholeOf({ heldDeletions: held, freshness: late }), pigeonholeOf({ id: 102 })];
  return {
    trouble: null,
    workspaces: [workspaceOf({ reason: 'unread: Person 1', waitingLists: 13, pigeonholes, ...workspace })],
    sinks: [sinkOf({ backlog: 3, ...sink }), sinkOf({ name: 'other' })],
    lanes: waitMs.map((ms) => laneOf({ waitsSince: ago(ms) })),
    folders: [],
    exports: [],
    file: null,
    now,
  };
}

const pause = {
  pausedBy: 'cause',
  cause: 'credential',
  actor: null,
  reason: 'refused for Person 1',
  since: '2026-11-21T09:59:59.000Z',
} as const;
const unanswered = (ms: number): object => ({
  unanswered: { since: ago(ms).toISOString(), reason: 'refused for Person 1' },
});

const observation = { wouldSend: 1 };
const used = { ...quota, left: 50 };
const waits = { state: 'waiting', reason: 'quota', until: '2026-11-21T10:30:00.000Z' };

describe('a check for alert conditions', () => {
  it.each<[string, Given, readonly string[]]>([
    ['nothing while everything works', {}, []],
    ['a sink that is paused', { sink: { state: 'paused', pause } }, ['sink-paused hooks holds']],
    ['a workspace that is paused', { workspace: { state: 'paused', pause } }, ['workspace-paused acme holds']],
    ['a service that has not answered for a minute', { workspace: unanswered(60_000) }, ['service-down acme holds']],
    ['nothing when the service has not answered for less than a minute', { workspace: unanswered(59_000) }, []],
    [
      'that the state of the service is unknown while it refuses the key',
      { workspace: { ...unanswered(90_000), state: 'paused', pause } },
      ['workspace-paused acme holds', 'service-down acme unknown'],
    ],
    ['a list that should have been read three minutes ago', { lateSeconds: 180 }, ['reading-late acme/101 holds']],
    ['nothing when a list is less than three minutes late', { lateSeconds: 179 }, []],
    [
      'that the lateness of a list is unknown while the quota is used up',
      { lateSeconds: 600, workspace: { ...waits, quota: used } },
      ['quota-used-up acme holds', 'quota-short acme unknown', 'reading-late acme/101 unknown'],
    ],
    [
      'only one incident while the service does not answer',
      { lateSeconds: 600, workspace: { ...unanswered(600_000), state: 'waiting' } },
      ['service-down acme holds', 'reading-late acme/101 unknown'],
    ],
    ['a change that has waited longer than the configured time', { waitMs: [10, 60_001] }, ['sink-behind hooks holds']],
    ['nothing when a change has waited exactly the configured time', { waitMs: [60_000] }, []],
    ['nothing of the backlog of a sink that only observes', { sink: { observation }, waitMs: [90_000] }, []],
    [
      'the backlog of an observing sink that was approved',
      { sink: { observation, approval: { since: 'now' } }, waitMs: [90_000] },
      ['sink-behind hooks holds'],
    ],
    [
      'that the lag of a paused sink is unknown',
      { sink: { state: 'paused', pause }, waitMs: [90_000] },
      ['sink-paused hooks holds', 'sink-behind hooks unknown'],
    ],
    ['dead letters that reach the configured number', { sink: { dead: { a: 1, b: 1 } } }, ['dead-letters hooks holds']],
    ['nothing when there are fewer dead letters', { sink: { dead: { a: 1 } } }, []],
    ['held deletions, by pigeonhole', { held: 7 }, ['deletions-held acme/101 holds']],
    ['nothing of a quota that lasts', { workspace: { quota } }, []],
    ['nothing when the remaining quota is unknown', { workspace: { quota: { ...quota, left: null } } }, []],
    [
      'a quota for which intervals are lengthened',
      { workspace: { quota: { ...quota, lengthens: { live: 1, idle: 2, sweep: 3 } } } },
      ['quota-short acme holds'],
    ],
    ['a quota of which only the reserve is left', { workspace: { quota: used } }, ['quota-short acme holds']],
    [
      'nothing when no request needs the used-up quota',
      { workspace: { quota: { ...used, nextHour: { live: 0, idle: 0, sweep: 0, all: 0 } } } },
      [],
    ],
    [
      'a workspace that waits for its quota',
      { workspace: waits },
      ['quota-used-up acme holds', 'quota-short acme unknown'],
    ],
    [
      'that a wait for the quota of less than a minute neither starts nor ends an alert',
      { workspace: { ...waits, until: '2026-11-21T10:00:59.000Z' } },
      ['quota-used-up acme unknown', 'quota-short acme unknown'],
    ],
    ['nothing when a workspace waits for another reason', { workspace: { ...waits, reason: 'throttled' } }, []],
  ])('finds %s', (_, given, expected) => {
    const found = findConditions(snapshot(given), everything);
    expect(found.map(({ code, subject, found: how }) => `${code} ${subject} ${how}`)).toEqual(expected);
    expect(findConditions(snapshot(given), nothing)).toEqual([]);
  });

  it('reports a paused sink as behind if alerts about pauses are off', () => {
    const given = snapshot({ sink: { state: 'paused', pause }, waitMs: [90_000] });
    expect(findConditions(given, { ...nothing, behind: 60_000 })).toMatchObject([
      { code: 'sink-behind', found: 'holds' },
    ]);
  });

  it('contains counts, codes and instants, but no free text', () => {
    const [found] = findConditions(snapshot({ sink: { state: 'paused', pause } }), everything);
    expect(found!.facts).toEqual({ pausedBy: 'cause', cause: 'credential', pausedAt: '2026-11-21T09:59:59.000Z' });
  });

  it('counts the findings and includes the instant of the oldest one', () => {
    const given = snapshot({
      sink: { dead: { a: 4, b: 1 } },
      waitMs: [70_000, 90_000],
      held: 7,
      workspace: { quota: used },
    });
    expect(Object.fromEntries(findConditions(given, everything).map(({ code, facts }) => [code, facts]))).toEqual({
      'sink-behind': { oldestAt: ago(90_000).toISOString(), backlog: 3, cause: null },
      'dead-letters': { letters: 5 },
      'deletions-held': { items: 7 },
      'quota-short': {
        left: 50,
        limit: 1000,
        lastsUntil: null,
        resetAt: '2026-11-22T00:00:00.000Z',
        live: 1,
        idle: 1,
        sweep: 1,
      },
    });
  });
});
