import { pigeonholeNames } from '../ledger/queries/pigeonholes.js';
import { laneStates } from '../ledger/queries/read-lanes.js';
import type { LaneState } from '../ledger/queries/read-lanes.js';
import { lateReadings } from '../ledger/queries/read-streams.js';
import { type MinuteOfProgress, recentProgress } from '../ledger/queries/progress.js';
import { chartMinutes } from './minutes.js';
import { configOf } from './scope.js';
import { sentLanes } from './sent-lanes.js';
import { readStatus, type StatusSources } from './status.js';
import type { Status } from './status-view.js';
import { type Trouble, whatIsWrong } from './what-is-wrong.js';
import type { Config } from '../config/config.js';

/** A stream that is read a few seconds late is none to speak of; the quota's pauses show by themselves. */
const lateAfterMs = 60_000;

/** What views of syncs, pigeonholes and sinks are made of, as one moment shows it. */
export interface Present {
  readonly now: Date;
  readonly config: Pick<Config, 'workspaces' | 'syncs' | 'sinks'>;
  readonly status: Status;
  /** On which something is still sent. */
  readonly lanes: readonly LaneState[];
  readonly progress: readonly MinuteOfProgress[];
  readonly troubles: readonly Trouble[];
}

/** @param workspace the only one that is meant; null: all */
export async function readPresent(sources: StatusSources, workspace: string | null): Promise<Present> {
  const { ledger, config } = sources;
  const [status, all, places, progress, late] = await Promise.all([
    readStatus(sources, false, workspace),
    laneStates(ledger, { sink: null, workspace, after: null, limit: null }),
    pigeonholeNames(ledger, workspace),
    recentProgress(ledger, { minutes: chartMinutes, workspace }),
    lateReadings(ledger, lateAfterMs),
  ]);
  const now = new Date();
  const lanes = sentLanes(config, all, places);
  return {
    now,
    config: configOf(config, workspace),
    status,
    lanes,
    progress,
    troubles: whatIsWrong({ status, lanes, late, now }),
  };
}
