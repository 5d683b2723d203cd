import { performance } from 'node:perf_hooks';
import type { Config } from '../../config/config.js';
import type { Ledger } from '../../ledger/ledger.js';
import { LedgerError } from '../../ledger/ledger-error.js';
import {
  forgetToldLimit,
  noteAnswer,
  notePassed,
  noteRefusal,
  noteUsedUp,
  type Priority,
  type QuotaState,
  readQuota,
  spendPermit,
} from './quota.js';
import { pausesOf } from '../../ledger/pauses.js';
import { isUnanswered, noteAnswering, noteUnanswered, retryWorkspace } from '../../ledger/workspaces.js';
import { ApiError } from '../../pigeonhole/api-error.js';
import type { PigeonholeClient } from '../../pigeonhole/client.js';
import type { Quota } from '../../pigeonhole/response-headers.js';
import type { Collaborators, Log } from '../collaborators.js';
import { forecastNeeds } from './forecast.js';
import { isNews } from './is-news.js';
import { Outages } from './outages.js';
import { PermitRefusal } from './permit-refusal.js';
import { hold, type Held, type Key, learn, unknownKey, wasCounted } from './key-permits.js';
import { ServiceWatch } from './service-watch.js';
import {
  aloneBelow,
  leastLeft,
  leftForReading,
  needsUntil,
  mayTakeAhead,
  type Needs,
  type Refusal,
  refusalOf,
  type Stretch,
  stretchFor,
  unstretched,
  waitAfterRefusal,
} from './quota-rules.js';

/** What of the collaborators a request takes. They may be others at the next one: a configuration can be replaced. */
type Way = Pick<Collaborators, 'clients' | 'config'>;

/** How long a forecast of what reading will need is believed. */
const forecastMs = 60_000;
/** Others may change what stands in the way between looking and asking; then it is looked at again, so often. */
const mostLooks = 5;

/** So many successes in a row that say nothing of the quota, and what the service said of it before is over. */
const silenceMeansNone = 3;

/** A witness of an outage is given up after this time: by then it has said what it can. */
const witnessTimeoutMs = 10_000;

export interface GateOptions {
  readonly now?: () => number;
  readonly onBack?: (workspace: string) => void;
}

/** A permit for a request that is still to be made: hand it to `ask`, or `giveBack`. */
export interface AheadPermit {
  readonly key: Key;
  readonly held: Held;
  /** `Key.refused` when it was taken. */
  readonly refused: number;
}

/** Under what a request is made. */
export interface Permit {
  readonly workspace: string;
  readonly priority: Priority;
  /** From `takeAhead`, of the same workspace and priority; it is used or given back. */
  readonly ahead?: Promise<AheadPermit | undefined> | undefined;
}

/**
 * The only way to the service: each request takes a permit of its API key's quota before, by one short statement, and
 * tells the ledger what the answer says of the quota, where that is news. One for a process, for all its workspaces;
 * what several processes have to agree on stands in the ledger (decision 0013).
 */
export class ServiceGate {
  readonly outages: Outages;
  readonly #watch: ServiceWatch;
  private readonly now: () => number;
  readonly #keys = new Map<string, Key>();

  /** @param options.now a clock that never jumps, ms; options.onBack called when the service answers a workspace again */
  constructor(
    private readonly ledger: Ledger,
    log: Log,
    { now = () => performance.now(), onBack }: GateOptions = {},
  ) {
    this.now = now;
    const notes = {
      unanswered: (workspace: string, outage: Parameters<typeof noteUnanswered>[2]) =>
        noteUnanswered(ledger, workspace, outage),
      answering: async (workspace: string) => {
        if (!(await isUnanswered(ledger, workspace))) return;
        // What failed meanwhile may wait for minutes, which is no use any more. This comes before the note is removed, so
        // that after a crash in between the next answer does it again.
        await retryWorkspace(ledger, workspace);
        await noteAnswering(ledger, workspace);
        onBack?.(workspace);
      },
    };
    this.outages = new Outages(log, notes, now, () => ledger.clock.nowMs());
    this.#watch = new ServiceWatch(this.outages, now);
  }

