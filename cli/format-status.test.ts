import { formatStatus } from './format-status.js';
import type { QuotaView } from '../api/status-view.js';
import { pigeonholeOf, quotaOf, sinkOf, statusOf, workspaceOf } from './status.test-kit.js';

const now = new Date('2026-11-21T09:30:00.000Z');

describe('a status for a person', () => {
  it('has a line for each workspace, pigeonhole and sink when all is well', () => {
    expect(formatStatus(statusOf(), now)).toEqual([
      'workspace acme: working',
      '  pigeonhole 101 (live): working, 1,234 changes, fresh as of 3 s ago',
      'sink hooks (webhook): working, 1,200 delivered, last 2 s ago, 0 to go',
      'settled: everything found is delivered, withheld or parked',
    ]);
  });

  it('says of a pigeonhole what is gone, what waits for a person, and what could not be told apart', () => {
    const odd = pigeonholeOf({ goneAt: '2026-11-21T06:30:00.000Z', heldDeletions: 12, setAside: 2, foreignRows: 9 });
    expect(formatStatus(statusOf({ workspaces: [workspaceOf({ pigeonholes: [odd] })] }), now)[1]).toBe(
      '  pigeonhole 101 (live): working, 1,234 changes, fresh as of 3 s ago; gone at the service 3 h ago, what was read of it is kept; 12 deletions wait for you: pigeonpost deletions list; 2 rows without an id set aside; the service ignores filter[sessionId]: 9 rows of other sessions set aside',
    );
  });

  it('says why a workspace waits, until when, and what is left of its quota', () => {
    const waiting = workspaceOf({
      state: 'waiting',
      reason: 'quota',
      until: '2026-11-21T11:30:00.000Z',
      quota: quotaOf({ used: 1000, left: 0, resetAt: '2026-11-21T11:30:00.000Z' }),
      pigeonholes: [],
    });
    expect(formatStatus(statusOf({ workspaces: [waiting], sinks: [], settled: false }), now)).toEqual([
      'workspace acme: waiting, again in 2 h: quota',
      '  requests: 1,000 of 1,000 used, 0 left, reset in 2 h, the next hour needs 120: 100 live, 15 idle, 5 for sweeps',
      '1 workspace waits: see above',
    ]);
  });

  it('says when the requests that are left will be used up, and what of them is kept for imports', () => {
    const short = quotaOf({ used: 700, left: 300, reserved: 100, lastsUntil: '2026-11-21T11:10:00.000Z' });
    const lines = formatStatus(statusOf({ workspaces: [workspaceOf({ quota: short, pigeonholes: [] })] }), now);
    expect(lines.slice(1, 3)).toEqual([
      '  requests: 700 of 1,000 used, 300 left (100 of them kept for imports), the next hour needs 120: 100 live, 15 idle, 5 for sweeps',
      '  at that rate what is left is used up in 100 min; reading slows down so that it lasts',
    ]);
  });

  it('says of a quota what it was learnt from, and what nobody knows of it', () => {
    const lines = (quota: Partial<QuotaView>) =>
      formatStatus(statusOf({ workspaces: [workspaceOf({ quota: quotaOf(quota), pigeonholes: [] })] }), now)[1];
    expect(lines({ learnt: true, used: 10, left: 990 })).toContain('10 of about 1,000 used, 990 left');
    expect(lines({ limit: null, used: 10, left: null })).toContain('10 used, nobody says how many are left');
  });

  it('names the lists of the workspace itself, and what was never read whole', () => {
    const own = pigeonholeOf({ id: 0, status: null, freshAsOf: null, state: 'backfilling', changes: 5 });
    const lines = formatStatus(statusOf({ workspaces: [workspaceOf({ pigeonholes: [own] })] }), now);
    expect(lines[1]).toBe('  its own lists: backfilling, 5 changes, not yet read whole');
  });

  it('tells what was withheld in words and dead letters by their cause', () => {
    const sink = sinkOf({
      state: 'paused',
      reason: 'the folder has lost its marker',
      deliveredAt: null,
      withheld: { 'consent-refused': 7, 'condition-false': 1 },
      dead: { 'attempts-exhausted': 2 },
    });
    expect(formatStatus(statusOf({ workspaces: [], sinks: [sink] }), now).slice(0, -1)).toEqual([
      'sink hooks (webhook): paused, 1,200 delivered, 0 to go: the folder has lost its marker',
      '  resume with: pigeonpost resume sink:hooks',
      '  7 withheld: consent refused',
      '  1 withheld: condition-false',
      '  2 dead letters: attempts-exhausted',
    ]);
  });

  it('says who has paused something, why and since when', () => {
    const pause = {
      pausedBy: 'person',
      actor: 'ana',
      reason: 'receiver is moved',
      since: '2026-11-21T09:20:00.000Z',
    } as const;
    const sink = sinkOf({ state: 'paused', reason: pause.reason, pause, deliveredAt: null });
    expect(formatStatus(statusOf({ workspaces: [], sinks: [sink] }), now)[0]).toBe(
      'sink hooks (webhook): paused, 1,200 delivered, 0 to go: receiver is moved (by ana 10 min ago)',
    );
  });

  it('tells what an observing sink would do, and when it may do so', () => {
    const observation = {
      wouldSend: 40,
      wouldSendAnonymously: 2,
      wouldWithhold: { 'consent-refused': 3 },
      behind: 0,
    };
    const lines = (approval: { approvedBy: string; reason: string; since: string } | null): string[] =>
      formatStatus(
        statusOf({ workspaces: [], sinks: [sinkOf({ mode: 'observe', observation, approval })] }),
        now,
      ).slice(1, -1);
    expect(lines(null)).toEqual([
      '  observes and sends nothing: would send 42 changes, 2 without the person who did it',
      '  would withhold 3: consent refused',
      '  let it send with: pigeonpost sink approve hooks',
    ]);
    expect(lines({ approvedBy: 'ana', reason: 'looked at', since: '2026-11-21T09:29:00.000Z' })).toEqual([
      '  observes, and was approved by ana 60 s ago: it sends: looked at',
    ]);
  });

  it('tells how far a replay is', () => {
    const replay = {
      id: 'the-id',
      requestedBy: 'ana',
      reason: null,
      since: '2026-11-21T09:29:50.000Z',
      taken: 128,
      open: 3,
    };
    expect(formatStatus(statusOf({ workspaces: [], sinks: [sinkOf({ replays: [replay] })] }), now)[1]).toBe(
      '  replay the-id by ana, 10 s ago: 128 items so far, 3 of them to go',
    );
  });

  it('ends with what needs attention, each trouble once, however much is settled besides', () => {
    const failing = pigeonholeOf({ state: 'failing' });
    const last = (status: Parameters<typeof statusOf>[0]): string => formatStatus(statusOf(status), now).at(-1)!;
    expect(last({ sinks: [sinkOf({ state: 'paused' })], workspaces: [workspaceOf({ state: 'waiting' })] })).toBe(
      '1 workspace waits, 1 sink is paused: see above',
    );
    expect(last({ workspaces: [workspaceOf({ state: 'failing', pigeonholes: [failing, failing] })] })).toBe(
      '2 pigeonholes are failing: see above',
    );
    expect(last({ sinks: [sinkOf({ state: 'failing' }), sinkOf({ state: 'failing' })], settled: false })).toBe(
      '2 sinks are failing: see above',
    );
    expect(last({ trouble: 'the store is full' })).toBe('nothing gets on: see above');
  });

  it('ends with "working" while something is left to do and nothing stands still', () => {
    const reading = workspaceOf({ state: 'backfilling', pigeonholes: [pigeonholeOf({ state: 'backfilling' })] });
    expect(formatStatus(statusOf({ settled: false, workspaces: [reading] }), now).at(-1)).toBe('working');
  });
});
