import { type Clock, systemClock, type Permit, RollingLimiter } from '../network/rolling-limiter.js';

/** Slack's methods with a rate limit of their own; posts have one per channel. */
export type SlackMethod =
  | 'chat.update'
  | 'chat.delete'
  | 'conversations.history'
  | 'conversations.replies'
  | 'conversations.join';

/** Messages per channel in 10 s. Source: docs.slack.dev, "Rate limits". */
const postsPer10s = 10;
/** Messages per workspace and minute, in all channels: Slack documents "several hundred". */
const postsPerMinute = 240;
/** Calls of a tier 3 method: "50+"; two are left for other users of the token. */
const tier3PerMinute = 48;
/** Calls for edits that only change a count; the rest is reserved for texts. */
const countsPerMinute = 20;

export type Granted = { readonly permit: Permit } | { readonly waitMs: number } | undefined;

/**
 * Rate limits for all lanes of a sink: one message per second and channel, tier 3 for the other methods. Calls are
 * spaced evenly, never in bursts, so that a process that takes over from a killed one stays within the limits without
 * knowing its calls: it only starts one interval later. HTTP 429 closes the method, or channel, for the time that Slack
 * requests.
 */
export class SlackRates {
  readonly #clock: Clock;
  /** The account's share of Slack's default limits. */
  readonly #share: number;
  readonly #openedAt: number;
  readonly #limiters = new Map<string, RollingLimiter>();
  readonly #closedUntil = new Map<string, number>();

  /** @param per10s the account's limit, if it differs: messages per channel in 10 s; other methods in proportion */
  constructor(per10s: number | undefined, clock: Clock = systemClock) {
    this.#share = (per10s ?? postsPer10s) / postsPer10s;
    this.#clock = clock;
    this.#openedAt = clock.now();
  }

  /** Waits for a permit to post. `waitMs`: Slack closed the channel for so long; undefined: none was free in time. */
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

  /** Returns a permit to edit a count if one is free now. */
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

/** Combines two permits; if the second was not granted, returns that result. */
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
