import type { Status } from '../../api/status-view.js';
import type { AlertsConfig } from '../../config/config.js';
import type { Pause } from '../../ledger/queries/pauses.js';
import type { LaneState } from '../../ledger/queries/read-lanes.js';
import { findConditions, type LookedAt } from './find-conditions.js';

const now = new Date('2026-11-21T10:00:00Z');
const ago = (ms: number): Date => new Date(now.getTime() - ms);

/** Of each occasion what its `alerts.when` asks for. */
const everything: AlertsConfig['when'] = {
  sinkPaused: true,
  workspacePaused: true,
  behindMs: 60_000,
  deadLetters: 2,
  deletionsHeld: true,
  quotaShort: true,
  importEnded: true,
};
const nothing: AlertsConfig['when'] = {
  sinkPaused: false,
  workspacePaused: false,
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

interface Standing {
  readonly sink?: object;
  readonly workspace?: object;
  readonly held?: number;
  readonly pauses?: readonly Partial<Pause>[];
  /** For how long the oldest change of a lane waits. */
  readonly waitMs?: readonly number[];
}

function looked({ sink = {}, workspace = {}, held = 0, pauses = [], waitMs = [] }: Standing): LookedAt {
  const status = {
    workspaces: [
      {
        name: 'acme',
        state: 'working',
        reason: 'unread: Person 1',
        quota: null,
        pigeonholes: [
          { id: 101, heldDeletions: held },
          { id: 102, heldDeletions: 0 },
        ],
        ...workspace,
      },
    ],
    sinks: [
      { name: 'hooks', state: 'working', backlog: 3, dead: {}, observation: null, approval: null, ...sink },
      { name: 'other', state: 'working', backlog: 0, dead: {}, observation: null, approval: null },
    ],
  } as unknown as Status;
  const lanes = waitMs.map((ms) => ({ sink: 'hooks', undeliveredSince: ago(ms) })) as unknown as LaneState[];
  const own = pauses.map((pause) => ({
    scope: 'sink',
    name: 'hooks',
    pausedBy: 'cause',
    cause: 'gone',
    detail: 'refused for Person 1',
    since: ago(1000),
    ...pause,
  })) as unknown as Pause[];
  return { status, pauses: own, lanes, now };
}

const observation = { wouldSend: 1 };
const used = { ...quota, left: 50 };
const waits = { state: 'waiting', reason: 'quota' };

describe('a look', () => {
  it.each<[string, Standing, readonly string[]]>([
    ['nothing while all goes on', {}, []],
    ['a sink that a cause has paused', { pauses: [{}] }, ['sink-paused hooks holds']],
    [
      'a sink that a person and a cause have paused, once',
      { pauses: [{ pausedBy: 'person', cause: 'asked' }, {}] },
      ['sink-paused hooks holds'],
    ],
    ['nothing of a pause of a sink that is configured no more', { pauses: [{ name: 'old' }] }, []],
    ['nothing of a paused pigeonhole', { pauses: [{ scope: 'pigeonhole', name: 'acme/101' }] }, []],
    ['a workspace that is paused', { pauses: [{ scope: 'workspace', name: 'acme' }] }, ['workspace-paused acme holds']],
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
      { sink: { state: 'paused' }, pauses: [{}], waitMs: [90_000] },
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
  ])('finds %s', (_, standing, expected) => {
    const found = findConditions(looked(standing), everything);
    expect(found.map(({ occasion, subject, found: how }) => `${occasion} ${subject} ${how}`)).toEqual(expected);
    expect(findConditions(looked(standing), nothing)).toEqual([]);
  });

  it('finds that a paused sink is behind where nobody wants to hear of the pause', () => {
    const standing = looked({ sink: { state: 'paused' }, pauses: [{}], waitMs: [90_000] });
    expect(findConditions(standing, { ...nothing, behindMs: 60_000 })).toMatchObject([
      { occasion: 'behind', found: 'holds' },
    ]);
  });

  it('takes the cause of a pause, since that ends only when somebody mends something, and no text', () => {
    const person = { pausedBy: 'person', cause: 'asked', detail: 'Person 1 asked', actor: 'Person 2' } as const;
    const [found] = findConditions(looked({ pauses: [person, { cause: 'credential' }] }), everything);
    expect(found!.facts).toEqual({ pausedBy: 'cause', cause: 'credential', pausedAt: '2026-11-21T09:59:59.000Z' });
  });

  it('counts what it finds, and says since when', () => {
    const standing = looked({
      sink: { dead: { a: 4, b: 1 } },
      waitMs: [70_000, 90_000],
      held: 7,
      workspace: { quota: used },
    });
    expect(
      Object.fromEntries(findConditions(standing, everything).map(({ occasion, facts }) => [occasion, facts])),
    ).toEqual({
      behind: { oldestAt: ago(90_000).toISOString(), backlog: 3 },
      'dead-letters': { letters: 5 },
      'deletions-held': { items: 7 },
      'quota-short': { left: 50, limit: 1000, lastsUntil: null, resetAt: '2026-11-22T00:00:00.000Z' },
    });
  });
});
