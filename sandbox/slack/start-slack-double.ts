import { serveDouble, type RunningDouble, type ServeOptions } from '../serve/serve-double.js';
import { answerWebApi, rateLimited, answerWebhook } from './answer-web-api.js';
import { DOCUMENTED_LIMITS, RateLimits, type SlackLimits } from './slack-call.js';
import {
  type ChannelOptions,
  slackState,
  type SlackState,
  ALL_SCOPES,
  MANIFEST_SCOPES,
  SlackWorkspace,
  type SlackToken,
  type SlackWebhook,
} from './slack-workspace.js';
import { slackPage } from './slack-page.js';
import type { RotatingApp } from './token-rotation.js';
import type { FaultEffect, NamedFaults } from '../serve/faults.js';
import { anything, type RequestRule } from '../serve/request-rules.js';

export interface SlackDoubleOptions extends ServeOptions {
  /**
   * `freshAccount`, the default: the app was just created from the manifest in docs/sinks/slack.md and is in no
   * channel. Its token has the manifest's scopes and never expires, because the manifest leaves token rotation off. An
   * edit cannot remove the `rich_text` of a message, which is the stricter reading of Slack's pages.
   * `established`: the token has every scope, the app is in all channels, and edits may remove `rich_text`.
   */
  readonly profile?: 'freshAccount' | 'established';
  /** Turns token rotation on: `ROTATING_APP`, whose access tokens expire, replaces the token. */
  readonly rotation?: boolean;
  /** By default, one channel: `C0123456789` "questions". */
  readonly channels?: readonly ChannelOptions[];
  /** Tokens that do not expire. By default `xoxb-double`, or none if the app has token rotation. */
  readonly tokens?: readonly SlackToken[];
  readonly webhooks?: readonly Omit<SlackWebhook, 'state'>[];
  /** Rate limits that differ from the documented ones. */
  readonly limits?: Partial<SlackLimits>;
}

export interface SlackDouble extends RunningDouble {
  /** The live state, which a test may read and change. */
  readonly workspace: SlackWorkspace;
  readonly limits: RateLimits;
  /** Returns the same data as `GET /_double/state`. */
  state(): SlackState;
  /** Makes every further use of the token fail with this code. */
  failToken(token: string, code: 'token_revoked' | 'token_expired' | 'account_inactive' | 'invalid_auth'): void;
  /** Deletes a message as a person would. The app is not notified; later calls get `message_not_found`. */
  deleteAsPerson(channelId: string, ts: string): void;
}

/** The app's token if it has no token rotation. */
export const DEFAULT_TOKEN = 'xoxb-double';
/** The app with token rotation. */
export const ROTATING_APP: RotatingApp = {
  clientId: '4242424242.4242',
  clientSecret: 'double-client-secret',
  refreshToken: 'xoxe-1-double-installed',
  scopes: MANIFEST_SCOPES,
};
export const DEFAULT_CHANNEL = 'C0123456789';

