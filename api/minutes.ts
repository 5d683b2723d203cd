import { z } from '@hono/zod-openapi';
import type { MinuteOfProgress } from '../reading/progress.js';

/** What a chart shows. */
export const chartMinutes = 60;

const minuteMs = 60_000;

/** How much happened in each of the last sixty minutes. */
export const minutesSchema = z
  .array(z.int())
  .length(chartMinutes)
  .readonly()
  .describe('Changes in each of the last 60 minutes, oldest first; the last one is this minute so far.');

/** Adds up by minute what is meant. Pure. */
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
