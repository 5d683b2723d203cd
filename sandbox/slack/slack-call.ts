import type { RateLimits } from './rate-limits.js';
import { textArgument, type Arguments } from './read-arguments.js';
import type { SlackChannel } from './slack-channel.js';
import { invalidArguments, SlackRefusal } from './slack-refusal.js';
import type { SlackWorkspace } from './slack-workspace.js';

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
