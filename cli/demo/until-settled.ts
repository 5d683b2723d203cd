import { setTimeout as pause } from 'node:timers/promises';
import type { Status } from '../../operations/status-view.js';
import { CommandError, ExitCode } from '../exit-code.js';
import { sumOf } from '../format-values.js';
import type { DemoView } from './demo-screen.js';

const lookEveryMs = 1000;
/** Even the build of Temporal reports progress every few seconds, so this is long enough for every step. */
const giveUpAfterMs = 5 * 60_000;

/**
 * Waits until everything is delivered or withheld.
 * @param look reads the current state; calls never overlap
 * @returns the settled status
 * @throws {CommandError} if nothing has changed for five minutes
 */
export async function untilSettled(
  look: () => Promise<DemoView>,
  clock: { now: () => number; pauseMs?: number } = { now: Date.now },
): Promise<Status> {
  let progress = '';
  let movedAt = clock.now();
  for (;;) {
    const view = await look();
    if (view.status !== null && isSettled(view)) return view.status;
    const seen = progressOf(view);
    if (seen !== progress) movedAt = clock.now();
    progress = seen;
    if (clock.now() - movedAt > giveUpAfterMs) {
      throw new CommandError(
        ExitCode.Failed,
        `nothing changed for 5 minutes while the demo was waiting for everything to settle (${lastWords(view)}): see the logs in the demo's folder`,
      );
    }
    await pause(clock.pauseMs ?? lookEveryMs);
  }
}

/**
 * Whether the whole source is settled. The API may report settled before every pigeonhole was found, so this also
 * compares their number with the source. The demo's sync selects all pigeonholes, so nothing may be withheld as not
 * selected.
 */
export function isSettled({ source, status }: DemoView): boolean {
  if (source === null || status === null || !status.settled) return false;
  if (status.sinks.some(({ withheld }) => (withheld['not-selected'] ?? 0) > 0)) return false;
  const read = new Set(status.workspaces.flatMap(({ pigeonholes }) => pigeonholes.map(({ id }) => id)));
  return source.pigeonholes.every(({ id }) => read.has(id));
}

function progressOf({ note, status }: DemoView): string {
  return JSON.stringify([
    note,
    status?.workspaces.map(({ pigeonholes }) => pigeonholes.map(({ id, changes, streams }) => [id, changes, streams])),
    status?.sinks.map(({ delivered, backlog, withheld }) => [delivered, backlog, sumOf(withheld)]),
  ]);
}

function lastWords({ note, status }: DemoView): string {
  if (status === null) return note ?? 'pigeonpost has not started';
  const trouble = [...status.workspaces, ...status.sinks].find(({ state }) => state !== 'working');
  if (trouble === undefined) return 'no problems reported';
  return `${trouble.name} is ${trouble.state}${trouble.reason === null ? '' : `: ${trouble.reason}`}`;
}
