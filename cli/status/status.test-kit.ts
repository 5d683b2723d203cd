import type { Trouble } from '../../operations/problem.js';
import type { PigeonholeView, QuotaView, SinkView, Status, WorkspaceView } from '../../operations/status-view.js';
import type { Moment } from './format-status.js';

/** Returns the data of status without problems, with the given changes. */
export function momentOf(status: Partial<Status> = {}, troubles: readonly Trouble[] = []): Moment {
  const minutes = (before: number, present: number): number[] => [...Array<number>(58).fill(0), before, present];
  return {
    items: null,
    status: statusOf(status),
    overview: {
      now: '2026-11-21T09:30:00.000Z',
      settled: true,
      configuration: 1,
      syncs: [],
      foundByMinute: minutes(30, 12),
      deliveredByMinute: minutes(28, 11),
      troubles,
    },
  };
}

export function troubleOf(given: Partial<Trouble> = {}): Trouble {
  return {
    code: 'sink-failing',
    severity: 'error',
    stops: true,
    kind: 'sink',
    name: 'hooks',
    title: 'Sink hooks accepts nothing',
    detail: 'the receiver does not answer',
    says: null,
    advice: null,
    text: 'Sink hooks accepts nothing: the receiver does not answer.',
    lists: null,
    since: '2026-11-21T09:20:00.000Z',
    saysSince: false,
    state: null,
    page: '#/sink/hooks',
    help: null,
    ...given,
  };
}

/** Returns a status without problems, with the given changes. */
export function statusOf(given: Partial<Status> = {}): Status {
  return {
    configuration: 1,
    trouble: null,
    settled: true,
    workspaces: [workspaceOf()],
    sinks: [sinkOf()],
    problems: [],
    ...given,
  };
}

export function workspaceOf(given: Partial<WorkspaceView> = {}): WorkspaceView {
  return {
    name: 'acme',
    state: 'working',
    reason: null,
    until: null,
    pause: null,
    unanswered: null,
    waitingLists: 0,
    quota: null,
    pigeonholes: [pigeonholeOf()],
    ...given,
  };
}

export function pigeonholeOf(given: Partial<PigeonholeView> = {}): PigeonholeView {
  return {
    id: 101,
    name: 'Annual Summit',
    status: 'live',
    state: 'working',
    reason: null,
    pause: null,
    changes: 1234,
    streams: 12,
    failing: 0,
    setAside: 0,
    foreignRows: 0,
    strangerRows: 0,
    heldDeletions: 0,
    goneAt: null,
    freshAsOf: '2026-11-21T09:29:57.000Z',
    freshness: freshnessOf(),
    rehearsal: null,
    ...given,
  };
}

/** Six lists of a live event, read three seconds ago. */
export function freshnessOf(given: Partial<PigeonholeView['freshness']> = {}): PigeonholeView['freshness'] {
  const readAt = '2026-11-21T09:29:57.000Z';
  const nextAt = '2026-11-21T09:30:02.000Z';
  const cadence = {
    reason: 'live',
    everyMs: 5000,
    longestEveryMs: 5000,
    cadence: 'every 5 s: the event is live',
  } as const;
  return {
    state: 'current',
    liveLists: 6,
    readAt,
    nextAt,
    waits: null,
    catchingUp: false,
    lateLists: 0,
    lateSeconds: 0,
    late: null,
    groups: [{ ...cadence, lists: 6, readAt, nextAt }],
    ...given,
  };
}

export function sinkOf(given: Partial<SinkView> = {}): SinkView {
  return {
    name: 'hooks',
    type: 'webhook',
    state: 'working',
    reason: null,
    pause: null,
    mode: 'send',
    observation: null,
    approval: null,
    replays: [],
    delivered: 1200,
    backlog: 0,
    withheld: {},
    dead: {},
    withholding: [],
    deliveredAt: '2026-11-21T09:29:58.000Z',
    parity: null,
    ...given,
  };
}

export function quotaOf(given: Partial<QuotaView> = {}): QuotaView {
  return {
    limit: 1000,
    used: 0,
    usedByAll: given.used ?? 0,
    left: 1000,
    reserved: 0,
    resetAt: null,
    nextHour: { live: 100, idle: 15, sweep: 5, all: 120 },
    lengthens: { live: 1, idle: 1, sweep: 1 },
    lastsUntil: null,
    ...given,
  };
}
