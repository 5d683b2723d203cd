import type { UnsettledLane } from '../delivering/read-lanes.js';

export const now = new Date('2026-11-21T10:00:00Z');
export const ago = (ms: number): Date => new Date(now.getTime() - ms);

/** Returns a lane of the sink `hooks` on which nothing waits, with the given changes. */
export function laneOf(given: Partial<UnsettledLane> = {}): UnsettledLane {
  return {
    sink: 'hooks',
    workspace: 'acme',
    pigeonholeId: 101,
    watermark: 7,
    newest: 7,
    behind: 0,
    behindByList: new Map(),
    open: 0,
    delivered: 7,
    deliveredAt: null,
    undeliveredSince: null,
    waitsSince: null,
    waitsFor: null,
    failure: null,
    failingSince: null,
    retryAt: null,
    ...given,
  };
}