/** Starts a Slack workspace on loopback with the Web API at `/api/` and incoming webhooks at `/services/`. */
export async function startSlackDouble(options: SlackDoubleOptions = {}): Promise<SlackDouble> {
  const isFresh = (options.profile ?? 'freshAccount') === 'freshAccount';
  const scopes = isFresh ? MANIFEST_SCOPES : ALL_SCOPES;
  const channels = options.channels ?? [{ id: DEFAULT_CHANNEL, name: 'questions' }];
  const workspace = new SlackWorkspace(options.now ?? Date.now, {
    channels: channels.map((channel) => ({ isMember: !isFresh, ...channel })),
    tokens: options.tokens ?? (options.rotation === true ? [] : [{ token: DEFAULT_TOKEN, scopes }]),
    rotation: options.rotation === true ? ROTATING_APP : undefined,
  });
  workspace.richTextStays = isFresh;
  for (const webhook of options.webhooks ?? []) workspace.webhooks.set(webhook.path, { ...webhook, state: 'active' });
  const limits = new RateLimits({ ...DOCUMENTED_LIMITS, ...options.limits });
  const api = { workspace, limits };

  const running = await serveDouble(
    {
      answer: (request) => {
        if (request.path.startsWith('/api/')) return answerWebApi(api, request);
        if (request.path.startsWith('/services/')) return answerWebhook(workspace, limits, request);
        return { status: 404, text: 'not found' };
      },
      state: () => slackState(workspace, limits),
      page: () => slackPage(slackState(workspace, limits)),
      namedFaults: slackFaults,
      rules,
    },
    options,
  );
  return {
    ...running,
    workspace,
    limits,
    state: () => slackState(workspace, limits),
    failToken(token, code) {
      const known = workspace.tokens.get(token);
      if (known === undefined) throw new RangeError('no such token');
      known.failure = code;
    },
    deleteAsPerson(channelId, ts) {
      const channel = workspace.channels.get(channelId);
      if (channel?.find(ts) === undefined) throw new RangeError(`no message ${ts} in ${channelId}`);
      channel.remove(ts);
    },
  };
}

/** Error codes that a fault can name, from the pages of the methods and the errors that all methods share. */
const CODES: readonly string[] = [
  'account_inactive',
  'block_mismatch',
  'cant_broadcast_message',
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
  'no_dual_broadcast_content_update',
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
 * The named faults: a code from above (the call has no effect), a code with `-after` (the call takes effect and the code
 * is answered anyway, which Slack documents for `fatal_error` and `internal_error`), and those without a code.
 */
export const slackFaults: NamedFaults = {
  ...Object.fromEntries(
    CODES.flatMap((error): [string, FaultEffect][] => {
      const answer = { status: 200, json: { ok: false, error } };
      return [
        [error, { kind: 'answer', answer }],
        [`${error}-after`, { kind: 'answerAfter', answer }],
      ];
    }),
  ),
  ratelimited: { kind: 'answer', answer: rateLimited(2) },
  unavailable: { kind: 'answer', answer: { status: 503, text: 'upstream connect error' } },
  'bad-gateway-after': { kind: 'answerAfter', answer: { status: 502, text: 'bad gateway' } },
};

/** Arguments that our sink may send with a message. Source: the methods' pages on docs.slack.dev. */
const messageArguments = ['channel', 'text', 'blocks', 'metadata', 'parse', 'link_names', 'reply_broadcast'];
const pageArguments = ['channel', 'limit', 'cursor', 'oldest', 'latest', 'inclusive', 'include_all_metadata'];
/** Arguments of a webhook, which posts to its own channel without thread and metadata. */
const webhookArguments = ['text', 'blocks', 'unfurl_links', 'unfurl_media'];
const methods: Readonly<Record<string, readonly string[]>> = {
  'auth.test': [],
  'chat.postMessage': [...messageArguments, 'thread_ts', 'mrkdwn', 'unfurl_links', 'unfurl_media'],
  'chat.update': [...messageArguments, 'ts'],
  'chat.delete': ['channel', 'ts'],
  'conversations.history': pageArguments,
  'conversations.replies': [...pageArguments, 'ts'],
  'conversations.join': ['channel'],
};

const keysOf = (names: readonly string[]) => Object.fromEntries(names.map((name) => [name, anything] as const));

/** The allowed contents of requests. Slack ignores unknown arguments. The methods check blocks and metadata. */
const rules: readonly RequestRule[] = [
  ...Object.entries(methods).map(([method, names]): RequestRule => ({
    method: 'POST',
    path: new RegExp(`/api/${method}$`),
    headers: ['authorization'],
    json: keysOf(names),
    form: names,
  })),
  {
    method: 'POST',
    path: /\/api\/oauth\.v2\.access$/,
    form: ['grant_type', 'client_id', 'client_secret', 'refresh_token'],
  },
  { method: 'POST', path: /^\/services\//, json: keysOf(webhookArguments) },
];
