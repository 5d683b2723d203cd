import type { LaneState } from '../delivering/read-lanes.js';
import { type MinuteOfProgress, recentProgress } from '../reading/progress.js';
import { chartMinutes } from './minutes.js';
import { configOf } from './scope.js';
import { readStanding, type StatusSources } from './status.js';
import type { Status } from './status-view.js';
import type { Trouble } from './what-is-wrong.js';
import type { Config } from '../config/config.js';

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
  const [{ status, standing }, progress] = await Promise.all([
    readStanding(sources, false, workspace),
    recentProgress(ledger, { minutes: chartMinutes, workspace }),
  ]);
  const { lanes } = standing;
  const now = new Date();
  return { now, config: configOf(config, workspace), status, lanes, progress, troubles: status.problems };
}
