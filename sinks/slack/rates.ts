import type { SlackOperation } from './operation.js';
import { type Clock, systemClock, type Permit, RollingLimiter } from '../network/rolling-limiter.js';

/** The methods of Slack that have one rate limit each. Posts have one for each channel. */
export type SlackMethod =
  | 'chat.update'
  | 'chat.delete'
  | 'conversations.history'
  | 'conversations.replies'
  | 'conversations.join';

/** Messages per channel in 10 s. Source: docs.slack.dev, "Rate limits". */
const postsPer10s = 10;
/** Messages per minute in all channels of a workspace. Slack documents "several hundred". */
const postsPerMinute = 240;
/** Calls per minute of a tier 3 method. Slack documents "50+"; two are left for other users of the token. */
const tier3PerMinute = 48;
/** Calls per minute for edits that only change a number of votes. The other calls are reserved for edits of texts. */
const countsPerMinute = 20;

export type Granted = { readonly permit: Permit } | { readonly waitMs: number } | undefined;

/**
 * Enforces Slack's rate limits for all lanes of a sink: one message per second in each channel, and tier 3 for the
 * other methods. Calls are spaced evenly, never in bursts. A process that takes over from a killed one therefore stays
 * within the limits without knowing the earlier calls: it makes its first call one interval later. After HTTP 429, no
 * call of that method, or no post in that channel, starts before the time that Slack requests.
 */
export class SlackRates {
  readonly #clock: Clock;
  /** Ratio of the account's limits to Slack's default limits. */
  readonly #share: number;
  readonly #openedAt: number;
  readonly #limiters = new Map<string, RollingLimiter>();
  readonly #closedUntil = new Map<string, number>();

  /**
   * @param per10s messages per channel in 10 s, if the account's limit differs from Slack's default; the limits of the
   * other methods change in proportion
   */
  constructor(per10s: number | undefined, clock: Clock = systemClock) {
    this.#share = (per10s ?? postsPer10s) / postsPer10s;
    this.#clock = clock;
    this.#openedAt = clock.now();
  }

  /**
   * Waits for a permit to post. Returns `waitMs` if Slack requested a wait for this channel, and undefined if no permit
   * was free in time.
   */
  async post(channel: string, signal: AbortSignal, withinMs: number): Promise<Granted> {
    const granted = await this.#take(postKey(channel), 6 * postsPer10s, signal, withinMs);
    if (granted === undefined || 'waitMs' in granted) return granted;
    const all = await this.#take('posts', postsPerMinute, signal, withinMs);
    if (all === undefined || 'waitMs' in all) granted.permit.done();
    return both(granted, all);
  }

  async method(method: SlackMethod, signal: AbortSignal, withinMs: number): Promise<Granted> {
    return await this.#take(method, tier3PerMinute, signal, withinMs);
  }

  /** Returns a permit to edit a number of votes, if one is free now. */
  async count(signal: AbortSignal): Promise<Granted> {
    const counts = await this.#take('counts', countsPerMinute, signal, 0);
    if (counts === undefined || 'waitMs' in counts) return counts;
    const update = await this.method('chat.update', signal, 0);
    if (update === undefined || 'waitMs' in update) counts.permit.done();
    return both(counts, update);
  }

  closePosts(channel: string, forMs: number): void {
    this.#close(postKey(channel), forMs);
  }

  closeMethod(method: SlackMethod, forMs: number): void {
    this.#close(method, forMs);
  }

  /** Ends the waits that Slack requested. */
  reopen(): void {
    for (const key of this.#closedUntil.keys()) this.#limiters.get(key)?.reopen();
    this.#closedUntil.clear();
  }

  async #take(key: string, perMinute: number, signal: AbortSignal, withinMs: number): Promise<Granted> {
    const waitMs = (this.#closedUntil.get(key) ?? 0) - this.#clock.now();
    if (waitMs > withinMs) return { waitMs: Math.ceil(waitMs) };
    const limiter = this.#limiters.get(key) ?? this.#open(key, perMinute);
    const permit = await limiter.take(signal, withinMs);
    return permit && { permit };
  }

  #open(key: string, perMinute: number): RollingLimiter {
    const windowMs = Math.ceil(60_000 / (perMinute * this.#share));
    const limiter = new RollingLimiter({ limit: 1, windowMs }, undefined, this.#clock);
    limiter.close(this.#openedAt + windowMs - this.#clock.now());
    this.#limiters.set(key, limiter);
    return limiter;
  }

  #close(key: string, forMs: number): void {
    this.#closedUntil.set(key, this.#clock.now() + forMs);
    this.#limiters.get(key)?.close(forMs);
  }
}

/** Combines two permits into one. If the second was not granted, returns the second result. */
function both(one: { readonly permit: Permit }, other: Granted): Granted {
  if (other === undefined || 'waitMs' in other) return other;
  const done = (): void => {
    one.permit.done();
    other.permit.done();
  };
  return { permit: { done } };
}

function postKey(channel: string): string {
  return `chat.postMessage ${channel}`;
}

/** Minimum interval between two edits of the votes that a message shows. */
export const COUNT_EVERY_MS = 10_000;

/** The times of the last post or edit of each item's message by this process. */
export class EditTimes {
  readonly #editedAt = new Map<string, number>();
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Returns a time by the clock; -Infinity if there was no post or edit. */
  lastMs(operation: SlackOperation): number {
    return this.#editedAt.get(editKey(operation)) ?? Number.NEGATIVE_INFINITY;
  }

  note(operation: SlackOperation): void {
    const now = this.#clock.now();
    this.#editedAt.set(editKey(operation), now);
    if (this.#editedAt.size <= 10_000) return;
    for (const [key, at] of this.#editedAt) if (at + COUNT_EVERY_MS <= now) this.#editedAt.delete(key);
  }
}

function editKey({ itemKey, metadata }: SlackOperation): string {
  return `${metadata.event_payload.pigeonhole} ${itemKey}`;
}
