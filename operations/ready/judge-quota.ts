import { allNeeds } from '../../reading/demand.js';
import { type ReadingPlan, planReading, syncsOf } from '../../work/reading-plan.js';
import type { TimeWindow } from '../../reading/cadence.js';
import type { ReadyCheck } from './readiness.js';
import { adviseOnQuota, calendarDemand, dayMs, type PlannedPigeonhole } from '../calendar-demand.js';
import { counted } from '../../base/words.js';
import { readSchedules } from '../../reading/stream-facts.js';
import type { Config } from '../../config/config.js';
import type { Ledger } from '../../ledger/ledger.js';
import { peopleOf, selectedPigeonholes } from '../../ledger/pigeonholes.js';

const about = { id: 'quota', label: 'Request quota' };

interface QuotaFacts {
  /** Days of this event. */
  readonly event: TimeWindow;
  /** All pigeonholes that the key's workspaces read, including this one. */
  readonly pigeonholes: readonly PlannedPigeonhole[];
  readonly workspacePlans: readonly ReadingPlan[];
  /** Requests a day; null: the service has not stated it. */
  readonly limit: number | null;
  /** Share of the requests that is kept for imports. */
  readonly reserve: number;
  readonly now: number;
}

/** Checks whether the quota suffices on the busiest day of the event for everything that the key reads. Pure. */
export function judgeQuota({ event, pigeonholes, workspacePlans, limit, reserve, now }: QuotaFacts): ReadyCheck {
  if (event.startsAt === null || event.endsAt === null) {
    return {
      ...about,
      state: 'warning',
      says: 'the days of the event are not known, so the requests cannot be estimated',
      todo: 'pigeonpost check --estimate',
    };
  }
  if (event.endsAt <= now) return { ...about, state: 'ok', says: 'the event is over: a few requests a day suffice' };
  const first = new Date(Math.max(event.startsAt, now)).toISOString().slice(0, 10);
  const last = new Date(event.endsAt - 1).toISOString().slice(0, 10);
  const [busiest] = calendarDemand(pigeonholes, workspacePlans, Math.max(now, event.startsAt - dayMs))
    .filter(({ day }) => day >= first && day <= last)
    .toSorted((a, b) => allNeeds(b.needs) - allNeeds(a.needs));
  if (limit === null && busiest !== undefined) {
    const need = Math.ceil(allNeeds(busiest.needs));
    return {
      ...about,
      state: 'warning',
      says: `its busiest day, ${busiest.day}, needs about ${counted(need, 'request')}; the service does not report the quota`,
      todo: 'compare with your plan: pigeonpost check --estimate --quota N',
    };
  }
  const { fits, text } = adviseOnQuota(busiest, { quota: limit, reserve }, pigeonholes, workspacePlans);
  if (fits === true) return { ...about, state: 'ok', says: text };
  if (fits === null) return { ...about, state: 'warning', says: text };
  return {
    ...about,
    state: 'failed',
    says: text,
    todo: 'change "every" of the sync, then "pigeonpost config apply"; or request a larger quota',
  };
}

/** Returns the pigeonholes that the workspaces read, for the calendar. Reads only the ledger and makes no request. */
export async function plannedPigeonholes(
  { config, ledger }: { readonly config: Config; readonly ledger: Ledger },
  workspaces: readonly string[],
): Promise<{ readonly pigeonholes: readonly PlannedPigeonhole[]; readonly workspacePlans: readonly ReadingPlan[] }> {
  const reading = workspaces.filter((workspace) => syncsOf(config, workspace).length > 0);
  const selected = await selectedPigeonholes(
    ledger,
    reading.flatMap((workspace) => syncsOf(config, workspace)),
  );
  const refs = selected.map(({ ref }) => ref);
  const [schedules, people] = await Promise.all([readSchedules(ledger, refs), peopleOf(ledger, refs)]);
  return {
    pigeonholes: selected.map(({ ref, status, syncs }) => {
      const { event, sessions } = schedules.get(ref)!;
      const plan = planReading(config, syncs, 'pigeonhole');
      return { status, event, sessions, expectedParticipants: people.get(ref) ?? null, plan };
    }),
    workspacePlans: reading.map((workspace) => planReading(config, syncsOf(config, workspace), 'workspace')),
  };
}
