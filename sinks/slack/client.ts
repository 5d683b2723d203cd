import type { Secret } from '../../config/secret.js';
import { retryAfterMs } from '../network/read-answer.js';
import type { NoAnswer, RestAnswer, RestClient } from '../rest/rest-client.js';

export interface SlackApi {
  /** The URL to which the method's name is appended. */
  readonly baseUrl: string;
  /** Absent for the method that issues tokens, which needs none. */
  readonly token?: Secret;
  readonly rest: RestClient;
  /** Unix time in ms. */
  readonly wallNow: () => number;
}

export type SlackReply = SlackAnswer | NoAnswer;

interface SlackAnswer extends Pick<RestAnswer, 'kind' | 'status' | 'requestId' | 'answeredAtMs'> {
  /** Undefined if the answer is not JSON in Slack's form. */
  readonly body: Readonly<Record<string, unknown>> | undefined;
  readonly retryAfterMs: number | undefined;
  /** The token's scopes; undefined if the answer does not list them. */
  readonly scopes: readonly string[] | undefined;
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
  const answer = await api.rest.call({ method: 'POST', url, headers, body, what: method }, signal);
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
