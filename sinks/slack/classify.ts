import { refusesContent } from '../network/read-answer.js';
import type { NoAnswer, RestAnswer } from '../rest/rest-client.js';
import type { Outcome } from '../sink.js';

export type SlackReply = SlackAnswer | NoAnswer;

interface SlackAnswer extends Pick<RestAnswer, 'kind' | 'status' | 'requestId' | 'answeredAtMs'> {
  /** Undefined if the answer is not JSON in Slack's form. */
  readonly body: Readonly<Record<string, unknown>> | undefined;
  readonly retryAfterMs: number | undefined;
  /** The token's scopes; undefined if the answer does not list them. */
  readonly scopes: readonly string[] | undefined;
}

/**
 * The meaning of an answer of the Web API, for any method. `detail` contains codes and ids, but never text that Slack
 * wrote.
 */
export type Verdict =
  | { readonly kind: 'ok'; readonly body: Readonly<Record<string, unknown>>; readonly detail: string }
  /** Slack limited the rate and did not carry out the call. */
  | { readonly kind: 'limited'; readonly afterMs: number; readonly detail: string }
  /** Slack did not carry out the call; a later call may succeed. */
  | { readonly kind: 'later'; readonly afterMs?: number; readonly detail: string }
  /** Slack may or may not have carried out the call. */
  | { readonly kind: 'maybe'; readonly detail: string }
  /** Slack does not accept the token, or the token lacks a scope. Every call would fail. */
  | { readonly kind: 'credential'; readonly code: string; readonly detail: string }
  /** The channel accepts no message of this app. */
  | { readonly kind: 'channel'; readonly code: string; readonly detail: string }
  | { readonly kind: 'not-in-channel'; readonly code: string; readonly detail: string }
  /** The message, or the message to which it replies, does not exist. */
  | { readonly kind: 'no-message'; readonly code: string; readonly detail: string }
  /** The message exists, but cannot be edited or deleted. */
  | { readonly kind: 'fixed'; readonly code: string; readonly detail: string }
  /** Slack refuses the call permanently. */
  | { readonly kind: 'refused'; readonly code: string; readonly detail: string };

/** Wait after a rate limit without `Retry-After`. */
const UNSAID_WAIT_MS = 30_000;

type ByCode = Exclude<Verdict['kind'], 'ok' | 'refused'>;

/**
 * Source: docs.slack.dev, the error tables of chat.postMessage, chat.update, chat.delete, conversations.history and
 * conversations.replies. According to them, Slack may have carried out part of a call that returns `internal_error` or
 * `fatal_error`, and `request_timeout` means that the request did not arrive completely.
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
  invalid_cursor: 'later', // the cursor of a slow look-up expired; the look-up starts again
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
  ekm_access_denied: 'channel', // "admins have disabled sending messages to this channel", or to all of them
  not_in_channel: 'not-in-channel',
  message_not_found: 'no-message',
  thread_not_found: 'no-message',
  cannot_reply_to_message: 'no-message',
  restricted_action_thread_locked: 'no-message',
  edit_window_closed: 'fixed',
  cant_update_message: 'fixed',
  block_mismatch: 'fixed', // rich text cannot be replaced by other blocks
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
    // A proxy can refuse a message because of its size or content. A look-up has no such content, so its refusal is
    // temporary.
    if (method.startsWith('chat.') && refusesContent(status))
      return { kind: 'refused', code: `http_${status}`, detail };
    // After an unreadable success or a server error, the call may have taken effect. After a refusal, it has not.
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

/**
 * Returns Slack's error code. A code consists of lower-case letters, digits and underscores; any other value could be
 * an attendee's text.
 */
function errorCode(found: unknown): string {
  return typeof found === 'string' && /^[a-z][a-z0-9_]{0,79}$/.test(found) ? found : 'unnamed_error';
}

function neededScope({ needed }: Readonly<Record<string, unknown>>): string {
  return typeof needed === 'string' && /^[a-z:._,-]{1,120}$/.test(needed) ? `, needed: ${needed}` : '';
}

/**
 * Returns the outcome of a change whose call failed, if the call is harmless to repeat.
 * @param isOnlyChannel whether the call was for the sink's only channel. If that channel refuses everything, the sink
 * stops. If any other channel does, only its changes become dead letters
 */
export function outcomeOf(verdict: Exclude<Verdict, { kind: 'ok' }>, isOnlyChannel: boolean): Outcome {
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
      if (isOnlyChannel) return { kind: 'pause', cause: 'destination', detail };
      return { kind: 'rejected', cause: `slack:${verdict.code}`, detail };
    case 'no-message':
    case 'fixed':
      return { kind: 'rejected', cause: `slack:${verdict.code}`, detail, about: 'record' };
    case 'refused':
      return { kind: 'rejected', cause: `slack:${verdict.code}`, detail };
  }
}
