import type { Secret } from '../../config/secret.js';
import { callSlack, type SlackApi, type SlackReply } from './call-slack.js';
import { classifyReply, type Verdict } from './classify-reply.js';

/** The token for the next call, or why there is none now. */
export type Token = { readonly token: Secret } | { readonly refused: Exclude<Verdict, { kind: 'ok' }> };

export interface TokenSource {
  current(): Promise<Token>;
  /** Another token after Slack refused this one; undefined: there is no other. */
  after(refused: Secret): Promise<Token | undefined>;
  /** What to do about a token that Slack refuses with this code. */
  advice(code: string): string;
  /** A sentence about what will stop the calls, although they pass now. */
  trouble?(): string | undefined;
  /** Resolves when nothing is in progress that would be lost. */
  settled(): Promise<void>;
}

/** Codes that say that the token is not, or no longer, one of the workspace. */
const refusesToken: readonly string[] = [
  'token_expired',
  'token_revoked',
  'invalid_auth',
  'not_authed',
  'account_inactive',
];

export interface Answered {
  readonly verdict: Verdict;
  /** Absent where there was no token to call with. */
  readonly reply?: SlackReply;
}

/** Calls a method with the token in force, and once more with another where Slack refused that one. Never throws. */
export async function callWithToken(
  api: SlackApi,
  tokens: TokenSource,
  { method, args = {} }: { readonly method: string; readonly args?: Readonly<Record<string, unknown>> },
  signal: AbortSignal,
): Promise<Answered> {
  const call = async (token: Secret): Promise<Answered> => {
    const reply = await callSlack({ ...api, token }, method, args, signal);
    return { verdict: classifyReply(reply, method), reply };
  };
  const first = await tokens.current();
  if ('refused' in first) return { verdict: first.refused };
  const answered = await call(first.token);
  if (!isRefused(answered.verdict)) return answered;
  const next = await tokens.after(first.token);
  if (next === undefined) return advised(answered, tokens);
  return 'refused' in next ? { ...answered, verdict: next.refused } : advised(await call(next.token), tokens);
}

function isRefused(verdict: Verdict): verdict is Verdict & { kind: 'credential' } {
  return verdict.kind === 'credential' && refusesToken.includes(verdict.code);
}

function advised(answered: Answered, tokens: TokenSource): Answered {
  const { verdict } = answered;
  if (!isRefused(verdict)) return answered;
  return { ...answered, verdict: { ...verdict, detail: `${verdict.detail}: ${tokens.advice(verdict.code)}` } };
}

/** The token of an app without rotation. */
export function fixedToken(token: Secret): TokenSource {
  return {
    current: () => Promise.resolve({ token }),
    after: () => Promise.resolve(undefined),
    advice: (code) =>
      code === 'token_expired'
        ? 'the app rotates its tokens. Set "rotation" in place of "token", as docs/sinks/slack.md shows'
        : 'install the app in its workspace again and set "token" to its bot token',
    trouble: () => (token.reveal().startsWith('xoxe.') ? expiring : undefined),
    settled: () => Promise.resolve(),
  };
}

const expiring =
  'the token expires 12 hours after Slack issued it, because the app rotates its tokens: set "rotation" in place of "token"';
