import type { DoubleAnswer, DoubleRequest } from '../serve/double-request.js';
import { channelInfo, joinChannel, testAuth } from './channel-methods.js';
import { deleteMessage } from './delete-message.js';
import { misusesOf } from './misuses.js';
import { postMessage } from './post-message.js';
import { RateRefusal } from './rate-refusal.js';
import type { RateLimits } from './rate-limits.js';
import { readArguments, textArgument } from './read-arguments.js';
import { readHistory, readReplies } from './read-messages.js';
import type { SlackCall } from './slack-call.js';
import { SlackRefusal } from './slack-refusal.js';
import type { SlackWorkspace } from './slack-workspace.js';
import { updateMessage } from './update-message.js';

const OAUTH = 'oauth.v2.access';

interface Method {
  readonly run: (call: SlackCall) => object;
  /** Scopes of which a token needs one, as `x-accepted-oauth-scopes` lists them. */
  readonly scopes: readonly string[];
  /** Whether its page lists application/json among its content types. */
  readonly takesJson: boolean;
  /** Posting is limited per channel, once it is known that the message would be taken. */
  readonly limitedByChannel?: boolean;
}

const METHODS: Readonly<Record<string, Method>> = {
  'auth.test': { run: testAuth, scopes: [], takesJson: true },
  'chat.postMessage': { run: postMessage, scopes: ['chat:write'], takesJson: true, limitedByChannel: true },
  'chat.update': { run: updateMessage, scopes: ['chat:write'], takesJson: true },
  'chat.delete': { run: deleteMessage, scopes: ['chat:write'], takesJson: true },
  'conversations.history': { run: readHistory, scopes: ['channels:history', 'groups:history'], takesJson: true },
  'conversations.replies': { run: readReplies, scopes: ['channels:history', 'groups:history'], takesJson: false },
  'conversations.info': { run: channelInfo, scopes: ['channels:read', 'groups:read'], takesJson: false },
  'conversations.join': { run: joinChannel, scopes: ['channels:join'], takesJson: true },
};

export interface WebApi {
  readonly workspace: SlackWorkspace;
  readonly limits: RateLimits;
  readonly orphanReplies: SlackCall['orphanReplies'];
}

/**
 * Answers a call under `/api/`. All but a rate limit is HTTP 200 with `ok`; every answer names the request in
 * `x-slack-req-id`, and the token's scopes in `x-oauth-scopes` once a token was recognised.
 */
export function answerWebApi({ workspace, limits, orphanReplies }: WebApi, request: DoubleRequest): DoubleAnswer {
  const headers: Record<string, string> = { 'x-slack-req-id': `double-${request.number}` };
  try {
    const name = request.path.replace(/^\/api\//, '');
    if (name === OAUTH) return { status: 200, headers, json: { ok: true, ...refreshToken(workspace, request) } };
    const method = METHODS[name];
    if (method === undefined) throw new SlackRefusal('unknown_method', { req_method: name });
    const args = readArguments(request, method.takesJson);
    workspace.misuses.push(...misusesOf(request, name, args, workspace.allowed));
    const scopes = authenticate(workspace, request, textArgument(args, 'token'));
    headers['x-oauth-scopes'] = scopes.join(',');
    headers['x-accepted-oauth-scopes'] = method.scopes.join(',');
    const waitSeconds = method.limitedByChannel === true ? undefined : limits.takeCall(name, workspace.now());
    if (waitSeconds !== undefined) throw new RateRefusal(waitSeconds);
    const json = method.run({ method: name, args, scopes, workspace, limits, orphanReplies });
    return { status: 200, headers, json: { ok: true, ...json } };
  } catch (error) {
    if (error instanceof SlackRefusal) {
      return { status: 200, headers, json: { ok: false, error: error.code, ...error.fields } };
    }
    if (error instanceof RateRefusal) return rateLimited(error.retryAfterSeconds, headers);
    throw error;
  }
}

/** `oauth.v2.access` takes a form alone, and no token (https://docs.slack.dev/reference/methods/oauth.v2.access). */
function refreshToken(workspace: SlackWorkspace, request: DoubleRequest): object {
  const args = readArguments(request, false);
  workspace.misuses.push(...misusesOf(request, OAUTH, args, workspace.allowed));
  if (workspace.rotation === undefined) throw new SlackRefusal('token_rotation_not_enabled');
  const { teamId, teamName } = workspace;
  return { ...workspace.rotation.refresh(args), app_id: 'A0DOUBLE01', team: { id: teamId, name: teamName } };
}

/** HTTP 429 as https://docs.slack.dev/apis/web-api/rate-limits shows it. */
export function rateLimited(retryAfterSeconds: number, headers: Readonly<Record<string, string>> = {}): DoubleAnswer {
  return {
    status: 429,
    headers: { ...headers, 'retry-after': String(retryAfterSeconds) },
    json: { ok: false, error: 'ratelimited' },
  };
}

/**
 * The scopes of the request's token: `Authorization: Bearer`, or `token` among the arguments of a form or a query.
 * @throws {SlackRefusal} `not_authed` without a token, `invalid_auth` for an unknown one, and what the token has become
 */
function authenticate(
  workspace: SlackWorkspace,
  request: DoubleRequest,
  argument: string | undefined,
): readonly string[] {
  const isJson = request.headers['content-type']?.startsWith('application/json') === true;
  const sent = /^Bearer (\S+)$/i.exec(request.headers['authorization'] ?? '')?.[1] ?? (isJson ? undefined : argument);
  if (sent === undefined) throw new SlackRefusal('not_authed');
  const token = workspace.tokens.get(sent);
  if (token === undefined) throw new SlackRefusal('invalid_auth');
  const failure = token.failure ?? workspace.rotation?.failureOf(sent);
  if (failure !== undefined) throw new SlackRefusal(failure);
  return token.scopes;
}
