import { namedMetrics } from '../../test/kit/named-metrics.js';
import type { UnsettledLane } from '../../delivering/read-lanes.js';
import { problemCodes, traitsOf } from '../../operations/problems.js';
import type { Status } from '../../operations/status-view.js';
import { formatFigures, type LedgerFacts, ledgerFigures } from './ledger-figures.js';
import { ProcessMeters } from './serve-metrics.js';

const now = new Date('2026-11-21T10:00:00Z');
const secondsAgo = (seconds: number): Date => new Date(now.getTime() - seconds * 1000);

const lane: UnsettledLane = {
  sink: 'hooks',
  workspace: 'acme',
  pigeonholeId: 101,
  watermark: 90,
  newest: 100,
  behind: 10,
  behindByList: new Map(),
  open: 2,
  delivered: 88,
  deliveredAt: null,
  undeliveredSince: secondsAgo(3000),
  waitsSince: secondsAgo(30),
  waitsFor: null,
  failure: null,
  failingSince: null,
  retryAt: null,
};
const pigeonhole = (id: number, given: object): object => ({
  id,
  status: 'live',
  state: 'working',
  changes: 100,
  freshness: { state: 'current', liveLists: 6, readAt: secondsAgo(4).toISOString(), lateLists: 0, lateSeconds: 0 },
  setAside: 0,
  foreignRows: 0,
  strangerRows: 0,
  heldDeletions: 0,
  goneAt: null,
  ...given,
});
const ended = { state: 'late', liveLists: 0, readAt: secondsAgo(9999).toISOString(), lateLists: 1, lateSeconds: 400 };
const status = {
  configuration: 3,
  trouble: null,
  workspaces: [
    {
      name: 'acme',
      pause: null,
      unanswered: { since: secondsAgo(90).toISOString(), reason: 'refused' },
      quota: {
        limit: 1000,
        left: 400,
        nextHour: { all: 720 },
        lengthens: { live: 1, idle: 2.5, sweep: 4 },
        lastsUntil: new Date(now.getTime() + 600_000).toISOString(),
      },
      pigeonholes: [pigeonhole(101, {}), pigeonhole(102, { status: 'ended', freshness: ended, heldDeletions: 7 })],
    },
  ],
  problems: [{ code: 'service-down' }],
  sinks: [
    {
      name: 'hooks',
      pause: { pausedBy: 'cause' },
      delivered: 88,
      dead: { 'http:422': 3 },
      withheld: { observe: 1 },
      withholding: [{ kind: 'all' }, { kind: 'event' }],
      parity: {
        auditedAt: new Date(now.getTime() - 60_000).toISOString(),
        compared: 90,
        stale: 0,
        explained: 5,
        changed: 1,
        missing: 2,
        extra: 0,
        unreadable: 3,
      },
    },
  ],
} as unknown as Status;
const facts: LedgerFacts = {
  now,
  version: '1.2.3',
  config: {
    syncs: { events: { workspace: 'acme', sinks: ['hooks'], everyMs: { sweep: 420_000 } } },
    sinks: {},
    workspaces: {},
  } as unknown as LedgerFacts['config'],
  status,
  lanes: [lane, { ...lane, pigeonholeId: 999, waitsSince: secondsAgo(80_000) }],
  places: [101, 102].map((pigeonholeId) => ({
    workspace: 'acme',
    pigeonholeId,
    name: 'The event of Person 1',
    syncs: ['events'],
  })),
  sweeps: [{ workspace: 'acme', pigeonholeId: 101, oldestSweptAt: secondsAgo(600) }],
  imports: [{ workspace: 'acme', state: 'running', imports: 1, rowsLeft: 500 }],
  alerts: { raised: [{ occasion: 'behind', raised: 1 }], waiting: 0 },
};
let text: string;
beforeAll(async () => {
  text = await textOf(facts);
});

async function textOf(of: LedgerFacts): Promise<string> {
  return await formatFigures(ledgerFigures(of));
}

