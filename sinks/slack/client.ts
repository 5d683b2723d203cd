import type { Secret } from '../../config/secret.js';
import { retryAfterMs } from '../../base/retry-after.js';
import { withoutAnswers } from '../network/exchange-log.js';
import type { RestClient } from '../rest/rest-client.js';
import { classifyReply, type SlackReply, type Verdict } from './classify.js';

export interface SlackApi {
  /** The URL to which the method's name is appended. */
  readonly baseUrl: string;
  /** Absent for the method that issues tokens, which needs none. */
  readonly token?: Secret;
  readonly rest: RestClient;
  /** Unix time in ms. */
  readonly wallNow: () => number;
}

/**
 * Calls a method of the Web API. Never throws. Sends arguments as JSON to the `chat.` methods, and as a form, which
 * every method accepts, to all others. Source: docs.slack.dev, "Web API", request body formats.
 */
export async function callSlack(
  api: SlackApi,
  method: string,
  args: Readonly<Record<string, unknown>>,
  signal: AbortSignal,
): Promise<SlackReply> {
  if (signal.aborted) return { kind: 'no-answer', mayHaveArrived: false, detail: 'stopped before the call' };
  const isJson = method.startsWith('chat.');
  const headers = {
    ...(api.token !== undefined && { authorization: `Bearer ${api.token.reveal()}` }),
    'content-type': isJson ? 'application/json; charset=utf-8' : 'application/x-www-form-urlencoded',
  };
  const body = isJson ? JSON.stringify(args) : form(args);
  const url = `${api.baseUrl}/${method}`;
  const call = () => api.rest.call({ method: 'POST', url, headers, body, what: method }, signal);
  // Only the answers to `chat.` methods are about the message alone; others contain messages of the channel, or tokens.
  const answer = await (isJson ? call() : withoutAnswers(call));
  if (answer.kind === 'no-answer') return answer;
  return {
    ...answer,
    body: slackBody(answer.body),
    retryAfterMs: retryAfterMs(answer.retryAfter, answer.answeredAtMs),
    scopes: answer.headers['x-oauth-scopes']
      ?.split(',')
      .map((scope) => scope.trim())
      .filter(Boolean),
  };
}

function form(args: Readonly<Record<string, unknown>>): string {
  const texts = Object.entries(args).map(([name, value]): [string, string] => [name, String(value)]);
  return new URLSearchParams(texts).toString();
}

function slackBody(json: unknown): Readonly<Record<string, unknown>> | undefined {
  const isSlack = typeof json === 'object' && json !== null && typeof (json as { ok?: unknown }).ok === 'boolean';
  return isSlack ? (json as Record<string, unknown>) : undefined;
}

interface Answered {
  readonly verdict: Verdict;
  /** Absent if no call was made, because there was no token. */
  readonly reply?: SlackReply;
}

/**
 * Calls a method with the current token. If Slack refuses the token, calls it once more with another token, if there is
 * one. Never throws.
 */
export async function callWithToken(
  api: SlackApi,
  tokens: TokenSource,
  { method, args = {} }: { readonly method: string; readonly args?: Readonly<Record<string, unknown>> },
  signal: AbortSignal,
): Promise<Answered> {
  const call = async ({ token }: { readonly token: Secret }): Promise<Answered> => {
    const reply = await callSlack({ ...api, token }, method, args, signal);
    return { verdict: classifyReply(reply, method), reply };
  };
  const first = await tokens.current();
  if ('refused' in first) return { verdict: first.refused };
  const answered = await call(first);
  if (!isRefused(answered.verdict)) return answered;
  const next = await tokens.after(first.token);
  if (next === undefined) return advised(answered, tokens);
  if ('refused' in next) return { ...answered, verdict: next.refused };
  return advised(await call(next), tokens);
}

function isRefused(verdict: Verdict): verdict is Verdict & { kind: 'credential' } {
  return verdict.kind === 'credential' && refusesToken.includes(verdict.code);
}

function advised(answered: Answered, tokens: TokenSource): Answered {
  const { verdict } = answered;
  if (!isRefused(verdict)) return answered;
  return { ...answered, verdict: { ...verdict, detail: `${verdict.detail}: ${tokens.advice(verdict.code)}` } };
}

/** The token for the next call, or the verdict that says why there is none. */
export type Token = { readonly token: Secret } | { readonly refused: Exclude<Verdict, { kind: 'ok' }> };

export interface TokenSource {
  current(): Promise<Token>;
  /** Returns another token after Slack refused this one; undefined if there is none. */
  after(refused: Secret): Promise<Token | undefined>;
  /** Returns what an operator should do if Slack refuses the token with this code. */
  advice(code: string): string;
  /** Returns a warning if calls still pass now but will fail later. */
  trouble?(): string | undefined;
  /** Ends the wait after a failed renewal. */
  tryNow?(): void;
  /** Resolves once no exchange of tokens is in progress. */
  settled(): Promise<void>;
}

/** The codes with which Slack refuses the token itself. */
const refusesToken: readonly string[] = [
  'token_expired',
  'token_revoked',
  'invalid_auth',
  'not_authed',
  'account_inactive',
];
