import type { Config } from '../config/config.js';
import type { Pause } from '../ledger/pauses.js';
import type { LaneStatus, LedgerStatus } from './ledger-status.js';
import { HindranceMemory, type ListReading } from './lateness.js';
import { listReading } from './list-reading.test-kit.js';
import { viewStatus } from './read-status.js';

const config = {
  workspaces: { acme: {}, spare: {} },
  syncs: { all: { workspace: 'acme', sinks: ['hooks'] } },
  sinks: { hooks: { type: 'webhook' }, unused: { type: 'file' } },
} as unknown as Config;

const workspace = {
  name: 'acme',
  waitReason: null,
  waitUntil: null,
  discovered: true,
  unansweredSince: null,
  unansweredReason: null,
};
const pigeonhole = {
  workspace: 'acme',
  pigeonholeId: 101,
  name: null,
  status: 'live',
  syncs: ['all'],
  changes: 5,
  streams: 3,
  backfilling: 0,
  failing: 0,
  unread: 0,
  waiting: 0,
  failure: null,
  setAside: 0,
  foreignRows: 0,
  strangerRows: 0,
  heldDeletions: 0,
  goneAt: null,
  rehearsalSince: null,
  rehearsalUntil: null,
  rehearsalBy: null,
};
const lane: LaneStatus = {
  sink: 'hooks',
  workspace: 'acme',
  pigeonholeId: 101,
  behind: 0,
  open: 0,
  delivered: 5,
  outcomes: [],
  recent: '{}',
  settings: null,
  failure: null,
  deliveredAt: null,
};
const done: LedgerStatus = { workspaces: [workspace], pigeonholes: [pigeonhole], lanes: [lane] };

const sink = {
  type: 'webhook',
  mode: 'send',
  observation: null,
  approval: null,
  replays: [],
  withholding: [],
} as const;
const at = new Date('2026-11-21T10:00:00Z');

function statusOf(given: Partial<Parameters<typeof viewStatus>[0]>) {
  return viewStatus({
    config,
    configuration: 1,
    trouble: null,
    status: done,
    freshness: { at, byPlace: new Map() },
    pauses: [],
    sinks: [
      { ...sink, name: 'hooks' },
      { ...sink, name: 'unused' },
    ],
    quotas: new Map(),
    ...given,
  });
}

function isSettled(status: Partial<LedgerStatus>, pauses: readonly Pause[] = []): boolean {
  return statusOf({ status: { ...done, ...status }, pauses }).settled;
}

/** Returns the freshness of a pigeonhole with a list that was last read an hour ago. */
function lateIn(name: string): { at: Date; byPlace: Map<string, { groups: never[]; maybeLate: ListReading[] }> } {
  const readAt = new Date(at.getTime() - 3_600_000);
  return { at, byPlace: new Map([[name, { groups: [], maybeLate: [listReading({ readAt, dueAt: readAt })] }]]) };
}

/** @param late the pigeonhole with a list that was last read an hour ago @param upMs time since the process started */
function isSettledWithLate(late: string, upMs: number, status: Partial<LedgerStatus> = {}): boolean {
  return statusOf({ status: { ...done, ...status }, freshness: lateIn(late), upMs }).settled;
}

function pauseOf(scope: Pause['scope'], name: string): Pause {
  return {
    scope,
    name,
    pausedBy: 'person',
    cause: 'asked',
    detail: 'no reason given',
    fingerprint: null,
    actor: null,
    since: new Date(0),
  };
}

describe('a status', () => {
  it('is settled when everything is read and delivered', () => {
    expect(isSettled({})).toBe(true);
  });

  it.each<[string, Partial<LedgerStatus>]>([
    ['a workspace was not discovered yet', { workspaces: [{ ...workspace, discovered: false }] }],
    ['a list was not read completely yet', { pigeonholes: [{ ...pigeonhole, backfilling: 1 }] }],
    ['a list cannot be read', { pigeonholes: [{ ...pigeonhole, unread: 1 }] }],
    ['a sink is behind', { lanes: [{ ...lane, behind: 1 }] }],
    ['a delivery is open', { lanes: [{ ...lane, open: 1 }] }],
    ['a sink has no lane for a pigeonhole yet', { lanes: [] }],
    ['a sink fails', { lanes: [{ ...lane, failure: 'refused', open: 1 }] }],
    ['the workspace waits', { workspaces: [{ ...workspace, waitReason: 'quota', waitUntil: new Date() }] }],
  ])('is not settled while %s', (_, status) => {
    expect(isSettled(status)).toBe(false);
  });

  it.each([
    ['workspace', 'acme'],
    ['pigeonhole', 'acme/101'],
    ['sink', 'hooks'],
  ] as const)('is not settled while the %s %s is paused', (scope, name) => {
    expect(isSettled({}, [pauseOf(scope, name)])).toBe(false);
  });

  it('shows the workspace and its pigeonholes as waiting while the service does not answer, even if reads failed because of that', () => {
    const unanswered = { ...workspace, unansweredSince: new Date(0), unansweredReason: 'timeout' };
    const status = {
      ...done,
      workspaces: [unanswered],
      pigeonholes: [{ ...pigeonhole, failing: 3, failure: 'timeout' }],
    };
    const [acme] = statusOf({ status }).workspaces;
    expect([acme!.state, ...acme!.pigeonholes.map(({ state }) => state)]).toEqual(['waiting', 'waiting']);
    expect(acme!.pigeonholes[0]!.freshness.waits).toMatchObject({ for: 'service', until: null });
  });

  it('is not settled while a list is late, or overdue right after a start', () => {
    expect(isSettledWithLate('acme/101', 3_600_000)).toBe(false);
    expect(isSettledWithLate('acme/101', 60_000)).toBe(false);
  });

  it('is settled even if a list is overdue that is not read, because its pigeonhole is gone or no sync uses its workspace', () => {
    const gone = { ...pigeonhole, goneAt: new Date(0) };
    expect(isSettledWithLate('acme/101', 3_600_000, { pigeonholes: [gone] })).toBe(true);
    const spare = { ...pigeonhole, workspace: 'spare', pigeonholeId: 0, syncs: [], changes: 0 };
    expect(isSettledWithLate('spare/0', 3_600_000, { pigeonholes: [pigeonhole, spare] })).toBe(true);
  });

  it('is settled if a lane failed but has no open delivery', () => {
    expect(isSettled({ lanes: [{ ...lane, failure: 'refused' }] })).toBe(true);
  });

  it('is settled even if a workspace or sink that no sync uses is paused', () => {
    expect(isSettled({}, [pauseOf('workspace', 'spare'), pauseOf('sink', 'unused')])).toBe(true);
  });

  it('is not settled while the process cannot work', () => {
    expect(statusOf({ trouble: 'the store is full' }).settled).toBe(false);
  });
});

describe('lists after a pause of the workspace', () => {
  it('are late only two minutes after the pause has ended', () => {
    let nowMs = 0;
    const hindrances = new HindranceMemory(() => nowMs);
    const lateLists = (pauses: readonly Pause[]): number | undefined =>
      statusOf({ freshness: lateIn('acme/101'), hindrances, pauses }).workspaces[0]?.pigeonholes[0]?.freshness
        .lateLists;

    const paused = [pauseOf('workspace', 'acme')];
    lateLists(paused);
    nowMs = 30 * 60_000;
    expect(lateLists(paused)).toBe(0);
    nowMs += 5000;
    expect(lateLists([])).toBe(0);
    nowMs += 120_000;
    expect(lateLists([])).toBe(1);
  });
});
