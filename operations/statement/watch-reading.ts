import { readReading, type StatusSources } from '../read-status.js';
import type { Status } from '../status-view.js';
import { type PresentInterruption, startCheck, storeInterruptions } from './interruption-store.js';
import type { InterruptionCause } from './statement.js';

/** If no process has checked for this long, pigeonpost was not running. */
const stoppedAfterMs = 60_000;

/**
 * Checks once what interrupts the reading, and stores what has started or ended, unless another process has just done
 * so. Statements show it as coverage of time. Only processes that read may call it: a gap between two checks counts as a
 * standstill.
 */
export async function watchReading(sources: StatusSources, everyMs: number): Promise<void> {
  const { ledger } = sources;
  const check = await startCheck(ledger, everyMs * 0.8); // a timer may fire a little early
  if (check === undefined) return;
  const { workspaces, now } = await readReading(sources);
  const { at, last } = check;
  const stoppedSince = last !== null && at.getTime() - last.getTime() > stoppedAfterMs ? last : null;
  await storeInterruptions(ledger, presentInterruptions({ workspaces }, now), { at, stoppedSince });
}

const waits: ReadonlySet<string | null> = new Set(['quota', 'throttled', 'credential'] satisfies InterruptionCause[]);

/** Returns everything that keeps lists from being read now, or delays it. Pure. */
export function presentInterruptions({ workspaces }: Pick<Status, 'workspaces'>, now: Date): PresentInterruption[] {
  return workspaces.flatMap(({ name: workspace, pause, unanswered, state, reason, pigeonholes }) => {
    const own = (cause: InterruptionCause, since: string): PresentInterruption => ({
      workspace,
      pigeonholeId: null,
      cause,
      since: new Date(since),
    });
    if (pause !== null) return [own(pause.cause === 'credential' ? 'credential' : 'paused', pause.since)];
    if (unanswered !== null) return [own('silent', unanswered.since)];
    if (state === 'waiting' && waits.has(reason)) return [own(reason as InterruptionCause, now.toISOString())];
    return pigeonholes.flatMap(({ id: pigeonholeId, pause: paused, goneAt, freshness }): PresentInterruption[] => {
      if (goneAt !== null) return [];
      if (paused !== null) return [{ workspace, pigeonholeId, cause: 'paused', since: new Date(paused.since) }];
      if (freshness.state !== 'late') return [];
      const since = new Date(now.getTime() - freshness.lateSeconds * 1000);
      return [{ workspace, pigeonholeId, cause: 'late', since }];
    });
  });
}