describe('the metrics of a ledger', () => {
  it.each([
    'pigeonpost_undelivered_age_seconds{sync="events",sink="hooks"} 30', // a lane that no sync delivers to any longer has no lag
    'pigeonpost_backlog_changes{sync="events",sink="hooks"} 12',
    'pigeonpost_read_age_seconds{sync="events"} 4', // of the lists that are live now
    'pigeonpost_read_late_seconds{sync="events"} 400', // of any list, compared with its own interval
    'pigeonpost_sweep_age_seconds{sync="events"} 600',
    'pigeonpost_sweep_late_seconds{sync="events"} 180', // the sync sweeps every 7 min
    'pigeonpost_service_unanswered_seconds{workspace="acme"} 90',
    'pigeonpost_problems{code="service-down"} 1',
    'pigeonpost_problems{code="sink-behind"} 0',
    'pigeonpost_parity_differences{sink="hooks",kind="missing"} 2',
    'pigeonpost_parity_compared_items{sink="hooks"} 90',
    'pigeonpost_parity_age_seconds{sink="hooks"} 60',
    'pigeonpost_sink_paused{sink="hooks",by="cause"} 1',
    'pigeonpost_sink_paused{sink="hooks",by="person"} 0',
    'pigeonpost_dead_letters{sink="hooks"} 3',
    'pigeonpost_held_deletions{workspace="acme"} 7',
    'pigeonpost_quota_left_requests{workspace="acme"} 400',
    'pigeonpost_quota_lasts_seconds{workspace="acme"} 600',
    'pigeonpost_quota_interval_factor{workspace="acme",kind="idle"} 2.5',
    'pigeonpost_import_rows_left{workspace="acme"} 500',
    'pigeonpost_alerts_raised{occasion="behind"} 1',
    'pigeonpost_pigeonholes{sync="events",state="working"} 2',
  ])('include %s', (line) => {
    expect(text.split('\n')).toContain(line);
  });

  it('have no label whose values grow with pigeonholes, people or items', () => {
    const labels = new Set([...text.matchAll(/[{,](\w+)="/g)].map(([, name]) => name!));
    expect([...labels].toSorted()).toEqual('by code kind occasion sink state sync version workspace'.split(' '));
    expect(text).not.toMatch(/101|102|Person/);
  });

  it('have a read age of 0 while all pigeonholes with live lists are paused', async () => {
    const paused = {
      state: 'paused',
      liveLists: 6,
      readAt: secondsAgo(900).toISOString(),
      nextAt: null,
      lateLists: 0,
      lateSeconds: 0,
    };
    const pigeonholes = [pigeonhole(101, { freshness: paused }), pigeonhole(102, { freshness: ended })];
    const workspaces = status.workspaces.map((workspace) => ({ ...workspace, pigeonholes }));
    const figures = await textOf({ ...facts, status: { ...status, workspaces } as unknown as Status });
    expect(figures).toContain('pigeonpost_read_age_seconds{sync="events"} 0\n');
  });

  it('omit an unknown quota and report the rest', async () => {
    const workspaces = status.workspaces.map((workspace) => ({ ...workspace, quota: null }));
    const unknown = await textOf({ ...facts, status: { ...status, workspaces } });
    expect(unknown).not.toMatch(/^pigeonpost_quota_(?!wait_)\w+\{/m);
    expect(unknown).toContain('pigeonpost_dead_letters{sink="hooks"} 3');
  });

  it('report how long a workspace waits for its quota, and 0 while it does not', async () => {
    const waiting = { state: 'waiting', reason: 'quota', until: new Date(now.getTime() + 1_680_000).toISOString() };
    const workspaces = status.workspaces.map((workspace) => ({ ...workspace, ...waiting }) as typeof workspace);
    const metrics = await textOf({ ...facts, status: { ...status, workspaces } });
    expect(metrics).toContain('\npigeonpost_quota_wait_seconds{workspace="acme"} 1680\n');
    expect(text).toContain('\npigeonpost_quota_wait_seconds{workspace="acme"} 0\n');
  });

  it('escape characters that are special to Prometheus', async () => {
    const figure = {
      name: 'x',
      help: 'a\nb',
      type: 'gauge',
      samples: [{ labels: { l: 'a"b\\c\nd' }, value: 1 }],
    } as const;
    expect(await formatFigures([figure])).toBe('# HELP x a\\nb\n# TYPE x gauge\nx{l="a\\"b\\\\c\\nd"} 1\n');
  });
});

describe('the counter of requests', () => {
  it('has a label for each code of the specification, and none for other codes in a body', async () => {
    const meters = new ProcessMeters({ withNode: false });
    const request = { workspace: 'acme', durationMs: 12 };
    meters.requested({ ...request, status: 200, code: null });
    meters.requested({ ...request, status: 400, code: 4512 });
    meters.requested({ ...request, status: 429, code: 8000 });
    meters.requested({ ...request, status: 400, code: 77_123_456 });
    meters.requested({ ...request, status: null, code: null });
    const codes = [...(await meters.text()).matchAll(/requests_total\{workspace="acme",code="(\w+)"\} 1/g)];
    expect(codes.map(([, code]) => code)).toEqual(['200', '4512', '8000', '400', 'none']);
  });
});

describe('deploy/', () => {
  it('uses only pigeonpost metrics that exist', async () => {
    const all = `${text}${await new ProcessMeters({ withNode: true }).text()}# TYPE pigeonpost_store_up gauge\n`;
    const names = [...all.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name!);
    const ours = namedMetrics().filter((name) => !name.startsWith('temporal_'));
    expect(ours.length).toBeGreaterThan(20);
    expect(ours.filter((name) => !names.includes(name))).toEqual([]);
    for (const name of names) expect(name).toMatch(/^(pigeonpost|process|nodejs)_[a-z0-9_]+$/);
  });
});

it('each problem that names a metric names one that exists', () => {
  const metrics = problemCodes.flatMap((code) => traitsOf(code).metric ?? []);
  expect(metrics.filter((name) => !text.includes(`# TYPE ${name} `))).toEqual([]);
});
