import type { SinkConfig } from '../config/config.js';
import type { Approval } from '../ledger/approvals.js';
import type { ObservedLane } from '../delivering/observations.js';
import type { Pause } from '../ledger/pauses.js';
import type { OpenReplay } from '../delivering/replays.js';
import type { ObservationView, OperatedSink, PauseView } from './sink-view.js';

/** What people have asked of sinks while they run. */
export interface SinkOperations {
  readonly observed: readonly ObservedLane[];
  readonly approvals: readonly Approval[];
  readonly replays: readonly OpenReplay[];
}

export const noOperations: SinkOperations = { observed: [], approvals: [], replays: [] };

/** Pure. */
export function operatedSink(name: string, mode: SinkConfig['mode'], operations: SinkOperations): OperatedSink {
  const lanes = operations.observed.filter(({ sink }) => sink === name);
  const approval = operations.approvals.find(({ sink }) => sink === name);
  return {
    mode,
    observation: mode === 'observe' ? addUp(lanes) : null,
    approval:
      mode === 'observe' && approval !== undefined
        ? { approvedBy: approval.approvedBy, reason: approval.reason, since: approval.since.toISOString() }
        : null,
    replays: operations.replays
      .filter(({ sink }) => sink === name)
      .map(({ id, requestedBy, reason, requestedAt, taken, open }) => ({
        id,
        requestedBy,
        reason,
        since: requestedAt.toISOString(),
        taken,
        open,
      })),
  };
}

export function viewPause({ pausedBy, cause, actor, detail, since }: Pause): PauseView {
  return { pausedBy, cause, actor, reason: detail, since: since.toISOString() };
}

function addUp(lanes: readonly ObservedLane[]): ObservationView {
  const withheld: Record<string, number> = {};
  for (const [reason, n] of lanes.flatMap(({ wouldWithhold }) => Object.entries(wouldWithhold))) {
    withheld[reason] = (withheld[reason] ?? 0) + n;
  }
  const sum = (pick: (lane: ObservedLane) => number): number => lanes.reduce((total, lane) => total + pick(lane), 0);
  return {
    wouldSend: sum(({ wouldSend }) => wouldSend),
    wouldSendAnonymously: sum(({ wouldSendAnonymously }) => wouldSendAnonymously),
    wouldWithhold: withheld,
    behind: sum(({ behind }) => behind),
  };
}
