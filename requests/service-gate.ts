import { performance } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import type { Config } from '../config/config.js';
import type { Ledger } from '../ledger/ledger.js';
import { LedgerError } from '../ledger/ledger-error.js';
import {
  noteAnswer,
  noteRefusal,
  planAsk,
  type Priority,
  type QuotaState,
  readQuota,
  returnPermits,
  type SpentPermit,
  spendPermits,
} from './quota.js';
import { pausesOf } from '../ledger/pauses.js';
import { replanStreams } from '../ledger/streams-due.js';
import { endQuotaWait } from '../ledger/workspaces.js';
import { isNotConfirmed } from '../base/lease.js';
import { ApiError } from '../pigeonhole/api-error.js';
import type { PageOptions, PigeonholeClient } from '../pigeonhole/client.js';
import type { ListRef } from '../pigeonhole/lists.js';
import type { Page } from '../pigeonhole/page.js';
import type { Quota } from '../pigeonhole/response.js';
import type { Pigeonhole } from '../pigeonhole/wire-types.js';
import type { Log } from '../base/log.js';
import { hasGrown, isCurrent, isUncounted, type Key, learn, Permits, unknownKey, updatesQuota } from './key-permits.js';
import { afterMs, askBackEveryMs, type OutageClock, Outages, storedOutages } from './outages.js';
import {
  PermitRefusal,
  minRemaining,
  leftForReading,
  needsUntil,
  type Forecast,
  type Needs,
  refusalOf,
  reserveOf,
  type Stretch,
  stretchFor,
  unstretched,
  waitAfterRefusal,
} from './quota-rules.js';
import { rememberForecast } from './remembered-forecast.js';
import { SlowLists } from './slow-lists.js';

/** The collaborators a request needs, passed with each request because the configuration can be replaced in between. */
interface Access {
  readonly config: Config;
  /** Clients of the service by workspace. */
  readonly clients: ReadonlyMap<string, PigeonholeClient>;
}

/** Minimum span of a forecast, so that it can be remembered while a short window passes. */
const shortestSpanMs = 60_000;
/**
 * Maximum number of attempts to take a permit. An attempt is repeated if the store refuses the permit although the
 * quota, read afterwards, shows no reason.
 */
const maxAttempts = 3;
/** Maximum time for which a request waits for the response to the one that asks. */
const maxAskingMs = 5000;

export interface GateOptions extends Partial<Pick<OutageClock, 'now' | 'after'>> {
  readonly onDue?: (workspace: string) => void;
}

/** The workspace and priority of a request, which decide about its permit. */
export interface Permit {
  readonly workspace: string;
  readonly priority: Priority;
  /** From `ServiceGate.permits`: the request uses one of these if it can, and otherwise takes a permit of its own. */
  readonly permits?: Permits | undefined;
}

/**
 * Makes all requests to the service. Each request first takes a permit from its API key's quota with one short
 * statement. If the response reports a quota that differs from the known one, the gate writes it to the ledger. A
 * process has one gate for all workspaces; processes share the quota's state through the ledger (decision 0013).
 */
export class ServiceGate {
  readonly outages: Outages;
  readonly slowLists: SlowLists;
  private readonly now: () => number;
  private readonly onDue: (workspace: string) => void;
  readonly #forecast: Forecast;
  readonly #keys = new Map<string, Key>();

  /**
   * @param forecast returns the number of requests needed for reading, computed from the intervals of the streams
   * @param options.now monotonic clock, ms; options.after sets a timer; options.onDue called when lists of a workspace
   * become due earlier than planned, because the service responds again or reports a larger quota
   */
  constructor(
    private readonly ledger: Ledger,
    log: Log,
    forecast: Forecast,
    { now = () => performance.now(), after = afterMs, onDue = () => undefined }: GateOptions = {},
  ) {
    this.#forecast = rememberForecast(forecast);
    this.now = now;
    this.onDue = onDue;
    this.outages = new Outages(log, storedOutages(ledger, onDue), { now, after, wallNow: () => ledger.clock.nowMs() });
    this.slowLists = new SlowLists(now);
  }

  /**
   * Sends one cheap request to each service that is down, to find out whether it answers again: lists that have failed
   * for long are retried after minutes. The process calls it every `askBackEveryMs`.
   */
  async askBack(access: Access): Promise<void> {
    const asked = this.outages.down().map(async (workspace) => {
      if (!access.clients.has(workspace)) return;
      if ((await pausesOf(this.ledger, [{ scope: 'workspace', name: workspace }])).length > 0) return;
      const signal = AbortSignal.timeout(askBackEveryMs);
      await this.request(access, { workspace, priority: 'live' }, (client) =>
        client.page({ list: 'pigeonholes' }, { count: 1, signal }),
      );
    });
    await Promise.allSettled(asked); // `request` notes each outcome
  }

  /**
   * Requests one page under a permit. All page requests of reading go through this method.
   * @throws {PermitRefusal} when the quota does not allow it now: no request was made
   * @throws {ApiError} as `PigeonholeClient.page`
   */
  async page(access: Access, permit: Permit, list: ListRef, options: PageOptions): Promise<Page> {
    return await this.request(
      access,
      permit,
      (client) => client.page(list, options),
      ({ quota }) => quota,
    );
  }

