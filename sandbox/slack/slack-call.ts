import type { RateLimits } from './rate-limits.js';
import type { SlackChannel } from './slack-channel.js';
import type { SlackWorkspace } from './slack-workspace.js';
import type { DoubleRequest } from '../serve/double-request.js';

/** One call of a Web API method whose token was accepted. */
export interface SlackCall {
  readonly method: string;
  readonly args: Arguments;
  readonly scopes: readonly string[];
  readonly workspace: SlackWorkspace;
  readonly limits: RateLimits;
  /** The result of a reply to a missing message; see SlackDoubleOptions. */
  readonly orphanReplies: 'unthreaded' | 'refused';
}

/** @throws {SlackRefusal} `missing_scope`, with what is needed and what there is */
export function requireScope(call: SlackCall, needed: string): void {
  if (call.scopes.includes(needed)) return;
  throw new SlackRefusal('missing_scope', { needed, provided: call.scopes.join(',') });
}

/** The channel that the call names, by its id; a private one only for its members. */
export function namedChannel(call: SlackCall, byName = false): SlackChannel {
  const name = textArgument(call.args, 'channel');
  if (name === undefined) throw invalidArguments('missing required field: channel');
  const channel = byName ? call.workspace.channel(name) : call.workspace.channels.get(name);
  if (channel === undefined || (channel.isPrivate && !channel.isMember)) throw new SlackRefusal('channel_not_found');
  return channel;
}

/** @throws {SlackRefusal} `invalid_arguments` when the argument is missing */
export function requiredText(call: SlackCall, name: string): string {
  const value = textArgument(call.args, name);
  if (value === undefined) throw invalidArguments(`missing required field: ${name}`);
  return value;
}

export type Arguments = Readonly<Record<string, unknown>>;

/**
 * A method's arguments from query, form or JSON, as https://docs.slack.dev/apis/web-api/#post_bodies tells: JSON comes
 * with its own content type, and only to methods that take it; in a form, objects are JSON in a string.
 * @throws {SlackRefusal} for a body that is not what its content type says
 */
export function readArguments(request: DoubleRequest, takesJson: boolean): Arguments {
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
  if (!takesJson) return fromQuery; // the body of such a method is ignored
  return { ...fromQuery, ...jsonObject(request.body) };
}

function jsonObject(body: string): Arguments {
  let json: unknown;
  try {
    json = JSON.parse(body);
  } catch {
    throw new SlackRefusal('invalid_json');
  }
  if (typeof json !== 'object' || json === null || Array.isArray(json)) throw new SlackRefusal('json_not_object');
  return json as Arguments;
}

/** An argument that holds JSON, which a form gives as a string; undefined when it is absent, empty or null. */
export function structured(value: unknown, refuse: () => SlackRefusal): unknown {
  if (value === undefined || value === null || value === '') return undefined;
  if (typeof value !== 'string') return value;
  try {
    return JSON.parse(value);
  } catch {
    throw refuse();
  }
}

/** `true`, `"true"`, `1` and `"1"` are true, as Slack reads them. */
export function truthy(value: unknown): boolean {
  return value === true || value === 'true' || value === 1 || value === '1';
}

/** A string argument; numbers are taken as their text, as a form could not tell them apart. */
export function textArgument(args: Arguments, name: string): string | undefined {
  const value = args[name];
  if (typeof value === 'number') return String(value);
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/**
 * What Slack answers instead of doing it: `{"ok": false, "error": <code>}` with HTTP 200, as the Web API does for all
 * but a rate limit. Codes are those of the method's own page and of the errors that all methods share.
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

/** The common answer to arguments that are missing or of the wrong kind. */
export function invalidArguments(...messages: readonly string[]): SlackRefusal {
  return new SlackRefusal('invalid_arguments', {
    response_metadata: { messages: messages.map((message) => `[ERROR] ${message}`) },
  });
}

/** Blocks that break a rule of Block Kit: Slack says which in `errors` and `response_metadata.messages`. */
export function invalidBlocks(messages: readonly string[]): SlackRefusal {
  return new SlackRefusal('invalid_blocks', {
    errors: messages.map((message) => message.replace(/^\[ERROR\] /, '')),
    response_metadata: { messages },
  });
}

/** A call that came too fast: HTTP 429 with `Retry-After` in seconds, unlike every other refusal of the Web API. */
export class RateRefusal extends Error {
  override readonly name = 'RateRefusal';

  constructor(readonly retryAfterSeconds: number) {
    super('ratelimited');
  }
}
