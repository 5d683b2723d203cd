import { type Clock, systemClock } from '../network/clock.js';
import { type Permit, RollingLimiter } from '../network/rolling-limiter.js';

/** Slack's methods with a rate of their own; a post's belongs to its channel. */
export type SlackMethod =
  | 'chat.update'
  | 'chat.delete'
  | 'conversations.history'
  | 'conversations.replies'
  | 'conversations.join';

/** Messages in 10 s and channel that Slack grants, in bursts of no more than one a second. */
const postsPer10s = 10;
/** Messages in a minute and workspace, whatever the channels: Slack says "several hundred". */
const postsPerMinute = 240;
/** A minute of a tier 3 method. Source: docs.slack.dev, "Rate limits". */
const tier3PerMinute = 50;
/** Of these for edits of nothing but a count: the rest stays free for texts. */
const countsPerMinute = 20;

export type Granted = { readonly permit: Permit } | { readonly waitMs: number } | undefined;

/**
 * How often Slack is asked, for all lanes of a sink: a message a second and channel, tier 3 for the other methods. What
 * Slack says itself (HTTP 429) closes the one method, or channel, for as long as it says.
 */
export class SlackRates {
  readonly #clock: Clock;
  readonly #per10s: number | undefined;
  readonly #limiters = new Map<string, RollingLimiter>();
  readonly #closedUntil = new Map<string, number>();

  /** @param per10s where the account's limit differs: messages a channel in 10 s; other methods in proportion */
  constructor(per10s: number | undefined, clock: Clock = systemClock) {
    this.#per10s = per10s;
    this.#clock = clock;
  }

  /** The right to post. `waitMs`: Slack wants nothing for so long; undefined: no turn came within the time. */
  async post(channel: string, signal: AbortSignal, withinMs: number): Promise<Granted> {
    const limit = this.#per10s === undefined ? { limit: 1, windowMs: 1000 } : { limit: this.#per10s, windowMs: 10_000 };
    const granted = await this.#take(postKey(channel), limit, signal, withinMs);
    if (granted === undefined || 'waitMs' in granted) return granted;
    const all = await this.#take('posts', this.#perMinute(postsPerMinute), signal, withinMs);
    if (all === undefined || 'waitMs' in all) granted.permit.done();
    return both(granted, all);
  }

  async method(method: SlackMethod, signal: AbortSignal, withinMs: number): Promise<Granted> {
    return await this.#take(method, this.#perMinute(tier3PerMinute), signal, withinMs);
  }

  /** The right to edit a count, if there is room at once. */
  async count(signal: AbortSignal): Promise<Granted> {
    const counts = await this.#take('counts', this.#perMinute(countsPerMinute), signal, 0);
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

  #perMinute(perMinute: number) {
    const share = (this.#per10s ?? postsPer10s) / postsPer10s;
    return { limit: Math.max(1, Math.floor(perMinute * share)), windowMs: 60_000 };
  }

  async #take(
    key: string,
    limit: { readonly limit: number; readonly windowMs: number },
    signal: AbortSignal,
    withinMs: number,
  ): Promise<Granted> {
    const waitMs = (this.#closedUntil.get(key) ?? 0) - this.#clock.now();
    if (waitMs > withinMs) return { waitMs: Math.ceil(waitMs) };
    const limiter = this.#limiters.get(key) ?? new RollingLimiter(limit, undefined, this.#clock);
    this.#limiters.set(key, limiter);
    const permit = await limiter.take(signal, withinMs);
    return permit && { permit };
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
