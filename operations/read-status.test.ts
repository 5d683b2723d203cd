import type { Config } from '../config/config.js';
import type { Pause } from '../ledger/pauses.js';
import type { LedgerStatus, SinkTotals } from './ledger-status.js';
import { HindranceMemory, type ListReading } from './lateness.js';
import { listReading } from './list-reading.test-kit.js';
import { viewStatus } from './read-status.js';
import { laneOf } from './snapshot.test-kit.js';

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
const totals: SinkTotals = { sink: 'hooks', workspace: 'acme', lanes: 1, delivered: 5, deliveredAt: null };
const done: LedgerStatus = {
  workspaces: [workspace],
  pigeonholes: [pigeonhole],
  sinks: [totals],
  outcomes: [],
  lanes: [],
  parities: [],
};

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

async function isSettled(status: Partial<LedgerStatus>, pauses: readonly Pause[] = []): Promise<boolean> {
  return (await statusOf({ status: { ...done, ...status }, pauses })).settled;
}

/** Returns the freshness of a pigeonhole with a list that was last read an hour ago. */
function lateIn(name: string): { at: Date; byPlace: Map<string, { groups: never[]; maybeLate: ListReading[] }> } {
  const readAt = new Date(at.getTime() - 3_600_000);
  return { at, byPlace: new Map([[name, { groups: [], maybeLate: [listReading({ readAt, dueAt: readAt })] }]]) };
}

/** @param late the pigeonhole with a list that was last read an hour ago @param upMs time since the process started */
async function isSettledWithLate(late: string, upMs: number, status: Partial<LedgerStatus> = {}): Promise<boolean> {
  return (await statusOf({ status: { ...done, ...status }, freshness: lateIn(late), upMs })).settled;
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
  it('is settled when everything is read and delivered', async () => {
    expect(await isSettled({})).toBe(true);
  });

  it.each<[string, Partial<LedgerStatus>]>([
    ['a workspace was not discovered yet', { workspaces: [{ ...workspace, discovered: false }] }],
    ['a list was not read completely yet', { pigeonholes: [{ ...pigeonhole, backfilling: 1 }] }],
    ['a list cannot be read', { pigeonholes: [{ ...pigeonhole, unread: 1 }] }],
    ['a sink is behind', { lanes: [laneOf({ behind: 1 })] }],
    ['a delivery is open', { lanes: [laneOf({ open: 1 })] }],
    ['a sink has no lane for a pigeonhole yet', { sinks: [] }],
    ['a sink fails', { lanes: [laneOf({ failure: 'refused', open: 1 })] }],
    ['the workspace waits', { workspaces: [{ ...workspace, waitReason: 'quota', waitUntil: new Date() }] }],
  ])('is not settled while %s', async (_, status) => {
    expect(await isSettled(status)).toBe(false);
  });

  it.each([
    ['workspace', 'acme'],
    ['pigeonhole', 'acme/101'],
    ['sink', 'hooks'],
  ] as const)('is not settled while the %s %s is paused', async (scope, name) => {
    expect(await isSettled({}, [pauseOf(scope, name)])).toBe(false);
  });

  it('shows the workspace and its pigeonholes as waiting while the service does not answer, even if reads failed because of that', async () => {
    const unanswered = { ...workspace, unansweredSince: new Date(0), unansweredReason: 'timeout' };
    const status = {
      ...done,
      workspaces: [unanswered],
      pigeonholes: [{ ...pigeonhole, failing: 3, failure: 'timeout' }],
    };
    const [acme] = (await statusOf({ status })).workspaces;
    expect([acme!.state, ...acme!.pigeonholes.map(({ state }) => state)]).toEqual(['waiting', 'waiting']);
    expect(acme!.pigeonholes[0]!.freshness.waits).toMatchObject({ for: 'service', until: null });
  });

  it('is not settled while a list is late, or overdue right after a start', async () => {
    expect(await isSettledWithLate('acme/101', 3_600_000)).toBe(false);
    expect(await isSettledWithLate('acme/101', 60_000)).toBe(false);
  });

  it('is settled even if a list is overdue that is not read, because its pigeonhole is gone or no sync uses its workspace', async () => {
    const gone = { ...pigeonhole, goneAt: new Date(0) };
    expect(await isSettledWithLate('acme/101', 3_600_000, { pigeonholes: [gone] })).toBe(true);
    const spare = { ...pigeonhole, workspace: 'spare', pigeonholeId: 0, syncs: [], changes: 0 };
    expect(await isSettledWithLate('spare/0', 3_600_000, { pigeonholes: [pigeonhole, spare] })).toBe(true);
  });

  it('is settled if a lane failed but has no open delivery', async () => {
    expect(await isSettled({ lanes: [laneOf({ failure: 'refused' })] })).toBe(true);
  });

  it('is settled even if a workspace or sink that no sync uses is paused', async () => {
    expect(await isSettled({}, [pauseOf('workspace', 'spare'), pauseOf('sink', 'unused')])).toBe(true);
  });

  it('is not settled while the process cannot work', async () => {
    expect((await statusOf({ trouble: 'the store is full' })).settled).toBe(false);
  });
});

describe('lists after a pause of the workspace', () => {
  it('are late only two minutes after the pause has ended', async () => {
    let nowMs = 0;
    const hindrances = new HindranceMemory(() => nowMs);
    const lateLists = async (pauses: readonly Pause[]): Promise<number | undefined> =>
      (await statusOf({ freshness: lateIn('acme/101'), hindrances, pauses })).workspaces[0]?.pigeonholes[0]?.freshness
        .lateLists;

    const paused = [pauseOf('workspace', 'acme')];
    await lateLists(paused);
    nowMs = 30 * 60_000;
    expect(await lateLists(paused)).toBe(0);
    nowMs += 5000;
    expect(await lateLists([])).toBe(0);
    nowMs += 120_000;
    expect(await lateLists([])).toBe(1);
  });
});
