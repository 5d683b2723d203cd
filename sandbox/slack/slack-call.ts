import { isObject } from '../json.js';
import type { SlackChannel, SlackWorkspace } from './slack-workspace.js';
import type { DoubleRequest } from '../serve/double-request.js';
import { CallLimit, leakingBucket, rollingWindow, type LimitRule } from '../serve/call-limit.js';

/** A call of a Web API method with an accepted token. */
export interface SlackCall {
  readonly method: string;
  readonly args: Arguments;
  readonly scopes: readonly string[];
  readonly workspace: SlackWorkspace;
  readonly limits: RateLimits;
}

/** @throws {SlackRefusal} `missing_scope`, with the needed and the provided scopes */
export function requireScope(call: SlackCall, needed: string): void {
  if (call.scopes.includes(needed)) return;
  throw new SlackRefusal('missing_scope', { needed, provided: call.scopes.join(',') });
}

/** Returns the channel that a call names by id. A private channel is found only by its members. */
export function namedChannel(call: SlackCall, byName = false): SlackChannel {
  const name = textArgument(call.args, 'channel');
  if (name === undefined) throw invalidArguments('missing required field: channel');
  const channel = byName ? call.workspace.channel(name) : call.workspace.channels.get(name);
  if (channel === undefined || (channel.isPrivate && !channel.isMember)) throw new SlackRefusal('channel_not_found');
  return channel;
}

/** @throws {SlackRefusal} `invalid_arguments` if the argument is missing */
export function requiredText(call: SlackCall, name: string): string {
  const value = textArgument(call.args, name);
  if (value === undefined) throw invalidArguments(`missing required field: ${name}`);
  return value;
}

export type Arguments = Readonly<Record<string, unknown>>;

/**
 * Reads a method's arguments from query, form or JSON (https://docs.slack.dev/apis/web-api/#post_bodies). JSON needs
 * its content type and a method that accepts it. In a form, objects are JSON in a string.
 * @throws {SlackRefusal} if the body does not match its content type
 */
export function readArguments(request: DoubleRequest, acceptsJson: boolean): Arguments {
  const fromQuery = Object.fromEntries(request.query);
  if (request.method === 'GET') return fromQuery;
  const type = request.headers['content-type']?.split(';')[0]?.trim().toLowerCase();
  if (type === undefined) {
    if (request.body === '') return fromQuery;
    throw new SlackRefusal('missing_post_type');
  }
  if (type === 'application/x-www-form-urlencoded') {
    return { ...fromQuery, ...Object.fromEntries(new URLSearchParams(request.body)) };
  }
  if (type !== 'application/json') throw new SlackRefusal('invalid_post_type');
  if (!acceptsJson) return fromQuery; // the body is ignored
  return { ...fromQuery, ...jsonObject(request.body) };
}

function jsonObject(body: string): Arguments {
  let json: unknown;
  try {
    json = JSON.parse(body);
  } catch {
    throw new SlackRefusal('invalid_json');
  }
  if (!isObject(json)) throw new SlackRefusal('json_not_object');
  return json as Arguments;
}

/** Parses an argument that contains JSON, which a form sends as a string; undefined if it is absent, empty or null. */
export function structured(value: unknown, refuse: () => SlackRefusal): unknown {
  if (value === undefined || value === null || value === '') return undefined;
  if (typeof value !== 'string') return value;
  try {
    return JSON.parse(value);
  } catch {
    throw refuse();
  }
}

/** Returns whether Slack reads a value as true: `true`, `"true"`, `1` and `"1"`. */
export function truthy(value: unknown): boolean {
  return value === true || value === 'true' || value === 1 || value === '1';
}

/** Returns a string argument. Converts numbers to text, because a form does not distinguish them. */
export function textArgument(args: Arguments, name: string): string | undefined {
  const value = args[name];
  if (typeof value === 'number') return String(value);
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/**
 * A refusal: `{"ok": false, "error": <code>}` with HTTP 200, which the Web API uses for everything except rate limits.
 * The codes come from the method's page and the errors that all methods share.
 */
export class SlackRefusal extends Error {
  override readonly name = 'SlackRefusal';

  constructor(
    readonly code: string,
    /** Further fields of the answer: `needed` and `provided`, or `response_metadata`. */
    readonly fields: Readonly<Record<string, unknown>> = {},
  ) {
    super(code);
  }
}

/** Builds the common answer to missing arguments and arguments of the wrong type. */
export function invalidArguments(...messages: readonly string[]): SlackRefusal {
  return new SlackRefusal('invalid_arguments', {
    response_metadata: { messages: messages.map((message) => `[ERROR] ${message}`) },
  });
}

/** Builds the answer to invalid blocks. Slack lists the problems in `errors` and `response_metadata.messages`. */
export function invalidBlocks(messages: readonly string[]): SlackRefusal {
  return new SlackRefusal('invalid_blocks', {
    errors: messages.map((message) => message.replace(/^\[ERROR\] /, '')),
    response_metadata: { messages },
  });
}

/** A refusal because of a rate limit: HTTP 429 with `Retry-After` in seconds, unlike all other refusals. */
export class RateRefusal extends Error {
  override readonly name = 'RateRefusal';

  constructor(readonly retryAfterSeconds: number) {
    super('ratelimited');
  }
}

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
