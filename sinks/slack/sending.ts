import type { Lane, Outcome } from '../sink.js';
import type { Clock } from '../network/rolling-limiter.js';
import { callWithToken, type SlackApi, type TokenSource } from './client.js';
import type { EditTimes, Granted, SlackMethod, SlackRates } from './rates.js';
import { outcomeOf, type Verdict } from './classify.js';
import type { LookUp } from './posted-messages.js';
import { LaneNotes, type PostIntent } from './lane-notes.js';

/** State that all lanes of a sink share. */
export interface SlackAccount {
  readonly api: SlackApi;
  readonly tokens: TokenSource;
  readonly rates: SlackRates;
  readonly clock: Clock;
  /** Milliseconds by which our clock is ahead of Slack's, from the last answer; 0 before the first. */
  aheadMs: number;
  /** The token's scopes from the last answer that listed them. */
  scopes: readonly string[] | undefined;
  readonly edits: EditTimes;
  /**
   * The last attempt to clear each abandoned post, by the id of its intent: its time by the account's clock, and whether
   * the channel was archived or deleted.
   */
  readonly clearedAt: Map<string, { readonly atMs: number; readonly isClosed: boolean }>;
  /** Time of the last post or edit that succeeded in each channel, by the account's clock. */
  readonly wroteAt: Map<string, number>;
  /** The attempts to join channels, by channel. */
  readonly joining: Map<string, Promise<Verdict>>;
  /**
   * The sink's channel if it has only one. If that channel refuses everything, the sink stops. If another channel does
   * (one of several, or one that an earlier configuration named), its changes become dead letters, and the sink
   * continues.
   */
  readonly onlyChannel: string | undefined;
}

/** A call that was not made because no permit was free in time. `outcome` is the outcome of its operation. */
export type Held = { readonly kind: 'held'; readonly outcome: Outcome };

/**
 * Makes the calls of one `send` or `recover`. It holds their time limit, the lane's memory, and the results of
 * look-ups, and gets a permit for each call.
 */
export class Sending {
  readonly account: SlackAccount;
  readonly notes: LaneNotes;
  readonly signal: AbortSignal;
  readonly #endsAtMs: number;
  readonly #lines = new Map<string, Promise<unknown>>();
  /** The look-ups of this sending, by place (`recover.ts`). */
  readonly lookUps = new Map<string, LookUp>();

  constructor(account: SlackAccount, lane: Lane, signal: AbortSignal, lengthMs: number) {
    this.account = account;
    this.notes = new LaneNotes(lane);
    this.signal = signal;
    this.#endsAtMs = account.clock.now() + lengthMs;
  }

  /** The number of milliseconds during which calls may still start. */
  get leftMs(): number {
    return Math.max(0, this.#endsAtMs - this.account.clock.now());
  }

  get canStart(): boolean {
    return !this.signal.aborted && this.leftMs > 0;
  }

  /** Returns the times that a post's intent records: `atMs` and `sinceMs`. */
  now(): Pick<PostIntent, 'atMs' | 'sinceMs'> {
    const atMs = this.account.api.wallNow();
    return { atMs, sinceMs: Math.min(atMs, atMs - this.account.aheadMs) };
  }

  async wait(forMs: number): Promise<void> {
    await new Promise<void>((resolve) => {
      const cancel = this.account.clock.after(forMs, done);
      const { signal } = this;
      function done(): void {
        cancel();
        signal.removeEventListener('abort', done);
        resolve();
      }
      signal.addEventListener('abort', done);
      if (signal.aborted) done();
    });
  }

  /** Calls a method once it has a permit. */
  async call(method: SlackMethod, args: Readonly<Record<string, unknown>>): Promise<Verdict | Held> {
    return await this.callWith(await this.account.rates.method(method, this.signal, this.leftMs), method, args);
  }

  async callWith(
    granted: Granted,
    method: SlackMethod,
    args: Readonly<Record<string, unknown>>,
  ): Promise<Verdict | Held> {
    const permit = permitOf(granted);
    if ('kind' in permit) return permit;
    const verdict = await this.ask(method, args).finally(() => permit.done());
    if (verdict.kind === 'limited') this.account.rates.closeMethod(method, verdict.afterMs);
    return verdict;
  }

  /** Calls a method immediately. The caller already holds a permit. */
  async ask(method: string, args: Readonly<Record<string, unknown>>): Promise<Verdict> {
    const { api, tokens } = this.account;
    const { verdict, reply } = await callWithToken(api, tokens, { method, args }, this.signal);
    if (reply?.kind === 'answer') {
      this.account.aheadMs = api.wallNow() - reply.answeredAtMs;
      this.account.scopes = reply.scopes ?? this.account.scopes;
    }
    const { channel } = args;
    // An archived channel refuses both methods, so a success shows that it is open.
    if (verdict.kind === 'ok' && (method === 'chat.postMessage' || method === 'chat.update')) {
      this.account.wroteAt.set(String(channel), this.account.clock.now());
    }
    return verdict;
  }

  /**
   * Joins a public channel, once per channel while the process runs: if someone removes the app from the channel later,
   * that is deliberate. An attempt that failed for a passing reason does not count.
   * @returns never `maybe`, because joining again is harmless
   */
  async join(channel: string): Promise<Verdict> {
    const { joining } = this.account;
    const known = joining.get(channel);
    if (known !== undefined) return await known;
    const tried = this.#tryToJoin(channel);
    joining.set(channel, tried);
    const verdict = await tried;
    if (isPassing(verdict)) joining.delete(channel);
    return verdict;
  }

  async #tryToJoin(channel: string): Promise<Verdict> {
    const verdict = await this.call('conversations.join', { channel });
    if (verdict.kind === 'maybe') return { kind: 'later', detail: verdict.detail };
    if (verdict.kind !== 'held') return verdict;
    return { kind: 'later', detail: 'no permit was free in time to join the channel' };
  }

  /** Returns the outcome of an operation whose call in this channel failed or was not made. */
  outcomeOf(verdict: Exclude<Verdict, { kind: 'ok' }> | Held, channel: string): Outcome {
    return verdict.kind === 'held' ? verdict.outcome : outcomeOf(verdict, this.account.onlyChannel === channel);
  }

  /** Runs `work` after all earlier work with the same key. */
  async exclusively<T>(key: string, work: () => Promise<T>): Promise<T> {
    const before = this.#lines.get(key) ?? Promise.resolve();
    const mine = before.then(work, work);
    this.#lines.set(key, mine);
    return await mine;
  }
}

/** Whether a call that failed in this way may succeed later without an operator. */
export function isPassing({ kind }: Verdict): boolean {
  return kind === 'limited' || kind === 'later';
}

/** Returns the permit, or, if none was granted, the outcome of the operation. */
export function permitOf(granted: Granted): { done(): void } | Held {
  if (granted === undefined) return { kind: 'held', outcome: { kind: 'unsent' } };
  if ('waitMs' in granted) return { kind: 'held', outcome: { kind: 'unsent', afterMs: granted.waitMs } };
  return granted.permit;
}
