import type { Config } from '../config/config.js';
import type { Backlogs } from '../delivering/backlogs.js';
import { type ObservedLane, observedLanes } from '../ledger/observations.js';
import { type LaneReplay, laneReplays } from '../delivering/replays.js';
import { allApprovals, type Approval } from '../ledger/approvals.js';
import type { Ledger } from '../ledger/ledger.js';
import { type FailingExports, failingExports } from '../ledger/nightly-exports.js';
import { allPauses, type Pause } from '../ledger/pauses.js';
import { type LedgerFacts, ledgerFacts } from './ledger-status.js';

/** The one model from which status, page, metrics and alerts are computed, read at one moment. */
export interface WorkFacts extends LedgerFacts {
  readonly pauses: readonly Pause[];
  readonly observed: readonly ObservedLane[];
  readonly approvals: readonly Approval[];
  readonly replays: readonly LaneReplay[];
  /** Nightly exports that fail. */
  readonly exports: readonly FailingExports[];
}

/** @param backlogs what this process remembers of earlier calls */
export async function readWorkFacts(
  { ledger, config }: { readonly ledger: Ledger; readonly config: Config },
  backlogs: Backlogs,
): Promise<WorkFacts> {
  const [facts, pauses, observed, approvals, replays, exports] = await Promise.all([
    ledgerFacts(ledger, config, backlogs),
    allPauses(ledger),
    observedLanes(ledger),
    allApprovals(ledger),
    laneReplays(ledger),
    failingExports(ledger),
  ]);
  return { ...facts, pauses, observed, approvals, replays, exports };
}
