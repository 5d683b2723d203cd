import { refusesContent } from '../network/read-answer.js';
import type { SlackReply } from './client.js';
import type { Outcome } from '../sink.js';

/** The meaning of an answer of the Web API, for any method. `detail` has codes and ids, never Slack's own sentences. */
export type Verdict =
  | { readonly kind: 'ok'; readonly body: Readonly<Record<string, unknown>>; readonly detail: string }
  /** Rate limited: not carried out. */
  | { readonly kind: 'limited'; readonly afterMs: number; readonly detail: string }
  /** Not carried out; a later call may succeed. */
  | { readonly kind: 'later'; readonly afterMs?: number; readonly detail: string }
  /** May or may not have been carried out. */
  | { readonly kind: 'maybe'; readonly detail: string }
  /** The token is not accepted, or lacks a scope: no call would pass. */
  | { readonly kind: 'credential'; readonly code: string; readonly detail: string }
  /** The channel accepts no message of this app. */
  | { readonly kind: 'channel'; readonly code: string; readonly detail: string }
  | { readonly kind: 'not-in-channel'; readonly code: string; readonly detail: string }
  /** The message, or the one that it replies to, does not exist. */
  | { readonly kind: 'no-message'; readonly code: string; readonly detail: string }
  /** The message exists and cannot be changed. */
  | { readonly kind: 'fixed'; readonly code: string; readonly detail: string }
  /** Slack refuses this permanently. */
  | { readonly kind: 'refused'; readonly code: string; readonly detail: string };

/** Wait after a rate limit without `Retry-After`. */
const UNSAID_WAIT_MS = 30_000;

type ByCode = Exclude<Verdict['kind'], 'ok' | 'refused'>;

/**
 * Source: docs.slack.dev, the error tables of chat.postMessage, chat.update, chat.delete, conversations.history and
 * conversations.replies. `internal_error` and `fatal_error` are documented as possibly carried out in part;
 * `request_timeout` as a request that did not arrive completely.
 */
const byCode: Readonly<Record<string, ByCode>> = {
  ratelimited: 'limited',
  rate_limited: 'limited',
  message_limit_exceeded: 'limited',
  service_unavailable: 'later',
  request_timeout: 'later',
  team_added_to_org: 'later',
  external_channel_migrating: 'later',
  update_failed: 'later',
  invalid_cursor: 'later', // a look-up that took too long starts again
  delete_failed: 'later',
  internal_error: 'maybe',
  fatal_error: 'maybe',
  not_authed: 'credential',
  invalid_auth: 'credential',
  token_revoked: 'credential',
  token_expired: 'credential',
  account_inactive: 'credential',
  missing_scope: 'credential',
  no_permission: 'credential',
  access_denied: 'credential',
  not_allowed_token_type: 'credential',
  org_login_required: 'credential',
  ekm_access_denied: 'credential',
  two_factor_setup_required: 'credential',
  team_access_not_granted: 'credential',
  enterprise_is_restricted: 'credential',
  accesslimited: 'credential',
  channel_not_found: 'channel',
  is_archived: 'channel',
  is_inactive: 'channel', // the code for edits in an archived channel
  team_not_found: 'channel',
  restricted_action: 'channel',
  restricted_action_read_only_channel: 'channel',
  restricted_action_thread_only_channel: 'channel',
  restricted_action_non_threadable_channel: 'channel',
  cannot_post_to_channel: 'channel',
  not_in_channel: 'not-in-channel',
  message_not_found: 'no-message',
  thread_not_found: 'no-message',
  cannot_reply_to_message: 'no-message',
  restricted_action_thread_locked: 'no-message',
  edit_window_closed: 'fixed',
  cant_update_message: 'fixed',
  cant_delete_message: 'fixed',
  compliance_exports_prevent_deletion: 'fixed',
};

/** @param method for messages, e.g. `chat.postMessage` */
export function classifyReply(reply: SlackReply, method: string): Verdict {
  if (reply.kind === 'no-answer') return { kind: reply.mayHaveArrived ? 'maybe' : 'later', detail: reply.detail };
  const { status, body, requestId } = reply;
  const request = requestId === undefined ? '' : `, request ${requestId}`;
  if (status === 429) {
    return {
      kind: 'limited',
      afterMs: reply.retryAfterMs ?? UNSAID_WAIT_MS,
      detail: `Slack answered ${method} with HTTP 429${request}`,
    };
  }
  if (body === undefined) {
    const detail = `the server that answered ${method} with HTTP ${status} is not Slack's Web API${request}`;
    // A proxy can refuse one message for its size or content. It says nothing about a look-up.
    if (method.startsWith('chat.') && refusesContent(status))
      return { kind: 'refused', code: `http_${status}`, detail };
    // An unreadable success, or a failure of the server, may have taken effect; a refusal had none.
    return { kind: status < 300 || status >= 500 ? 'maybe' : 'later', detail };
  }
  if (body['ok'] === true) return { kind: 'ok', body, detail: `${method} ok${request}` };
  const code = errorCode(body['error']);
  const kind = byCode[code] ?? 'refused';
  const detail = `Slack answered ${method} with ${code}${neededScope(body)}${request}`;
  switch (kind) {
    case 'limited':
      return { kind, afterMs: reply.retryAfterMs ?? UNSAID_WAIT_MS, detail };
    case 'later':
      return { kind, detail, ...(reply.retryAfterMs !== undefined && { afterMs: reply.retryAfterMs }) };
    case 'maybe':
      return { kind, detail };
    default:
      return { kind, code, detail };
  }
}

/** Slack's codes are words; anything else could be an attendee's text. */
function errorCode(found: unknown): string {
  return typeof found === 'string' && /^[a-z][a-z0-9_]{0,79}$/.test(found) ? found : 'unnamed_error';
}

function neededScope({ needed }: Readonly<Record<string, unknown>>): string {
  return typeof needed === 'string' && /^[a-z:._,-]{1,120}$/.test(needed) ? `, needed: ${needed}` : '';
}

/**
 * Returns the outcome of a change whose call failed and is harmless to repeat. If a channel refuses everything, a sink
 * without another channel stops; with several, only that channel's changes are parked.
 */
export function outcomeOf(verdict: Exclude<Verdict, { kind: 'ok' }>, hasOneChannel: boolean): Outcome {
  const { detail } = verdict;
  switch (verdict.kind) {
    case 'limited':
      return { kind: 'retry', afterMs: verdict.afterMs, detail };
    case 'later':
      return { kind: 'retry', detail, ...(verdict.afterMs !== undefined && { afterMs: verdict.afterMs }) };
    case 'maybe':
      return { kind: 'retry', detail };
    case 'credential':
      return { kind: 'pause', cause: 'credential', detail };
    case 'channel':
    case 'not-in-channel':
      if (hasOneChannel) return { kind: 'pause', cause: 'destination', detail };
      return { kind: 'rejected', cause: `slack:${verdict.code}`, detail };
    case 'no-message':
    case 'fixed':
      return { kind: 'rejected', cause: `slack:${verdict.code}`, detail, about: 'record' };
    case 'refused':
      return { kind: 'rejected', cause: `slack:${verdict.code}`, detail };
  }
}
