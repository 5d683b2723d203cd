import { parsedObject } from '../json.js';
import type { DoubleAnswer, DoubleRequest } from '../serve/double-request.js';
import { deleteMessage, postMessage, updateMessage, readContent } from './message-methods.js';
import {
  RateRefusal,
  SlackRefusal,
  readArguments,
  textArgument,
  truthy,
  type SlackCall,
  namedChannel,
  requireScope,
  type Arguments,
  type RateLimits,
} from './slack-call.js';
import { readHistory, readReplies } from './read-messages.js';
import type { AllowedTargets, SlackWorkspace, SlackChannel } from './slack-workspace.js';

const OAUTH = 'oauth.v2.access';

interface Method {
  readonly run: (call: SlackCall) => object;
  /** Scopes of which the token needs one, as in `x-accepted-oauth-scopes`. */
  readonly scopes: readonly string[];
  /** Whether the documentation of the method lists application/json as a content type. */
  readonly acceptsJson: boolean;
  /** Whether the limit applies per channel. It is then checked after everything else. */
  readonly limitedByChannel?: boolean;
}

const METHODS: Readonly<Record<string, Method>> = {
  'auth.test': { run: testAuth, scopes: [], acceptsJson: true },
  'chat.postMessage': { run: postMessage, scopes: ['chat:write'], acceptsJson: true, limitedByChannel: true },
  'chat.update': { run: updateMessage, scopes: ['chat:write'], acceptsJson: true },
  'chat.delete': { run: deleteMessage, scopes: ['chat:write'], acceptsJson: true },
  'conversations.history': { run: readHistory, scopes: ['channels:history', 'groups:history'], acceptsJson: true },
  'conversations.replies': { run: readReplies, scopes: ['channels:history', 'groups:history'], acceptsJson: false },
  'conversations.info': { run: channelInfo, scopes: ['channels:read', 'groups:read'], acceptsJson: false },
  'conversations.list': { run: listChannels, scopes: ['channels:read', 'groups:read'], acceptsJson: false },
  'conversations.join': { run: joinChannel, scopes: ['channels:join'], acceptsJson: true },
};

interface WebApi {
  readonly workspace: SlackWorkspace;
  readonly limits: RateLimits;
}

/**
 * Answers a call under `/api/`. Every answer except a rate limit is HTTP 200 with `ok`. Every answer has the request's
 * id in `x-slack-req-id` and, if the token is known, its scopes in `x-oauth-scopes`.
 */
