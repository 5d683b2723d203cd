import { CallLimit, leakingBucket, rollingWindow, type LimitRule } from '../serve/call-limit.js';

const MINUTE_MS = 60_000;

/** The stand-in's rate limits; higher numbers make a test of a whole process fast. */
export interface SlackLimits {
  /** chat.postMessage and incoming webhooks, per channel. 1 is documented. */
  readonly postsPerSecond: number;
  /** Size of a burst after a quiet time ("short bursts"; the number is not documented). */
  readonly postBurst: number;
  /** All posts of the app in the workspace ("several hundred a minute"). */
  readonly postsPerMinute: number;
  /** Calls a minute of each method of tier 3: chat.update, chat.delete and conversations.*. */
  readonly tier3PerMinute: number;
  /** auth.test: "hundreds of requests per minute". */
  readonly authTestPerMinute: number;
}

export const DOCUMENTED_LIMITS: SlackLimits = {
  postsPerSecond: 1,
  postBurst: 3,
  postsPerMinute: 300,
  tier3PerMinute: 50,
  authTestPerMinute: 200,
};

/** Returns limits that allow this number of posts per channel in ten seconds, all of them possibly at once. */
export function scaledLimits(postsPer10s: number): SlackLimits {
  const postsPerSecond = postsPer10s / 10;
  return {
    ...DOCUMENTED_LIMITS,
    postsPerSecond,
    postBurst: Math.max(DOCUMENTED_LIMITS.postBurst, postsPer10s),
    postsPerMinute: Math.ceil(DOCUMENTED_LIMITS.postsPerMinute * postsPerSecond),
    tier3PerMinute: Math.ceil(DOCUMENTED_LIMITS.tier3PerMinute * postsPerSecond),
  };
}

/**
 * The limits of one app in one workspace (https://docs.slack.dev/apis/web-api/rate-limits). Each limit is created when
 * it is first used.
 */
export class RateLimits {
  readonly byName = new Map<string, CallLimit>();

  constructor(readonly limits: SlackLimits) {}

  /** Counts a message to a channel. Returns the seconds to wait if it is refused. */
  takePost(channelId: string, nowMs: number): number | undefined {
    const { postsPerSecond, postBurst, postsPerMinute } = this.limits;
    return (
      this.limit(`post ${channelId}`, () => leakingBucket(postBurst, 1000 / postsPerSecond)).take(nowMs) ??
      this.limit('post (workspace)', () => rollingWindow(postsPerMinute, MINUTE_MS)).take(nowMs)
    );
  }

  /** Counts a call of another method. Returns the seconds to wait if it is refused. */
  takeCall(method: string, nowMs: number): number | undefined {
    return this.limit(method, () => rollingWindow(this.callsPerMinute(method), MINUTE_MS)).take(nowMs);
  }

  private callsPerMinute(method: string): number {
    return method === 'auth.test' ? this.limits.authTestPerMinute : this.limits.tier3PerMinute;
  }

  private limit(name: string, rule: () => LimitRule): CallLimit {
    const known = this.byName.get(name);
    if (known !== undefined) return known;
    const limit = new CallLimit(rule());
    this.byName.set(name, limit);
    return limit;
  }
}
