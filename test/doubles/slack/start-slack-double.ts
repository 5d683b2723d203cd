import { serveDouble, type RunningDouble, type ServeOptions } from '../serve/serve-double.js';
import { answerWebApi } from './answer-web-api.js';
import { answerWebhook } from './answer-webhook.js';
import { DOCUMENTED_LIMITS, RateLimits, type SlackLimits } from './rate-limits.js';
import type { ChannelOptions } from './slack-channel.js';
import { slackFault } from './slack-faults.js';
import { slackPage } from './slack-page.js';
import { slackState, type SlackState } from './slack-state.js';
import { ALL_SCOPES, SlackWorkspace, type SlackToken, type SlackWebhook } from './slack-workspace.js';

export interface SlackDoubleOptions extends ServeOptions {
  /** By default one, `C0123456789` "questions", with the app in it. */
  readonly channels?: readonly ChannelOptions[];
  /** By default one, `xoxb-double`, with every scope that the double asks for. */
  readonly tokens?: readonly SlackToken[];
  readonly webhooks?: readonly Omit<SlackWebhook, 'state'>[];
  /** Where they differ from what is documented. */
  readonly limits?: Partial<SlackLimits>;
  /**
   * What becomes of a reply whose parent is not there: `unthreaded`, the default, is posted to the channel itself
   * without an error, as Slack was seen to do; `refused` is answered with `thread_not_found`.
   */
  readonly orphanReplies?: 'unthreaded' | 'refused';
}

export interface SlackDouble extends RunningDouble {
  /** The whole of it, live: a test may read and change it. */
  readonly workspace: SlackWorkspace;
  readonly limits: RateLimits;
  /** The same as plain data, as `GET /_double/state` gives it. */
  state(): SlackState;
  /** The token stops working, from now on, with this code. */
  failToken(token: string, code: 'token_revoked' | 'token_expired' | 'account_inactive' | 'invalid_auth'): void;
  /** A person deletes a message: the app is not told, and finds `message_not_found`. */
  deleteAsPerson(channelId: string, ts: string): void;
}

export const DEFAULT_TOKEN = 'xoxb-double';
export const DEFAULT_CHANNEL = 'C0123456789';

/** Starts a Slack workspace on loopback: the Web API under `/api/`, incoming webhooks under `/services/`. */
export async function startSlackDouble(options: SlackDoubleOptions = {}): Promise<SlackDouble> {
  const workspace = new SlackWorkspace(options.now ?? Date.now, {
    channels: options.channels ?? [{ id: DEFAULT_CHANNEL, name: 'questions' }],
    tokens: options.tokens ?? [{ token: DEFAULT_TOKEN, scopes: ALL_SCOPES }],
  });
  for (const webhook of options.webhooks ?? []) workspace.webhooks.set(webhook.path, { ...webhook, state: 'active' });
  const limits = new RateLimits({ ...DOCUMENTED_LIMITS, ...options.limits });
  const api = { workspace, limits, orphanReplies: options.orphanReplies ?? 'unthreaded' };

  const running = await serveDouble(
    {
      answer: (request) => {
        if (request.path.startsWith('/api/')) return answerWebApi(api, request);
        if (request.path.startsWith('/services/')) return answerWebhook(workspace, limits, request);
        return { status: 404, text: 'not found' };
      },
      state: () => slackState(workspace, limits),
      page: () => slackPage(slackState(workspace, limits)),
      namedFaults: slackFault,
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
      if (known === undefined) throw new RangeError('there is no such token to fail');
      known.failure = code;
    },
    deleteAsPerson(channelId, ts) {
      const channel = workspace.channels.get(channelId);
      if (channel?.find(ts) === undefined) throw new RangeError(`no message ${ts} in ${channelId}`);
      channel.remove(ts);
    },
  };
}
