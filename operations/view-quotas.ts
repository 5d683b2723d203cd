import { allNeeds, forecastNeeds } from '../reading/demand.js';
import { lastsMs, leftForReading, type Needs } from '../work/requests/quota-rules.js';
import type { QuotaView } from './status-view.js';
import type { Config } from '../config/config.js';
import type { Ledger } from '../ledger/ledger.js';
import { type QuotaState, readQuotas } from '../work/requests/quota.js';

const hourMs = 3_600_000;

/** Returns the quota of each workspace's key and the requests that reading will need; only for keys in use. */
export async function viewQuotas(config: Config, ledger: Ledger, now: number): Promise<Map<string, QuotaView>> {
  const sharing = new Map<string, string[]>(); // names of workspaces by the fingerprint of their key
  for (const [name, { apiKey }] of Object.entries(config.workspaces)) {
    const key = ledger.hash.fingerprint(apiKey.reveal());
    sharing.set(key, [...(sharing.get(key) ?? []), name]);
  }
  // All statements are sent at the same time: on a busy embedded store, each waits until the ones before it are done.
  const [states, ...needs] = await Promise.all([
    readQuotas(ledger, [...sharing.keys()]),
    ...[...sharing.values()].map((names) => forecastNeeds({ ledger, config }, names, [hourMs], now)),
  ]);
  return new Map(
    [...sharing].flatMap(([key, names], index) => {
      const state = states.get(key);
      const [need] = needs[index]!;
      const viewOf = (name: string): QuotaView => viewQuota(state!, config.workspaces[name]!.quota.reserve, need!, now);
      return state === undefined ? [] : names.map((name) => [name, viewOf(name)] as const);
    }),
  );
}

/** Builds the view of a quota. Pure. @param needs requests that reading needs within the next hour */
export function viewQuota(state: QuotaState, reserve: number, needs: Needs, now: number): QuotaView {
  const left = state.waitMs > 0 ? 0 : state.remaining;
  const forReading = leftForReading({ ...state, remaining: left }, reserve);
  const lasts = lastsMs(forReading, allNeeds(needs), state.planInMs);
  return {
    limit: state.limit,
    learnt: state.limit !== null && !state.limitReported,
    used: state.used,
    left,
    reserved: left === null || forReading === null ? 0 : left - forReading,
    resetAt: state.resetReported ? new Date(now + state.resetInMs).toISOString() : null,
    nextHour: {
      live: Math.ceil(needs.live),
      idle: Math.ceil(needs.idle),
      sweep: Math.ceil(needs.sweep),
      all: Math.ceil(allNeeds(needs)),
    },
    lastsUntil: lasts === null || lasts === 0 ? null : new Date(now + lasts).toISOString(),
  };
}
