import type { AlertsConfig } from '../../config/config.js';
import type { WorkSnapshot } from '../find-problems.js';
import { findConditions } from './check-alerts.js';

const now = new Date('2026-11-21T10:00:00Z');
const ago = (ms: number): Date => new Date(now.getTime() - ms);

/** A condition for each occasion of `alerts.when`. */
const everything: AlertsConfig['when'] = {
  serviceDown: true,
  readingLate: true,
  sinkPaused: true,
  workspacePaused: true,
  behindMs: 60_000,
  deadLetters: 2,
  withholding: true,
  deletionsHeld: true,
  quotaShort: true,
  importEnded: true,
};
const nothing: AlertsConfig['when'] = {
  serviceDown: false,
  readingLate: false,
  sinkPaused: false,
  workspacePaused: false,
  withholding: false,
  deletionsHeld: false,
  quotaShort: false,
  importEnded: false,
};
const quota = {
  limit: 1000,
  left: 400,
  reserved: 50,
  nextHour: { live: 1, idle: 1, sweep: 1, all: 3 },
  lastsUntil: null,
  resetAt: '2026-11-22T00:00:00.000Z',
};

interface Given {
  readonly sink?: object;
  readonly workspace?: object;
  readonly held?: number;
  /** For how long a list of the first pigeonhole has been due. */
  readonly lateSeconds?: number;
  /** For how long the oldest change of a lane waits. */
  readonly waitMs?: readonly number[];
}

function snapshot({ sink = {}, workspace = {}, held = 0, lateSeconds = 0, waitMs = [] }: Given): WorkSnapshot {
  return {
    trouble: null,
    workspaces: [
      {
        name: 'acme',
        state: 'working',
        reason: 'unread: Person 1',
        until: null,
        pause: null,
        unanswered: null,
        waitingLists: 13,
        quota: null,
        pigeonholes: [
          {
            id: 101,
            pause: null,
            failing: 0,
            reason: null,
            goneAt: null,
            heldDeletions: held,
            foreignRows: 0,
            freshness: { lateLists: lateSeconds === 0 ? 0 : 1, lateSeconds, late: lateSeconds === 0 ? null : 'votes' },
          },
          {
            id: 102,
            pause: null,
            failing: 0,
            reason: null,
            goneAt: null,
            heldDeletions: 0,
            foreignRows: 0,
            freshness: { lateLists: 0, lateSeconds: 0, late: null },
          },
        ],
        ...workspace,
      },
    ],
    sinks: [
      { ...idle, name: 'hooks', backlog: 3, ...sink },
      { ...idle, name: 'other' },
    ],
    lanes: waitMs.map((ms) => ({
      sink: 'hooks',
      waitsSince: ago(ms),
      waitsFor: null,
      failingSince: null,
      retryAt: null,
    })),
    now,
  };
}

const idle = {
  state: 'working',
  reason: null,
  pause: null,
  backlog: 0,
  dead: {},
  withholding: [],
  observation: null,
  approval: null,
};
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
const waits = { state: 'waiting', reason: 'quota' };

