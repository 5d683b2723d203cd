import { formatStatus } from './format-status.js';
import { pigeonholeOf, sinkOf, statusOf, workspaceOf } from './status.test-kit.js';

const now = new Date('2026-11-21T09:30:00.000Z');

describe('a status for a person', () => {
  it('has a line for each workspace, pigeonhole and sink when all is well', () => {
    expect(formatStatus(statusOf(), now)).toEqual([
      'workspace acme: working',
      '  pigeonhole 101 (live): working, 1234 changes, fresh as of 3 s ago',
      'sink hooks (webhook): working, 1200 delivered, last 2 s ago, 0 to go',
      'settled: everything found is delivered, withheld or parked',
    ]);
  });

  it('says why a workspace waits, until when, and what is left of its quota', () => {
    const waiting = workspaceOf({
      state: 'waiting',
      reason: 'quota',
      until: '2026-11-21T11:30:00.000Z',
      quota: { limit: 1000, remaining: 0, resetAt: null },
      pigeonholes: [],
    });
    expect(formatStatus(statusOf({ workspaces: [waiting], sinks: [], settled: false }), now)).toEqual([
      'workspace acme: waiting, again in 2 h: quota, quota 0 of 1000 left',
      '1 workspace waits: see above',
    ]);
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
      'sink hooks (webhook): paused, 1200 delivered, 0 to go: the folder has lost its marker',
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
      'sink hooks (webhook): paused, 1200 delivered, 0 to go: receiver is moved (by ana 10 min ago)',
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