export function answerWebApi({ workspace, limits }: WebApi, request: DoubleRequest): DoubleAnswer {
  const headers: Record<string, string> = { 'x-slack-req-id': `double-${request.number}` };
  try {
    const name = request.path.replace(/^\/api\//, '');
    if (name === OAUTH) return { status: 200, headers, json: { ok: true, ...refreshToken(workspace, request) } };
    const method = METHODS[name];
    if (method === undefined) throw new SlackRefusal('unknown_method', { req_method: name });
    const args = readArguments(request, method.acceptsJson);
    workspace.misuses.push(...misusesOf(request, name, args, workspace.allowed));
    const scopes = authenticate(workspace, request, textArgument(args, 'token'));
    headers['x-oauth-scopes'] = scopes.join(',');
    headers['x-accepted-oauth-scopes'] = method.scopes.join(',');
    const waitSeconds = method.limitedByChannel === true ? undefined : limits.takeCall(name, workspace.now());
    if (waitSeconds !== undefined) throw new RateRefusal(waitSeconds);
    const json = method.run({ method: name, args, scopes, workspace, limits });
    return { status: 200, headers, json: { ok: true, ...json } };
  } catch (error) {
    if (error instanceof SlackRefusal) {
      return { status: 200, headers, json: { ok: false, error: error.code, ...error.fields } };
    }
    if (error instanceof RateRefusal) return rateLimited(error.retryAfterSeconds, headers);
    throw error;
  }
}

/** Handles `oauth.v2.access`: only a form, no token (https://docs.slack.dev/reference/methods/oauth.v2.access). */
function refreshToken(workspace: SlackWorkspace, request: DoubleRequest): object {
  const args = readArguments(request, false);
  workspace.misuses.push(...misusesOf(request, OAUTH, args, workspace.allowed));
  if (workspace.rotation === undefined) throw new SlackRefusal('token_rotation_not_enabled');
  const { teamId, teamName } = workspace;
  return { ...workspace.rotation.refresh(args), app_id: 'A0DOUBLE01', team: { id: teamId, name: teamName } };
}

/** Builds HTTP 429 as documented in https://docs.slack.dev/apis/web-api/rate-limits. */
export function rateLimited(retryAfterSeconds: number, headers: Readonly<Record<string, string>> = {}): DoubleAnswer {
  return {
    status: 429,
    headers: { ...headers, 'retry-after': String(retryAfterSeconds) },
    json: { ok: false, error: 'ratelimited' },
  };
}

/**
 * Returns the scopes of the request's token, from `Authorization: Bearer` or the argument `token` of a form or query.
 * @throws {SlackRefusal} `not_authed` without a token, `invalid_auth` for an unknown one, or the code of a failed token
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

/**
 * Handles `conversations.info`, which also shows a public channel to an app that is not a member
 * (https://docs.slack.dev/reference/methods/conversations.info).
 */
function channelInfo(call: SlackCall): object {
  const channel = namedChannel(call);
  requireScope(call, channel.isPrivate ? 'groups:read' : 'channels:read');
  return { channel: channelJson(channel) };
}

/** Maximum number of channels in a page (https://docs.slack.dev/reference/methods/conversations.list). */
const MAX_LISTED = 1000;

/**
 * Handles `conversations.list`: channels of the requested types, of private ones only those that the app has joined. The
 * cursor is the position (https://docs.slack.dev/reference/methods/conversations.list).
 */
function listChannels(call: SlackCall): object {
  const types = (textArgument(call.args, 'types') ?? 'public_channel').split(',');
  const known = ['public_channel', 'private_channel'];
  if (types.some((type) => !known.includes(type))) throw new SlackRefusal('invalid_types');
  if (types.includes('public_channel')) requireScope(call, 'channels:read');
  if (types.includes('private_channel')) requireScope(call, 'groups:read');
  const limit = Number(textArgument(call.args, 'limit') ?? 100);
  if (!(limit >= 1 && limit <= MAX_LISTED)) throw new SlackRefusal('invalid_limit');
  const from = Number(textArgument(call.args, 'cursor') ?? 0);
  const shown = [...call.workspace.channels.values()].filter(
    ({ isPrivate, isMember, isArchived }) =>
      types.includes(isPrivate ? 'private_channel' : 'public_channel') &&
      (!isPrivate || isMember) &&
      !(isArchived && truthy(call.args['exclude_archived'])),
  );
  const next = from + limit < shown.length ? String(from + limit) : '';
  return {
    channels: shown.slice(from, from + limit).map(channelJson),
    response_metadata: { next_cursor: next },
  };
}

/** Handles `conversations.join`, for public channels (https://docs.slack.dev/reference/methods/conversations.join). */
function joinChannel(call: SlackCall): object {
  requireScope(call, 'channels:join');
  const channel = namedChannel(call);
  if (channel.isPrivate) throw new SlackRefusal('method_not_supported_for_channel_type');
  if (channel.isArchived) throw new SlackRefusal('is_archived');
  const wasMember = channel.isMember;
  channel.isMember = true;
  return {
    channel: channelJson(channel),
    ...(wasMember && {
      warning: 'already_in_channel',
      response_metadata: { warnings: ['already_in_channel'] },
    }),
  };
}

/** Handles `auth.test`, which needs no scope (https://docs.slack.dev/reference/methods/auth.test). */
function testAuth({ workspace }: SlackCall): object {
  return {
    url: 'https://double.slack.com/',
    team: workspace.teamName,
    user: 'pigeonpost',
    team_id: workspace.teamId,
    user_id: workspace.botUserId,
    bot_id: workspace.botId,
    is_enterprise_install: false,
  };
}

function channelJson({ id, name, isPrivate, isArchived, isMember }: SlackChannel): object {
  return {
    id,
    name,
    name_normalized: name,
    is_channel: !isPrivate,
    is_group: isPrivate,
    is_im: false,
    is_mpim: false,
    is_private: isPrivate,
    is_archived: isArchived,
    is_member: isMember,
    is_general: false,
    is_shared: false,
    is_ext_shared: false,
    is_org_shared: false,
  };
}

/**
 * Answers an incoming webhook under `/services/`
 * (https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks): plain text, `ok` or a code. A webhook
 * posts to its own channel. It returns no ts and supports no threads, edits or metadata.
 */
export function answerWebhook(workspace: SlackWorkspace, limits: RateLimits, request: DoubleRequest): DoubleAnswer {
  const webhook = workspace.webhooks.get(request.path);
  const channel = webhook === undefined ? undefined : workspace.channels.get(webhook.channel);
  if (webhook === undefined || webhook.state === 'removed') return text(404, 'no_service');
  if (request.method !== 'POST') return text(400, 'invalid_payload');
  if (webhook.state === 'prohibited') return text(403, 'action_prohibited');
  if (channel === undefined) return text(404, 'channel_not_found');
  if (channel.isArchived) return text(410, 'channel_is_archived');
  try {
    const content = readContent(payloadOf(request));
    if (content.text === undefined && content.blocks === undefined) return text(400, 'no_text');
    const waitSeconds = limits.takePost(channel.id, workspace.now());
    if (waitSeconds !== undefined) {
      return { status: 429, headers: { 'retry-after': String(waitSeconds) }, text: 'rate_limited' };
    }
    workspace.post(channel, {
      bot: null,
      text: content.text ?? '',
      ...(content.blocks !== undefined && { blocks: content.blocks }),
    });
    return text(200, 'ok');
  } catch (error) {
    if (error instanceof SlackRefusal) return text(400, error.code);
    throw error;
  }
}

/** Reads the JSON from the body or from the form field `payload`. */
function payloadOf(request: DoubleRequest): Readonly<Record<string, unknown>> {
  const isForm = request.headers['content-type']?.startsWith('application/x-www-form-urlencoded') === true;
  const payload = parsedObject((isForm ? new URLSearchParams(request.body).get('payload') : request.body) ?? '');
  if (payload === undefined) throw new SlackRefusal('invalid_payload');
  return payload;
}

function text(status: number, body: string): DoubleAnswer {
  return { status, text: body };
}

/** Markup that Slack makes live: mentions, channel names and links. */
const LIVE_MARKUP = /<[!@#][^>]*>|<[a-z][a-z+.-]*:[^>]*>/i;
const CREDENTIALS = ['token', 'client_secret', 'refresh_token'];

/**
 * Lists contents that Slack accepts but that an app must not send if it displays texts of an audience: a credential
 * where proxies log it, markup that notifies or links, mentions and addresses that are not configured, and options that
 * make texts live.
 */
function misusesOf(
  { query, headers }: DoubleRequest,
  method: string,
  args: Arguments,
  allowed: AllowedTargets,
): string[] {
  const found: string[] = [];
  const add = (isMisuse: boolean, what: string): void => void (isMisuse && found.push(`${method}: ${what}`));
  add(
    CREDENTIALS.some((name) => query.has(name)),
    'a credential in the address',
  );
  if (method !== 'oauth.v2.access') {
    add(
      CREDENTIALS.some((name) => name in args),
      'a credential outside the Authorization header',
    );
  }
  add(method === 'oauth.v2.access' && 'authorization' in headers, 'two credentials at once');
  if (method !== 'chat.postMessage' && method !== 'chat.update') return found;
  const text = typeof args['text'] === 'string' ? args['text'] : '';
  add(LIVE_MARKUP.test(text), 'live markup in text');
  add(text === '', 'blocks without a text for notifications');
  add(args['attachments'] !== undefined, 'attachments');
  add(args['parse'] !== 'none', 'parse is not "none"');
  add(args['link_names'] !== false, 'link_names is not off');
  if (method === 'chat.postMessage') {
    for (const name of ['mrkdwn', 'unfurl_links', 'unfurl_media']) add(args[name] !== false, `${name} is not off`);
    add(args['reply_broadcast'] !== undefined && args['thread_ts'] === undefined, 'reply_broadcast without a thread');
  }
  for (const part of partsOf(args['blocks']))
    found.push(...misusesInPart(part, allowed).map((it) => `${method}: ${it}`));
  for (const id of textsOf(args['metadata'])) add(id.length > 200 || /\s/.test(id), 'metadata that is not an id');
  return found;
}

function misusesInPart(part: Readonly<Record<string, unknown>>, { userGroups, origins }: AllowedTargets): string[] {
  switch (part['type']) {
    case 'mrkdwn':
    case 'markdown':
      return ['a text with markup'];
    case 'user':
    case 'channel':
    case 'broadcast':
      return [`a mention of ${part['type']}`];
    case 'usergroup':
      return userGroups.includes(String(part['usergroup_id'])) ? [] : ['a mention of a user group that is not allowed'];
    case 'link':
    case 'button': {
      const url = String(part['url']);
      return URL.canParse(url) && origins.includes(new URL(url).origin) ? [] : ['an address that is not allowed'];
    }
    default:
      return [];
  }
}

function partsOf(value: unknown): Readonly<Record<string, unknown>>[] {
  if (typeof value !== 'object' || value === null) return [];
  const own = Array.isArray(value) ? [] : [value as Readonly<Record<string, unknown>>];
  return [...own, ...Object.values(value).flatMap(partsOf)];
}

function textsOf(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsOf) : [];
}
