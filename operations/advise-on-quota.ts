import { allNeeds } from '../reading/demand.js';
import type { ReadingPlan } from '../work/reading-plan.js';
import type { Intervals } from '../config/config.js';
import { calendarDemand, type DayDemand, type PlannedPigeonhole, withIntervals } from './calendar-demand.js';

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
/** As a person would write them. */
const liveSteps = [10 * second, 15 * second, 30 * second, minute, 2 * minute, 5 * minute, 10 * minute];
/** The longest interval outside session times that a file without `every.live` has. */
const usualQuiet = 5 * minute;
const upcomingSteps = [15 * minute, 30 * minute, hour, 6 * hour];

export interface Advice {
  readonly fits: boolean | null;
  /** One sentence. */
  readonly text: string;
}

/**
 * Whether the busiest day fits into the quota, and what would make it fit: the smallest change of intervals that does.
 * Pure.
 * @param quota requests a day; null: not known
 * @param reserve share of them that is kept for imports
 */
export function adviseOnQuota(
  busiest: DayDemand | undefined,
  { quota, reserve }: { readonly quota: number | null; readonly reserve: number },
  pigeonholes: readonly PlannedPigeonhole[],
  workspacePlans: readonly ReadingPlan[],
): Advice {
  if (busiest === undefined) return { fits: null, text: 'No pigeonhole that is read takes place from today on.' };
  const need = Math.ceil(allNeeds(busiest.needs));
  const day = `The busiest day, ${busiest.day}, needs about ${need} requests`;
  if (quota === null) {
    return { fits: null, text: `${day}; the service does not tell its quota: give it with --quota N to compare.` };
  }
  const usable = Math.floor(quota * (1 - reserve));
  if (need <= usable) return { fits: true, text: `${day} of the ${usable} that reading may use: it fits.` };
  const over = `${day}, and reading may use ${usable} of ${quota}`;
  const dayAt = Date.parse(`${busiest.day}T00:00:00Z`);
  const needWith = (change: (every: Intervals) => Intervals): number =>
    Math.ceil(
      allNeeds(
        calendarDemand(withIntervals(pigeonholes, change), workspacePlans, dayAt).find(
          ({ day: at }) => at === busiest.day,
        )!.needs,
      ),
    );
  const keepsLive = pigeonholes.some(({ plan }) => (plan.everyMs.quiet ?? usualQuiet) < usualQuiet);
  for (const upcoming of [0, ...upcomingSteps]) {
    for (const live of [0, ...liveSteps]) {
      if (upcoming === 0 && live === 0 && !keepsLive) continue;
      const less = needWith((every) => longer(every, live, upcoming));
      if (less > usable) continue;
      const changes = [
        ...(live === 0 ? [] : [`live: ${inShort(live)}`]),
        // A file that states `live` alone keeps it outside session times as well.
        ...((keepsLive || live > 0) && live < usualQuiet ? [`quiet: ${inShort(usualQuiet)}`] : []),
        ...(upcoming === 0 ? [] : [`upcoming: ${inShort(upcoming)}`]),
      ];
      return { fits: false, text: `${over}: with "every: { ${changes.join(', ')} }" it needs ${less}.` };
    }
  }
  return { fits: false, text: `${over}: read fewer lists or pigeonholes, or have the plan raised.` };
}

function longer(every: Intervals, live: number, upcoming: number): Intervals {
  return {
    ...every,
    live: Math.max(every.live, live),
    quiet: Math.max(every.quiet ?? 0, usualQuiet),
    upcoming: Math.max(every.upcoming, upcoming),
    lists: Object.fromEntries(
      Object.entries(every.lists).map(([list, ms]) => [list, list === 'pigeonholes' ? ms : Math.max(ms, live)]),
    ),
  };
}

function inShort(ms: number): string {
  if (ms % hour === 0) return `${ms / hour}h`;
  return ms % minute === 0 ? `${ms / minute}m` : `${ms / second}s`;
}
