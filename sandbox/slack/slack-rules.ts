import { anything, type RequestRule } from '../serve/request-rules.js';

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
  'conversations.info': ['channel'],
  'conversations.join': ['channel'],
};

const keysOf = (names: readonly string[]) => Object.fromEntries(names.map((name) => [name, anything] as const));

/** The allowed contents of requests. Slack ignores unknown arguments. The methods check blocks and metadata. */
export const slackRules: readonly RequestRule[] = [
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
