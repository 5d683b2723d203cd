import { allNeeds, forecastNeeds } from '../reading/demand.js';
import { lastsMs, leftForReading, type Needs } from '../work/asking/quota-rules.js';
import type { QuotaView } from './status-view.js';
import type { Config } from '../config/config.js';
import type { Ledger } from '../ledger/ledger.js';
import { type QuotaState, readQuotas } from '../work/asking/quota.js';

const hourMs = 3_600_000;

/** Returns the quota of each workspace's key and the requests that reading will need; only for keys in use. */
export async function viewQuotas(config: Config, ledger: Ledger, now: number): Promise<Map<string, QuotaView>> {
  const keys = new Map(
    Object.entries(config.workspaces).map(([name, { apiKey }]) => [name, ledger.hash.fingerprint(apiKey.reveal())]),
  );
  const states = await readQuotas(ledger, [...new Set(keys.values())]);
  const views = new Map<string, QuotaView>();
  for (const [name, key] of keys) {
    const state = states.get(key);
    if (state === undefined) continue;
    const sharing = [...keys].filter(([, other]) => other === key).map(([other]) => other);
    // oxlint-disable-next-line no-await-in-loop -- a handful, each some statements on the same store
    const [needs] = await forecastNeeds({ ledger, config }, sharing, [hourMs], now);
    views.set(name, viewQuota(state, config.workspaces[name]!.quota.reserve, needs!, now));
  }
  return views;
}

/** Pure. @param needs within the next hour */
export function viewQuota(state: QuotaState, reserve: number, needs: Needs, now: number): QuotaView {
  const left = state.waitMs > 0 ? 0 : state.remaining;
  const forReading = leftForReading({ ...state, remaining: left }, reserve);
  const lasts = lastsMs(forReading, allNeeds(needs), state.planInMs);
  return {
    limit: state.limit,
    learnt: state.limit !== null && !state.told,
    used: state.used,
    left,
    reserved: left === null || forReading === null ? 0 : left - forReading,
    resetAt: state.resetTold ? new Date(now + state.resetInMs).toISOString() : null,
    nextHour: {
      live: Math.ceil(needs.live),
      idle: Math.ceil(needs.idle),
      sweep: Math.ceil(needs.sweep),
      all: Math.ceil(allNeeds(needs)),
    },
    lastsUntil: lasts === null || lasts === 0 ? null : new Date(now + lasts).toISOString(),
  };
}