  /**
   * Requests one pigeonhole by its id, under a permit.
   * @throws {PermitRefusal} when the quota does not allow it now: no request was made
   * @throws {ApiError} as `PigeonholeClient.getPigeonhole`
   */
  async pigeonhole(access: Access, permit: Permit, pigeonholeId: number, signal: AbortSignal): Promise<Pigeonhole> {
    return await this.request(access, permit, (client) => client.getPigeonhole(pigeonholeId, { signal }));
  }

  /**
   * Makes one request under a permit.
   * @param quotaOf returns the quota that the result reports; omitted for calls whose results never report one
   * @throws {PermitRefusal} when the quota does not allow it now: no request was made
   * @throws {ApiError} and other errors of `call`. If the lease under which the caller sends was not confirmed, no
   * request was made, and the permit is returned to the quota.
   */
  async request<T>(
    access: Access,
    { workspace, priority, permits }: Permit,
    call: (client: PigeonholeClient) => Promise<T>,
    quotaOf?: (result: T) => Quota | null,
  ): Promise<T> {
    const client = access.clients.get(workspace);
    if (client === undefined) {
      throw new LedgerError('configuration', `workspace ${workspace} is not in this process's configuration`);
    }
    const key = this.#keyOf(access.config, workspace);
    const permit = permits?.take(key, priority) ?? (await this.#take(access, key, { workspace, priority }));
    const send = async (): Promise<T> => {
      const result = await this.#call(access, key, permit, { workspace, call: () => call(client) });
      await this.outages.answered(workspace);
      await this.#answered(access, key, permit, quotaOf?.(result) ?? null);
      return result;
    };
    const sent = send();
    if (permit.isAsking) {
      const end = (): void => void (key.asking = undefined);
      key.asking = sent.then(end, end);
    }
    return await sent;
  }

  /**
   * Takes the permits for the requests of one poll with one statement. Pass the result to each of these requests
   * (`Permit.permits`), and call its `end` when the poll is over, whatever happened:
   *
   *     const permits = await gate.permits(deps, { workspace, priority }, streams.length);
   *     try {
   *       // gate.page(deps, { workspace, priority, permits }, …) for each stream
   *     } finally {
   *       await permits.end();
   *     }
   *
   * Requests beyond the permits, of another priority, or after a refusal take permits of their own, so the caller need
   * not know how many it got: near the end of the quota it gets fewer or none, and the requests report why. `end` sends
   * at most one statement, and none if all permits were used. If a process ends before it, its unused permits count as
   * used until the quota is renewed.
   * @param count number of requests that the poll makes at least; no statement is sent below 2
   */
  async permits(
    access: Access,
    { workspace, priority }: Pick<Permit, 'workspace' | 'priority'>,
    count: number,
  ): Promise<Permits> {
    const key = this.#keyOf(access.config, workspace);
    const giveBack = (permit: SpentPermit, unused: number): Promise<void> =>
      returnPermits(this.ledger, key.fingerprint, permit, unused);
    const spent = count < 2 ? null : await this.#spend(access, key, { workspace, priority, count });
    return new Permits(key, spent?.permit ?? noPermit, spent?.granted ?? 0, giveBack);
  }

  /**
   * Takes permits for the next pages of a long walk, as `permits` does. If the quota has less than a hundred times as
   * many left, takes none, because other requests could need them while the walk waits for its pages.
   */
  async permitsAhead(access: Access, permit: Pick<Permit, 'workspace' | 'priority'>, count: number): Promise<Permits> {
    const { remaining } = await this.#stateOf(this.#keyOf(access.config, permit.workspace));
    return await this.permits(access, permit, remaining !== null && remaining < 100 * count ? 0 : count);
  }

  async #call<T>(
    access: Access,
    key: Key,
    permit: SpentPermit,
    { workspace, call }: { readonly workspace: string; readonly call: () => Promise<T> },
  ): Promise<T> {
    const startedAt = this.now();
    const ended = this.outages.sent(workspace);
    try {
      const result = await call();
      ended();
      return result;
    } catch (error) {
      ended();
      if (error instanceof ApiError) {
        if (error.kind === 'transient') await this.outages.failed(workspace, error, startedAt);
        else if (error.kind !== 'aborted') await this.outages.answered(workspace);
        await this.#failed(access, key, permit, error);
      } else if (isNotConfirmed(error)) {
        await returnPermits(this.ledger, key.fingerprint, permit, 1);
      }
      throw error;
    }
  }