  /** Judges whether the service answers; called every `watchEveryMs` where requests are made. */
  async watch(way: Way): Promise<void> {
    await this.#watch.tick(async (workspace) => {
      if (!way.clients.has(workspace)) return;
      if ((await pausesOf(this.ledger, [{ scope: 'workspace', name: workspace }])).length > 0) return;
      const signal = AbortSignal.timeout(witnessTimeoutMs);
      await this.ask(way, { workspace, priority: 'live' }, (client) =>
        client.page({ list: 'pigeonholes' }, { count: 1, signal }),
      );
    });
  }

  /**
   * Makes one request under a permit.
   * @param quotaOf what the answer says of the quota, where the call's result tells
   * @throws {PermitRefusal} when the quota does not allow it now: no request was made
   * @throws {ApiError} as the call
   */
  async ask<T>(
    way: Way,
    { workspace, priority, ahead }: Permit,
    call: (client: PigeonholeClient) => Promise<T>,
    quotaOf?: (result: T) => Quota | null,
  ): Promise<T> {
    const client = way.clients.get(workspace);
    if (client === undefined) {
      throw new LedgerError('configuration', `workspace ${workspace} is not in this process's configuration`);
    }
    const key = this.#keyOf(way.config, workspace);
    const held = (await this.#use(key, await ahead)) ?? (await this.#take(way, key, workspace, priority));
    try {
      const result = await this.#call(key, held, workspace, () => call(client));
      await this.outages.answered(workspace);
      const said = quotaOf?.(result) ?? null;
      await this.#answered(key, held, said);
      if (quotaOf !== undefined) await this.#listen(key, said);
      return result;
    } finally {
      held.release();
    }
  }

  /**
   * Takes the permit of a request that follows for all that is known, while the one before it is under way: taking it
   * then would keep the service waiting. Spent from now on; one that is not used is given back.
   * @returns undefined where requests stand alone, or the quota has no room: whoever asks is told why
   */
  async takeAhead(
    way: Way,
    { workspace, priority }: Pick<Permit, 'workspace' | 'priority'>,
  ): Promise<AheadPermit | undefined> {
    const key = this.#keyOf(way.config, workspace);
    // Another one's permit would have to be waited for, and it may be that of the request before.
    if (key.alone !== undefined) return undefined;
    const known = await this.#stateOf(key);
    const needs = await this.#needsOf(way, key, workspace, known);
    const least = leastLeft(priority, known, reserveOf(way.config, workspace), needs);
    if (!mayTakeAhead(known, least)) return undefined;
    try {
      const held = await this.#take(way, key, workspace, priority);
      const permit = { key, held, refused: key.refused };
      if (!held.alone) return permit;
      await this.giveBack(permit);
    } catch (error) {
      if (!(error instanceof PermitRefusal)) throw error;
    }
    return undefined;
  }

  /** No request was made under it: it counts no more. */
  async giveBack({ key, held }: AheadPermit): Promise<void> {
    try {
      await notePassed(this.ledger, key.fingerprint, held, false);
    } finally {
      held.release();
    }
  }

  /** A permit that still holds: the key is the same, and the service has refused no request since it was taken. */
  async #use(key: Key, permit: AheadPermit | undefined): Promise<Held | undefined> {
    if (permit === undefined) return undefined;
    if (permit.key === key && key.refused === permit.refused && key.unnoted === 0) return permit.held;
    await this.giveBack(permit);
    return undefined;
  }

  /** A limit that the service has told is believed as long as it goes on telling it. */
  async #listen(key: Key, said: Quota | null): Promise<void> {
    key.silent = said === null ? key.silent + 1 : 0;
    const { state } = key;
    if (key.silent < silenceMeansNone || state === undefined || state.limit === null || !state.told) return;
    learn(key, await forgetToldLimit(this.ledger, key.fingerprint));
  }

  async #call<T>(key: Key, held: Held, workspace: string, call: () => Promise<T>): Promise<T> {
    const startedAt = this.now();
    const ended = this.#watch.sent(workspace);
    try {
      const result = await call();
      ended(true);
      return result;
    } catch (error) {
      ended(error instanceof ApiError && error.kind !== 'transient' && error.kind !== 'aborted');
      if (error instanceof ApiError) {
        await this.#noteOutage(workspace, error, startedAt);
        await this.#failed(key, held, error);
      }
      throw error;
    }
  }

  /** How much longer than configured each kind of reading has to wait, so that the quota lasts until its reset. */
  async stretchOf(way: Way, workspace: string): Promise<Stretch> {
    const key = this.#keyOf(way.config, workspace);
    const state = await this.#stateOf(key);
    const left = leftForReading(state, reserveOf(way.config, workspace));
    if (left === null) return unstretched;
    return stretchFor(await this.#needsOf(way, key, workspace, state), left, state.planInMs);
  }

  async #take(way: Way, key: Key, workspace: string, priority: Priority): Promise<Held> {
    const reserve = reserveOf(way.config, workspace);
    for (let looks = 0; looks < mostLooks;) {
      const known = await this.#stateOf(key);
      const { refused } = key;
      const needs = await this.#needsOf(way, key, workspace, known);
      const least = leastLeft(priority, known, reserve, needs);
      const isProbe = priority === 'live' && key.probeAt !== null && key.probeAt <= this.now();
      if (isProbe) key.probeAt = null; // before the statement: of several at once one is made
      const spent = await spendPermit(this.ledger, key.fingerprint, priority, {
        limit: known.limit,
        least: isProbe ? 0 : least,
        aloneBelow: aloneBelow(known.limit),
      });
      if (spent !== null) {
        if (priority === 'live' && spent.remaining !== null && spent.remaining >= least) key.probes = 0;
        return await this.#confirm(key, refused, hold(key, priority, learn(key, spent)));
      }
      const now = learn(key, await readQuota(this.ledger, key.fingerprint));
      const leastNow = leastLeft(priority, now, reserve, needs);
      const refusal = await this.#untilProbe(
        key,
        refusalOf(priority, now, leastNow, Math.max(now.refusals, key.probes)),
      );
      if (refusal?.reason === 'one-at-a-time' && key.alone !== undefined) {
        await key.alone; // one of this process: its deadline bounds the wait
      } else if (refusal !== null) {
        throw new PermitRefusal(refusal);
      } else {
        looks += 1; // it was another one's doing, and that is over
      }
    }
    throw new PermitRefusal({ scope: 'request', reason: 'one-at-a-time', waitMs: 250 });
  }

  /**
   * Sees to it that a request is made when the wait is over, where the refusal says so: of a quota that is used up by a
   * note in the ledger, since all processes wait for that one; of what is kept for imports by this process.
   */
  async #untilProbe(key: Key, refusal: Refusal | null): Promise<Refusal | null> {
    if (refusal?.probes !== true) return refusal;
    if (refusal.reason === 'used-up') {
      learn(key, await noteUsedUp(this.ledger, key.fingerprint, refusal.waitMs));
    } else if (key.probeAt === null) {
      key.probes += 1;
      key.probeAt = this.now() + refusal.waitMs;
    } else {
      return { ...refusal, waitMs: Math.max(1, Math.ceil(key.probeAt - this.now())) };
    }
    return refusal;
  }

  /** @throws {PermitRefusal} when the service has refused another request while this one waited for its permit */
  async #confirm(key: Key, refused: number, held: Held): Promise<Held> {
    if (key.refused === refused && key.unnoted === 0) return held;
    try {
      await notePassed(this.ledger, key.fingerprint, held, false);
    } finally {
      held.release();
    }
    throw new PermitRefusal({ scope: 'key', reason: 'used-up', waitMs: 1000 });
  }

  async #answered(key: Key, held: Held, quota: Quota | null): Promise<void> {
    if (held.alone || held.probe || isNews(key.state, performance.now() - key.stateAt, quota)) {
      learn(key, await noteAnswer(this.ledger, key.fingerprint, held, quota ?? nothingSaid));
    }
  }

  async #noteOutage(workspace: string, error: ApiError, startedAt: number): Promise<void> {
    if (error.kind === 'transient') await this.outages.failed(workspace, error, startedAt);
    else if (error.kind !== 'aborted') await this.outages.answered(workspace);
  }

  async #failed(key: Key, held: Held, error: ApiError): Promise<void> {
    if (error.kind === 'quota') {
      const said = error.quota ?? nothingSaid;
      const waitMs = waitAfterRefusal({ resetInMs: said.resetInMs, retryAfterMs: error.retryAfterMs }, held.refusals);
      key.refused += 1; // at once: the ledger takes a moment, in which no request may start
      key.unnoted += 1;
      try {
        learn(key, await noteRefusal(this.ledger, key.fingerprint, held, said, waitMs));
      } finally {
        key.unnoted -= 1;
      }
      return;
    }
    if (error.code !== null && error.kind !== 'credential') return await this.#answered(key, held, error.quota);
    await notePassed(this.ledger, key.fingerprint, held, wasCounted(error));
  }

  async #stateOf(key: Key): Promise<QuotaState> {
    return key.state ?? learn(key, await readQuota(this.ledger, key.fingerprint));
  }

  /** Until the reset, as far as it is known. Where no limit is known, nothing is held against it. */
  async #needsOf(way: Way, key: Key, workspace: string, state: QuotaState): Promise<Needs> {
    if (state.limit === null) return nothingNeeded;
    const now = performance.now();
    const { planInMs } = state;
    if (key.needs === undefined || now - key.needs.at > forecastMs || planInMs > 2 * key.needs.spanMs) {
      const spanMs = Math.max(planInMs, forecastMs);
      const { fingerprint } = this.#keyOf(way.config, workspace);
      const sharing = Object.keys(way.config.workspaces).filter(
        (name) => this.#keyOf(way.config, name).fingerprint === fingerprint,
      );
      const value = forecastNeeds(
        { ledger: this.ledger, config: way.config },
        sharing,
        [spanMs],
        this.ledger.clock.nowMs(),
      );
      key.needs = { at: now, spanMs, value: value.then(([needs]) => needs!) };
      key.needs.value.catch(() => {
        key.needs = undefined; // the store failed: whoever waited is told, the next one tries again
      });
    }
    const { spanMs, value } = key.needs;
    return needsUntil({ needs: await value, spanMs }, planInMs);
  }

  #keyOf(config: Config, workspace: string): Key {
    const fingerprint = this.ledger.hash.fingerprint(config.workspaces[workspace]!.apiKey.reveal());
    let key = this.#keys.get(fingerprint);
    if (key === undefined) {
      key = unknownKey(fingerprint);
      this.#keys.set(fingerprint, key);
    }
    return key;
  }
}

const nothingSaid = { limit: null, remaining: null, resetInMs: null };
const nothingNeeded: Needs = { live: 0, idle: 0, sweep: 0 };

/** Of the quota of this workspace's key. */
export function reserveOf(config: Config, workspace: string): number {
  return config.workspaces[workspace]!.quota.reserve;
}
