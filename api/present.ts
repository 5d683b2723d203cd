import type { LaneState } from '../delivering/read-lanes.js';
import { type MinuteOfProgress, recentProgress } from '../reading/progress.js';
import { configOf, readSnapshot, type StatusSources } from '../operations/read-status.js';
import type { Status } from '../operations/status-view.js';
import type { NamedPigeonhole } from '../ledger/pigeonholes.js';
import type { Config } from '../config/config.js';
import { z } from '@hono/zod-openapi';

/** Data for the views of syncs, pigeonholes and sinks, read at one moment. */
export interface Present {
  readonly now: Date;
  readonly config: Pick<Config, 'workspaces' | 'syncs' | 'sinks'>;
  readonly status: Status;
  /** Lanes that still receive changes. */
  readonly lanes: readonly LaneState[];
  readonly progress: readonly MinuteOfProgress[];
  /** The known pigeonholes, with the syncs that read them. */
  readonly places: readonly NamedPigeonhole[];
}

/** @param workspace the only workspace to read; null: all */
export async function readPresent(sources: StatusSources, workspace: string | null): Promise<Present> {
  const { ledger, config } = sources;
  const [{ status, snapshot, places }, progress] = await Promise.all([
    readSnapshot(sources, false, workspace),
    recentProgress(ledger, { minutes: chartMinutes, workspace }),
  ]);
  const { lanes, now } = snapshot;
  return { now, config: configOf(config, workspace), status, lanes, progress, places };
}

/** Length of a chart in minutes. */
const chartMinutes = 60;

const minuteMs = 60_000;

/** Changes in each of the last 60 minutes. */
export const minutesSchema = z
  .array(z.int())
  .length(chartMinutes)
  .readonly()
  .describe('Changes in each of the last 60 minutes, oldest first. The last number covers the current minute so far.');

/** Adds up counts by minute. Pure. */
export function byMinute(
  progress: readonly MinuteOfProgress[],
  isMeant: (each: MinuteOfProgress) => boolean,
  now: Date,
): number[] {
  const minutes = Array.from({ length: chartMinutes }, () => 0);
  const present = Math.floor(now.getTime() / minuteMs);
  for (const each of progress) {
    const position = chartMinutes - 1 - (present - Math.floor(each.minute.getTime() / minuteMs));
    if (position >= 0 && position < chartMinutes && isMeant(each)) minutes[position]! += each.changes;
  }
  return minutes;
}