  /** Returns the factors by which intervals are lengthened so that the quota lasts until its reset. */
  async stretchOf(access: Access, workspace: string): Promise<Stretch> {
    const key = this.#keyOf(access.config, workspace);
    const state = await this.#stateOf(key);
    const left = leftForReading(state, reserveOf(access.config, workspace));
    if (left === null || state.resetInMs === null) return unstretched;
    return stretchFor(await this.#needsOf(access, key, state), left, state.resetInMs);
  }

  /** @throws {PermitRefusal} if the quota does not allow the request now */
  async #take(access: Access, key: Key, request: Pick<Permit, 'workspace' | 'priority'>): Promise<SpentPermit> {
    for (let attempts = 0; attempts < maxAttempts; attempts += 1) {
      const spent = await this.#spend(access, key, { ...request, count: 1 });
      if (spent !== null && isCurrent(key, spent.permit)) return spent.permit;
      const now = learn(key, await readQuota(this.ledger, key.fingerprint));
      const reserve = reserveOf(access.config, request.workspace);
      const needs = await this.#needsOf(access, key, now);
      const refusal = refusalOf(now, {
        mustRemain: minRemaining(request.priority, now, reserve, needs),
        reserved: minRemaining('live', now, reserve, needs),
      });
      if (refusal === null) continue; // another process has changed the quota meanwhile: try again
      if (key.asking !== undefined) {
        // Afterwards there may be room. The request in progress may itself wait for the work that waits here.
        await Promise.race([key.asking, delay(maxAskingMs, undefined, { ref: false })]);
        continue;
      }
      if (refusal.plansAsk) learn(key, await planAsk(this.ledger, key.fingerprint, refusal.waitMs));
      throw new PermitRefusal(refusal);
    }
    throw new PermitRefusal({ scope: 'request', reason: 'kept-for-others', waitMs: 250 });
  }

  async #spend(
    access: Access,
    key: Key,
    { workspace, priority, count }: { readonly workspace: string; readonly priority: Priority; readonly count: number },
  ): Promise<{ readonly granted: number; readonly permit: SpentPermit } | null> {
    const known = await this.#stateOf(key);
    const needs = await this.#needsOf(access, key, known);
    const mustRemain = minRemaining(priority, known, reserveOf(access.config, workspace), needs);
    const spent = await spendPermits(this.ledger, key.fingerprint, priority, { count, mustRemain });
    if (spent !== null) learn(key, spent.state);
    return spent;
  }

  async #answered(access: Access, key: Key, permit: SpentPermit, quota: Quota | null): Promise<void> {
    const before = key.state;
    const endsAsking = permit.isAsking || (before !== undefined && before.asks > 0 && permit.asks === before.asks);
    if (!endsAsking && !updatesQuota(before, performance.now() - key.stateAt, quota)) return;
    const after = learn(key, await noteAnswer(this.ledger, key.fingerprint, permit, quota ?? nothingReported));
    if (permit.isAsking || hasGrown(before, after)) await this.#replan(access, key);
  }

  /**
   * Ends the waits of all workspaces with this key for its quota, and plans their reads again, because more requests
   * are possible than was known. Otherwise lists would be read late, after waits and intervals for the smaller quota.
   */
  async #replan(access: Access, key: Key): Promise<void> {
    for (const workspace of this.#sharing(access.config, key.fingerprint)) {
      const stretch = await this.stretchOf(access, workspace);
      const waited = await endQuotaWait(this.ledger, workspace);
      if ((await replanStreams(this.ledger, workspace, stretch)) > 0 || waited) this.onDue(workspace);
    }
  }

  async #failed(access: Access, key: Key, permit: SpentPermit, error: ApiError): Promise<void> {
    if (error.kind === 'quota') {
      const { limit, resetInMs } = error.quota ?? nothingReported;
      const wait = waitAfterRefusal({ resetInMs, retryAfterMs: error.retryAfterMs }, permit.asks);
      learn(key, await noteRefusal(this.ledger, key.fingerprint, permit, { limit, ...wait }));
    } else if (isUncounted(error)) {
      await returnPermits(this.ledger, key.fingerprint, permit, 1);
    } else if (error.code !== null) {
      await this.#answered(access, key, permit, error.quota);
    }
  }

  async #stateOf(key: Key): Promise<QuotaState> {
    return key.state ?? learn(key, await readQuota(this.ledger, key.fingerprint));
  }

  /** Returns the requests that reading needs until the reset; zero if limit or reset are not known. */
  async #needsOf(access: Access, key: Key, state: QuotaState): Promise<Needs> {
    const { resetInMs } = state;
    if (state.limit === null || resetInMs === null) return noNeeds;
    const spanMs = Math.max(resetInMs, shortestSpanMs);
    const [needs] = await this.#forecast(
      { ledger: this.ledger, config: access.config },
      this.#sharing(access.config, key.fingerprint),
      [spanMs],
      this.ledger.clock.nowMs(),
    );
    return needsUntil({ needs: needs!, spanMs }, resetInMs);
  }

  /** Returns the workspaces that use this key. */
  #sharing(config: Config, fingerprint: string): string[] {
    return Object.keys(config.workspaces).filter((name) => this.#keyOf(config, name).fingerprint === fingerprint);
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

const noPermit: SpentPermit = { priority: 'sweep', window: 0, isAsking: false, asks: 0 };
const nothingReported = { limit: null, remaining: null, resetInMs: null };
const noNeeds: Needs = { live: 0, idle: 0, sweep: 0 };
