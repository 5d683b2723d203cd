import { type CheckLine, fieldsOf, type Lane, type Outcome } from '../sink.js';
import { Sending, type SlackAccount } from './sending.js';
import { testMessage } from './blocks.js';
import { callWithToken, type SlackApi, type TokenSource } from './client.js';
import { postMessage } from './messages.js';

/** The scopes that the app needs, and why. */
const neededScopes: readonly (readonly [scope: string, why: string])[] = [
  ['chat:write', 'which posts, edits and redacts'],
  [
    'metadata.message:read',
    'which identifies its own messages: without it, a message whose answer was lost waits for an operator',
  ],
];
const historyScopes = ['channels:history', 'groups:history'] as const;
/** Optional scopes, which show the state of a channel. */
const infoScopes = ['channels:read', 'groups:read'] as const;

/** The API, tokens and channels to check. */
interface CheckedSlack {
  readonly api: SlackApi;
  readonly tokens: TokenSource;
  readonly channels: readonly string[];
}

/**
 * Checks that Slack accepts the token, that the token has the scopes, and that it can read the channels (look-ups read
 * them). Does not join channels or post messages. Never throws.
 */
export async function checkSlack(slack: CheckedSlack, signal: AbortSignal): Promise<CheckLine[]> {
  const { api, tokens, channels } = slack;
  const { verdict, reply } = await callWithToken(api, tokens, { method: 'auth.test' }, signal);
  if (verdict.kind !== 'ok') return [{ ok: false, text: verdict.detail }];
  const scopes = reply?.kind === 'answer' ? reply.scopes : undefined;
  const trouble = tokens.trouble?.();
  const lines: CheckLine[] = [
    { ok: true, text: 'Slack accepts the token' },
    ...(trouble === undefined ? [] : [{ ok: false, text: trouble }]),
    ...scopeLines(scopes),
  ];
  for (const channel of channels) {
    lines.push(await channelLine(slack, channel, scopes, signal));
  }
  return lines;
}

function scopeLines(scopes: readonly string[] | undefined): CheckLine[] {
  if (scopes === undefined) return [];
  const missing = neededScopes
    .filter(([scope]) => !scopes.includes(scope))
    .map(([scope, why]) => ({
      ok: false,
      text: `the app lacks the scope ${scope}, ${why}: add it to the app and install it again`,
    }));
  if (historyScopes.some((scope) => scopes.includes(scope))) return missing;
  const text =
    'the app lacks the scope channels:history (groups:history for private channels): without it, a message whose answer was lost cannot be looked up and waits for an operator; add it to the app and install it again';
  return [...missing, { ok: false, text }];
}

/** Reads one message with its metadata, as a look-up does, and finds out whether the channel is archived. */
async function channelLine(
  { api, tokens }: CheckedSlack,
  channel: string,
  scopes: readonly string[] | undefined,
  signal: AbortSignal,
): Promise<CheckLine> {
  const archived = {
    ok: false,
    text: `${channel} is archived, so Slack refuses every message: unarchive it in Slack, or set another "channel"`,
  };
  if (infoScopes.some((scope) => scopes?.includes(scope))) {
    const info = await callWithToken(api, tokens, { method: 'conversations.info', args: { channel } }, signal);
    if (info.verdict.kind === 'ok' && fieldsOf(info.verdict.body['channel'])['is_archived'] === true) return archived;
  }
  const method = 'conversations.history';
  const args = { channel, limit: 1, include_all_metadata: true };
  const { verdict } = await callWithToken(api, tokens, { method, args }, signal);
  switch (verdict.kind) {
    case 'ok':
      if (endsWithArchival(verdict.body['messages'])) return archived;
      return { ok: true, text: `${channel} can be read, so lost answers can be looked up` };
    case 'not-in-channel':
      if (scopes?.includes('channels:join')) {
        return { ok: true, text: `the app is not a member of ${channel} and joins it with the first message` };
      }
      return {
        ok: false,
        text: `the app is not a member of ${channel}: invite it there with /invite, or give it the scope channels:join`,
      };
    case 'channel':
      return {
        ok: false,
        text: `${verdict.detail}: compare ${channel} with the channel's details in Slack; a private channel has to invite the app`,
      };
    case 'credential':
      return { ok: false, text: `${channel}: ${verdict.detail}: add the scope to the app and install it again` };
    default:
      return { ok: false, text: `${channel}: ${verdict.detail}` };
  }
}

/**
 * Whether the newest message says that the channel was archived. Nobody can post after it, so this also works without a
 * scope that shows the channel. Source: docs.slack.dev, message events `channel_archive` and `group_archive`.
 */
function endsWithArchival(messages: unknown): boolean {
  const newest = Array.isArray(messages) ? fieldsOf(messages[0])['subtype'] : undefined;
  return newest === 'channel_archive' || newest === 'group_archive';
}

/** The lane of a test message, which belongs to no pigeonhole. Nothing about the message is stored. */
const noLane: Lane = { workspace: '', pigeonholeId: 0, ledgerId: '', memory: {}, remember: () => Promise.resolve() };
const TEST_MS = 20_000;

/** Posts one message that says that it is a test. The message is not removed. */
export async function sendTestByToken(
  account: SlackAccount,
  { channel, sink }: { readonly channel: string; readonly sink: string },
  signal: AbortSignal,
): Promise<Outcome> {
  const metadata = { event_type: 'pigeonpost_test', event_payload: { sink } };
  const message = { channel, threadTs: null, broadcast: false, content: testMessage(sink), metadata };
  const sending = new Sending(account, noLane, signal, TEST_MS);
  const verdict = await postMessage(message, sending, () => undefined);
  if (verdict.kind === 'ok') return { kind: 'delivered', detail: verdict.detail };
  return verdict.kind === 'maybe' ? { kind: 'unknown', detail: verdict.detail } : sending.outcomeOf(verdict, channel);
}
