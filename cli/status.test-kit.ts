import type { PigeonholeView, QuotaView, SinkView, Status, WorkspaceView } from '../api/status-view.js';

/** A status in which all is well, but for what a test is about. */
export function statusOf(given: Partial<Status> = {}): Status {
  return { configuration: 1, trouble: null, settled: true, workspaces: [workspaceOf()], sinks: [sinkOf()], ...given };
}

export function workspaceOf(given: Partial<WorkspaceView> = {}): WorkspaceView {
  return {
    name: 'acme',
    state: 'working',
    reason: null,
    until: null,
    pause: null,
    quota: null,
    pigeonholes: [pigeonholeOf()],
    ...given,
  };
}

export function pigeonholeOf(given: Partial<PigeonholeView> = {}): PigeonholeView {
  return {
    id: 101,
    status: 'live',
    state: 'working',
    reason: null,
    pause: null,
    changes: 1234,
    streams: 12,
    setAside: 0,
    foreignRows: 0,
    heldDeletions: 0,
    goneAt: null,
    freshAsOf: '2026-11-21T09:29:57.000Z',
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
    deliveredAt: '2026-11-21T09:29:58.000Z',
    ...given,
  };
}

export function quotaOf(given: Partial<QuotaView> = {}): QuotaView {
  return {
    limit: 1000,
    learnt: false,
    used: 0,
    left: 1000,
    reserved: 0,
    resetAt: null,
    nextHour: { live: 100, idle: 15, sweep: 5, all: 120 },
    lastsUntil: null,
    ...given,
  };
}
