import type { CheckLine } from '../sink.js';
import type { SlackApi } from './client.js';
import { callWithToken, type TokenSource } from './tokens.js';

/** What the app needs, and what for. */
const neededScopes: readonly (readonly [scope: string, why: string])[] = [
  ['chat:write', 'with which it posts, edits and redacts'],
  [
    'metadata.message:read',
    'with which it knows its own messages: without it one whose answer was lost waits for a person',
  ],
];
const historyScopes = ['channels:history', 'groups:history'] as const;

/** What is checked, and with which tokens. */
interface CheckedSlack {
  readonly api: SlackApi;
  readonly tokens: TokenSource;
  readonly channels: readonly string[];
}

/**
 * Whether the token is accepted, has the scopes, and can read the channels: reading is how a message is looked up whose
 * outcome nobody heard. Joins nothing, posts nothing. Never throws.
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
    // oxlint-disable-next-line no-await-in-loop -- a few calls, and not all at once
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
    'the app lacks the scope channels:history (groups:history for private channels): without it a message whose answer was lost cannot be looked up, and waits for a person; add it to the app and install it again';
  return [...missing, { ok: false, text }];
}

/** Reads one message with its metadata: what a look-up does. */
async function channelLine(
  { api, tokens }: CheckedSlack,
  channel: string,
  scopes: readonly string[] | undefined,
  signal: AbortSignal,
): Promise<CheckLine> {
  const method = 'conversations.history';
  const args = { channel, limit: 1, include_all_metadata: true };
  const { verdict } = await callWithToken(api, tokens, { method, args }, signal);
  switch (verdict.kind) {
    case 'ok':
      return { ok: true, text: `${channel} can be read, so lost answers can be looked up` };
    case 'not-in-channel':
      if (scopes?.includes('channels:join')) {
        return { ok: true, text: `the app is no member of ${channel} and joins it with the first message` };
      }
      return {
        ok: false,
        text: `the app is no member of ${channel}: invite it there with /invite, or give it the scope channels:join`,
      };
    case 'channel':
      return {
        ok: false,
        text: `${verdict.detail}: compare ${channel} with the channel's details in Slack; into a private channel the app has to be invited`,
      };
    case 'credential':
      return { ok: false, text: `${channel}: ${verdict.detail}: add the scope to the app and install it again` };
    default:
      return { ok: false, text: `${channel}: ${verdict.detail}` };
  }
}
