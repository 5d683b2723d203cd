import { choose } from '../reading/discover.js';
import { eventTimes, sessionTimes } from '../reading/stream-facts.js';
import { syncsOf, planReading } from '../work/reading-plan.js';
import { allNeeds } from '../reading/demand.js';
import type { Config } from '../config/config.js';
import type { PigeonholeClient } from '../pigeonhole/client.js';
import type { ListRef } from '../pigeonhole/lists.js';
import {
  adviseOnQuota,
  type Advice,
  calendarDemand,
  type DayDemand,
  type PlannedPigeonhole,
} from './calendar-demand.js';
import { toPigeonhole } from '../reading/discover.js';
import { createWorkspaceClient } from '../work/open-clients.js';

/** Requests that reading needs from one key's quota. */
export interface Estimate {
  /** All workspaces that use the key. */
  readonly workspaces: readonly string[];
  /** Requests a day; null: not known. */
  readonly quota: number | null;
  /** Days with events, from today on. */
  readonly days: readonly DayDemand[];
  readonly busiest: DayDemand | null;
  readonly advice: Advice;
  /** Requests that this estimate itself has made. */
  readonly requestsMade: number;
}

/** The state of an estimate: counts its requests and keeps the last quota that the service reported. */
interface Asking {
  readonly client: PigeonholeClient;
  readonly signal: AbortSignal;
  made: number;
  limit: number | null;
}

/**
 * Estimates the requests that reading needs on the busiest day of the calendar, for each key. Reads pigeonholes, their
 * sessions and sizes; changes nothing and needs neither store nor Temporal.
 * @param quota requests a day, if the service does not report them or another plan is considered
 * @throws {ApiError} if the service cannot be read
 */
export async function* estimate(
  config: Config,
  { quota, now, signal }: { readonly quota: number | null; readonly now: number; readonly signal: AbortSignal },
): AsyncGenerator<Estimate, void, undefined> {
  for (const workspaces of sharingKeys(config)) {
    const pigeonholes: PlannedPigeonhole[] = [];
    let made = 0;
    let told: number | null = null;
    for (const workspace of workspaces) {
      const asking: Asking = { client: createWorkspaceClient(config, workspace), signal, made: 0, limit: null };
      try {
        pigeonholes.push(...(await readCalendar(config, workspace, asking, now)));
      } finally {
        await asking.client.close();
      }
      made += asking.made;
      told = asking.limit ?? told;
    }
    const own = workspaces.map((workspace) => planReading(config, syncsOf(config, workspace), 'workspace'));
    const days = calendarDemand(pigeonholes, own, now);
    const busiest = days.toSorted((a, b) => allNeeds(b.needs) - allNeeds(a.needs))[0];
    const reserve = Math.max(...workspaces.map((workspace) => config.workspaces[workspace]!.quota.reserve));
    const known = quota ?? told;
    const advice = adviseOnQuota(busiest, { quota: known, reserve }, pigeonholes, own);
    yield { workspaces, quota: known, days, busiest: busiest ?? null, advice, requestsMade: made };
  }
}

/** Returns the workspaces that a sync reads, grouped by key, because workspaces with the same key share its quota. */
function sharingKeys(config: Config): string[][] {
  const byKey = new Map<string, string[]>();
  for (const [name, { apiKey }] of Object.entries(config.workspaces)) {
    if (syncsOf(config, name).length === 0) continue;
    byKey.set(apiKey.reveal(), [...(byKey.get(apiKey.reveal()) ?? []), name]);
  }
  return [...byKey.values()];
}

async function readCalendar(
  config: Config,
  workspace: string,
  asking: Asking,
  now: number,
): Promise<PlannedPigeonhole[]> {
  const shown = await readAll(asking, { list: 'pigeonholes' });
  const items = new Map(shown.map((item) => [item['id'] as number, item]));
  const known = [...items.values()].map(toPigeonhole);
  const syncsById = new Map<number, string[]>();
  for (const sync of syncsOf(config, workspace)) {
    for (const id of choose(config.syncs[sync]!.pigeonholes, known)) {
      if (items.has(id)) syncsById.set(id, [...(syncsById.get(id) ?? []), sync]);
    }
  }
  const planned: PlannedPigeonhole[] = [];
  for (const [id, syncs] of syncsById) {
    const item = items.get(id)!;
    const event = eventTimes(item);
    if (event.endsAt !== null && event.endsAt <= now) continue; // over: a few polls a day, until it is dormant
    // One request at a time, because the estimate does not need to be fast.
    const sessions = await readAll(asking, { list: 'sessions', pigeonholeId: id });
    asking.made += 1;
    const { expectedParticipants } = await asking.client.getPigeonhole(id, { signal: asking.signal });
    planned.push({
      status: typeof item['status'] === 'string' ? item['status'] : null,
      event,
      sessions: new Map(sessions.map((session) => [session['id'] as number, sessionTimes(session)])),
      expectedParticipants: expectedParticipants ?? null,
      plan: planReading(config, syncs, 'pigeonhole'),
    });
  }
  return planned;
}

async function readAll(asking: Asking, list: ListRef): Promise<Readonly<Record<string, unknown>>[]> {
  const items: Readonly<Record<string, unknown>>[] = [];
  for await (const page of asking.client.pages(list, { signal: asking.signal })) {
    asking.made += 1;
    asking.limit = page.quota?.limit ?? asking.limit;
    items.push(...page.items);
  }
  return items.filter(({ id }) => typeof id === 'number');
}
