import type { PigeonholeListName } from '../../base/lists.js';
import { seededRandom } from '../kit/random.js';
import { planFaults } from './plan-faults.js';
import { planKills, sparePaused } from './plan-kills.js';
import { planReceiverFailures } from './plan-receiver-failures.js';
import { planService, type ServicePlan } from './plan-service.js';
import { planClock, planClockJumps } from './plan-clock.js';
import { planStops } from './plan-stops.js';

export type Store = 'embedded' | 'postgres';

/** Targets of SIGKILL. `store` is PostgreSQL's server; an embedded store dies with `parent`. */
export type Victim = 'parent' | 'worker' | 'temporal' | 'store' | 'everything';

/** Failure mode of the failing receiver. `refuse`: it is killed, and no process listens. */
export type ReceiverMode = '5xx' | '429' | 'hang' | 'dropBefore' | 'dropAfter' | 'refuse';

export type Deed =
  | Kill
  | Stop
  /** The wall clock of the worker jumps, so that it is ahead of all others by this much, or behind if negative. */
  | { readonly do: 'clock'; readonly aheadMs: number }
  /** A list of one pigeonhole is shown short several times in a row. */
  | ShortAnswers
  /** Rules of the sandbox's fault API, removed after `forMs`. */
  | { readonly do: 'faults'; readonly rules: readonly FaultRule[]; readonly forMs: number }
  | { readonly do: 'quota'; readonly quota: QuotaWindow; readonly forMs: number }
  /** A list changes its order or its cursors during the run. */
  | { readonly do: 'list'; readonly list: PigeonholeListName; readonly setting: ListSetting }
  | { readonly do: 'page-size'; readonly maxPerPage: number }
  | { readonly do: 'receiver'; readonly mode: ReceiverMode; readonly forMs: number }
  /** Emits this number of live events in one burst. */
  | { readonly do: 'burst'; readonly count: number }
  /** An operator requests an immediate read, so that a stream with a long wait is read before the end of the run. */
  | { readonly do: 'poll-now' };

export interface Kill {
  readonly do: 'kill';
  readonly victim: Victim;
  readonly restartAfterMs: number;
}

/** A process is stopped with SIGSTOP and continued later, as on a suspended machine. */
export interface Stop {
  readonly do: 'stop';
  readonly victim: 'parent' | 'worker';
  readonly forMs: number;
}

export interface ShortAnswers {
  readonly do: 'short';
  readonly list: PigeonholeListName;
  /** Index of the pigeonhole, modulo their number. */
  readonly pigeonhole: number;
  /** Items that an answer shows. */
  readonly show: number;
  readonly times: number;
  readonly forMs: number;
}

export type FaultRule = Readonly<Record<string, string | number | boolean>>;

export interface ListSetting {
  readonly order?: 'ascending' | 'descending' | 'unordered';
  readonly cursor?: 'keyset' | 'offset';
}

export interface QuotaWindow {
  readonly limit: number;
  readonly windowSeconds: number;
  readonly headers: boolean;
  readonly retryAfter: boolean;
}

export interface PlannedDeed {
  /** Time since all processes were ready. */
  readonly atMs: number;
  readonly deed: Deed;
}

export interface PlannedStop extends PlannedDeed {
  readonly deed: Stop;
}

/** All random decisions of a run. The same seed, length and options produce the same plan. */
export interface ChaosPlan {
  readonly seed: number;
  readonly store: Store;
  readonly durationMs: number;
  readonly service: ServicePlan;
  readonly deeds: readonly PlannedDeed[];
  /** Time by which the worker's wall clock is ahead of all others at its start. */
  readonly clockAheadMs: number;
}

export interface PlanOptions {
  readonly seed: number;
  readonly durationMs: number;
  /** `any`: the seed decides. */
  readonly store: Store | 'any';
  /** Whether items are withdrawn, deleted and restored. */
  readonly deletions: boolean;
}

/** Plans a run. Each part uses its own generator, so that an additional fault does not change the kills. */
export function planChaos({ seed, durationMs, store, deletions }: PlanOptions): ChaosPlan {
  const part = (n: number): (() => number) => seededRandom(seed * 16 + n);
  const drawn: Store = part(0)() < 0.5 ? 'embedded' : 'postgres';
  const chosen = store === 'any' ? drawn : store;
  const stops = planStops(part(5), durationMs, chosen);
  const deeds = [
    ...sparePaused(planKills(part(1), durationMs, chosen), stops, chosen),
    ...planFaults(part(2), durationMs, deletions),
    ...planReceiverFailures(part(3), durationMs),
    ...stops,
    ...planClockJumps(part(7), durationMs, chosen),
  ].toSorted((a, b) => a.atMs - b.atMs);
  const clockAheadMs = planClock(part(6), chosen);
  return { seed, store: chosen, durationMs, service: planService(part(4), seed, deletions), deeds, clockAheadMs };
}
