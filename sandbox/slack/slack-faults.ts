import type { FaultEffect } from '../serve/faults.js';
import { rateLimited } from './answer-web-api.js';

/** Error codes that can be had by their name: the method's pages and the errors that all methods share list them. */
const CODES: readonly string[] = [
  'account_inactive',
  'cant_update_message',
  'channel_not_found',
  'edit_window_closed',
  'ekm_access_denied',
  'external_channel_migrating',
  'fatal_error',
  'internal_error',
  'invalid_auth',
  'is_archived',
  'message_limit_exceeded',
  'message_not_found',
  'missing_scope',
  'not_in_channel',
  'org_login_required',
  'rate_limited',
  'request_timeout',
  'restricted_action',
  'restricted_action_non_threadable_channel',
  'restricted_action_read_only_channel',
  'restricted_action_thread_locked',
  'restricted_action_thread_only_channel',
  'service_unavailable',
  'team_added_to_org',
  'token_expired',
  'token_revoked',
  'update_failed',
];

/**
 * The double's faults by name: any of the codes above (nothing happens, the code is answered), a code with `-after`
 * (it happens and the code is answered all the same, as Slack warns of `fatal_error` and `internal_error`),
 * `ratelimited` (429, Retry-After 2 s), `unavailable` (HTTP 503 without JSON) and `bad-gateway-after`.
 */
export function slackFault(name: string): FaultEffect | undefined {
  if (name === 'ratelimited') return { kind: 'answer', answer: rateLimited(2) };
  if (name === 'unavailable') return { kind: 'answer', answer: { status: 503, text: 'upstream connect error' } };
  if (name === 'bad-gateway-after') return { kind: 'answerAfter', answer: { status: 502, text: 'bad gateway' } };
  const code = name.replace(/-after$/, '');
  if (!CODES.includes(code)) return undefined;
  return { kind: code === name ? 'answer' : 'answerAfter', answer: { status: 200, json: { ok: false, error: code } } };
}