describe('a look', () => {
  it.each<[string, Given, readonly string[]]>([
    ['nothing while everything works', {}, []],
    ['a sink that is paused', { sink: { state: 'paused', pause } }, ['sink-paused hooks holds']],
    ['a workspace that is paused', { workspace: { state: 'paused', pause } }, ['workspace-paused acme holds']],
    ['a service that has not answered for a minute', { workspace: unanswered(60_000) }, ['service-down acme holds']],
    ['nothing of one that has not for less', { workspace: unanswered(59_000) }, []],
    [
      'that nobody knows whether the service answers while it refuses the key',
      { workspace: { ...unanswered(90_000), state: 'paused', pause } },
      ['workspace-paused acme holds', 'service-down acme unknown'],
    ],
    ['a list that should have been read three minutes ago', { lateSeconds: 180 }, ['reading-late acme/101 holds']],
    ['nothing of one that is late for less', { lateSeconds: 179 }, []],
    [
      'that nobody knows whether a list is late while the quota is used up',
      { lateSeconds: 600, workspace: { ...waits, quota: used } },
      ['quota-short acme holds', 'reading-late acme/101 unknown'],
    ],
    [
      'one incident while the service does not answer',
      { lateSeconds: 600, workspace: { ...unanswered(600_000), state: 'waiting' } },
      ['service-down acme holds', 'reading-late acme/101 unknown'],
    ],
    ['a change that waits for longer than is wanted', { waitMs: [10, 60_001] }, ['behind hooks holds']],
    ['nothing of one that does not wait for longer', { waitMs: [60_000] }, []],
    ['nothing of the backlog of a sink that only observes', { sink: { observation }, waitMs: [90_000] }, []],
    [
      'the backlog of one that was approved',
      { sink: { observation, approval: { since: 'now' } }, waitMs: [90_000] },
      ['behind hooks holds'],
    ],
    [
      'that nobody knows whether a paused sink is behind',
      { sink: { state: 'paused', pause }, waitMs: [90_000] },
      ['sink-paused hooks holds', 'behind hooks unknown'],
    ],
    ['as many dead letters as are wanted', { sink: { dead: { a: 1, b: 1 } } }, ['dead-letters hooks holds']],
    ['nothing of fewer', { sink: { dead: { a: 1 } } }, []],
    ['deletions that are held, by pigeonhole', { held: 7 }, ['deletions-held acme/101 holds']],
    ['nothing of a quota that lasts', { workspace: { quota } }, []],
    ['nothing of a quota that nobody knows', { workspace: { quota: { ...quota, left: null } } }, []],
    [
      'a quota that will not last',
      { workspace: { quota: { ...quota, lastsUntil: '2026-11-21T11:00:00.000Z' } } },
      ['quota-short acme holds'],
    ],
    ['a quota of which the reserve alone is left', { workspace: { quota: used } }, ['quota-short acme holds']],
    [
      'nothing of one that nobody needs',
      { workspace: { quota: { ...used, nextHour: { live: 0, idle: 0, sweep: 0, all: 0 } } } },
      [],
    ],
    ['a workspace that waits for its quota', { workspace: waits }, ['quota-short acme holds']],
    ['nothing of one that waits for another reason', { workspace: { ...waits, reason: 'throttled' } }, []],
  ])('finds %s', (_, given, expected) => {
    const found = findConditions(snapshot(given), everything);
    expect(found.map(({ occasion, subject, found: how }) => `${occasion} ${subject} ${how}`)).toEqual(expected);
    expect(findConditions(snapshot(given), nothing)).toEqual([]);
  });

  it('finds that a paused sink is behind where nobody wants to hear of the pause', () => {
    const given = snapshot({ sink: { state: 'paused', pause }, waitMs: [90_000] });
    expect(findConditions(given, { ...nothing, behindMs: 60_000 })).toMatchObject([
      { occasion: 'behind', found: 'holds' },
    ]);
  });

  it('contains counts, codes and instants, and no text', () => {
    const [found] = findConditions(snapshot({ sink: { state: 'paused', pause } }), everything);
    expect(found!.facts).toEqual({ pausedBy: 'cause', cause: 'credential', pausedAt: '2026-11-21T09:59:59.000Z' });
  });

  it('counts what it finds, and says since when', () => {
    const given = snapshot({
      sink: { dead: { a: 4, b: 1 } },
      waitMs: [70_000, 90_000],
      held: 7,
      workspace: { quota: used },
    });
    expect(
      Object.fromEntries(findConditions(given, everything).map(({ occasion, facts }) => [occasion, facts])),
    ).toEqual({
      behind: { oldestAt: ago(90_000).toISOString(), backlog: 3 },
      'dead-letters': { letters: 5 },
      'deletions-held': { items: 7 },
      'quota-short': { left: 50, limit: 1000, lastsUntil: null, resetAt: '2026-11-22T00:00:00.000Z' },
    });
  });
});
