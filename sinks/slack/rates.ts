import { type Clock, systemClock, type Permit, RollingLimiter } from '../network/rolling-limiter.js';

/** Slack's methods with a rate of their own; a post's belongs to its channel. */
export type SlackMethod =
  | 'chat.update'
  | 'chat.delete'
  | 'conversations.history'
  | 'conversations.replies'
  | 'conversations.join';

/** Messages in 10 s and channel. Source: docs.slack.dev, "Rate limits". */
const postsPer10s = 10;
/** Messages in a minute and workspace, whatever the channels: Slack says "several hundred". */
const postsPerMinute = 240;
/** Of a tier 3 method: "50+", of which two are left to whatever else uses the token. */
const tier3PerMinute = 48;
/** Of these for edits of nothing but a count: the rest stays free for texts. */
const countsPerMinute = 20;

export type Granted = { readonly permit: Permit } | { readonly waitMs: number } | undefined;

/**
 * How often Slack is asked, for all lanes of a sink: a message a second and channel, tier 3 for the other methods, each
 * evenly and never in a burst. So a process that takes over from one that was killed, of whose calls it knows nothing,
 * passes no limit either: it only has to begin one step later. What Slack says itself (HTTP 429) closes the one method,
 * or channel, for as long as it says.
 */
export class SlackRates {
  readonly #clock: Clock;
  /** Of what Slack grants by default. */
  readonly #share: number;
  readonly #openedAt: number;
  readonly #limiters = new Map<string, RollingLimiter>();
  readonly #closedUntil = new Map<string, number>();

  /** @param per10s where the account's limit differs: messages a channel in 10 s; other methods in proportion */
  constructor(per10s: number | undefined, clock: Clock = systemClock) {
    this.#share = (per10s ?? postsPer10s) / postsPer10s;
    this.#clock = clock;
    this.#openedAt = clock.now();
  }

  /** The right to post. `waitMs`: Slack wants nothing for so long; undefined: no turn came within the time. */
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

  /** The right to edit a count, if there is room at once. */
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

/** The two as one; without the second, what the second says. */
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
