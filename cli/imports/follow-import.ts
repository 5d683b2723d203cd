import { performance } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import type { ImportView } from '../../importing/desk/import-views.js';
import { CommandError, ExitCode } from '../exit-code.js';
import type { ImportClient } from './import-client.js';
import type { ProgressDisplay } from './progress-display.js';

const lookEveryMs = 500;
/** A poll takes at most a quarter of the time: it counts every row of the import in the shared store. */
const shareOfLooking = 4;
/** A restart may take this long; the import continues afterwards. */
const maxSilenceMs = 60_000;

/** Returns the wait before the next poll. Pure. @param tookMs duration of the last poll */
export function pauseAfter(tookMs: number): number {
  return Math.max(lookEveryMs, (shareOfLooking - 1) * tookMs);
}

/** Why following ended: the import has finished, an operator must resume it, or the command was stopped. */
export type Followed = { readonly kind: 'ended' | 'paused' | 'stopped'; readonly view: ImportView };

/**
 * Shows an import until it has ended. A pigeonpost that is restarted meanwhile is waited for.
 * @param stop ends the following, not the import
 * @throws {CommandError} if nothing answers for a minute
 */
export async function followImport(
  client: Pick<ImportClient, 'find'>,
  first: ImportView,
  { display, stop }: { readonly display: ProgressDisplay; readonly stop: AbortSignal },
): Promise<Followed> {
  let view = first;
  let answeredAt = Date.now();
  let tookMs = 0;
  for (;;) {
    display(view, Date.now());
    if (view.state === 'done' || view.state === 'cancelled') return { kind: 'ended', view };
    if (view.state === 'paused') return { kind: 'paused', view };
    // oxlint-disable-next-line no-await-in-loop -- polls until the import has ended
    await pause(pauseAfter(tookMs), undefined, { signal: stop }).catch(() => undefined);
    if (stop.aborted) return { kind: 'stopped', view };
    const askedAt = performance.now();
    try {
      // oxlint-disable-next-line no-await-in-loop -- as above
      view = await client.find(first.id);
      answeredAt = Date.now();
      tookMs = performance.now() - askedAt;
    } catch (error) {
      const silent = error instanceof CommandError && error.exitCode === ExitCode.Unreachable;
      if (!silent || Date.now() - answeredAt > maxSilenceMs) throw error;
    }
  }
}
