import { performance } from 'node:perf_hooks';
import type { Forecast, Needs } from './quota-rules.js';

/**
 * Maximum time for which a forecast is reused. A process that has just started forecasts more often, because the first
 * forecast may know none of the streams yet.
 */
const longestMs = 60_000;
const shortestMs = 1000;

interface Known {
  readonly config: unknown;
  readonly spansMs: readonly number[];
  readonly at: number;
  readonly needs: Promise<Needs[]>;
}

/**
 * Returns a forecast that is computed again at most once a minute for the same workspaces and configuration, because it
 * reads all their streams. A span that has changed meanwhile gets its share of the remembered need. A failed forecast is
 * not remembered.
 * @param now monotonic clock, ms
 */
export function rememberForecast(forecast: Forecast, now: () => number = () => performance.now()): Forecast {
  const remembered = new Map<string, Known>();
  const first = new Map<string, number>();
  return async (given, workspaces, spansMs, epochMs) => {
    const name = JSON.stringify(workspaces);
    const at = now();
    const since = first.get(name) ?? at;
    first.set(name, since);
    let known = remembered.get(name);
    const validMs = known && Math.min(longestMs, Math.max(shortestMs, known.at - since));
    if (known === undefined || known.config !== given.config || at - known.at > validMs! || !fits(known, spansMs)) {
      known = { config: given.config, spansMs, at, needs: forecast(given, workspaces, spansMs, epochMs) };
      remembered.set(name, known);
      known.needs.catch(() => remembered.delete(name));
    }
    const { spansMs: of } = known;
    return (await known.needs).map((needs, n) => share(needs, of[n] === 0 ? 1 : spansMs[n]! / of[n]!));
  };
}

/** Whether the spans differ by no more than the time for which a forecast is reused. */
function fits({ spansMs: known }: Known, spansMs: readonly number[]): boolean {
  return known.length === spansMs.length && known.every((ms, n) => Math.abs(ms - spansMs[n]!) <= longestMs);
}

function share({ live, idle, sweep }: Needs, part: number): Needs {
  return { live: live * part, idle: idle * part, sweep: sweep * part };
}
