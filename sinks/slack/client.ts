import { request, type Dispatcher } from 'undici';
import type { Secret } from '../../config/secret.js';
import { neverArrived, noAnswerSentence } from '../network/failure-sentence.js';
import { answeredAtMs, headerText, parsedJson, readText, retryAfterMs } from '../network/read-answer.js';
import { withinDeadline } from '../network/within-deadline.js';

/** Time limit of one call, including the answer. */
export const REQUEST_TIMEOUT_MS = 30_000;
/** Maximum bytes read of an answer: about twice a page of 200 messages of maximum length. */
const MAX_ANSWER_BYTES = 8 * 1024 * 1024;

export interface SlackApi {
  /** The URL to which the method's name is appended. */
  readonly baseUrl: string;
  /** Absent for the method that issues tokens. */
  readonly token?: Secret;
  readonly dispatcher: Dispatcher;
  readonly requestTimeoutMs: number;
  /** Unix time in ms. */
  readonly wallNow: () => number;
}

export type SlackReply = SlackAnswer | NoAnswer;

interface SlackAnswer {
  readonly kind: 'answer';
  readonly status: number;
  /** Undefined if it is not JSON of Slack. */
  readonly body: Readonly<Record<string, unknown>> | undefined;
  readonly retryAfterMs: number | undefined;
  readonly requestId: string | undefined;
  /** The token's scopes; undefined if the answer does not list them. */
  readonly scopes: readonly string[] | undefined;
  /** Unix time in ms by Slack's clock, or ours if the answer has no date. */
  readonly answeredAtMs: number;
}

interface NoAnswer {
  readonly kind: 'no-answer';
  /** Whether the call may have taken effect. */
  readonly mayHaveArrived: boolean;
  readonly detail: string;
}

/**
 * Calls a method of the Web API. Never throws. Methods that read get a form, which all of them accept; those that
 * write get JSON. Source: docs.slack.dev, "Web API", request body formats.
 */
export async function callSlack(
  api: SlackApi,
  method: string,
  args: Readonly<Record<string, unknown>>,
  signal: AbortSignal,
): Promise<SlackReply> {
  const { host } = new URL(api.baseUrl);
  const timeoutMs = api.requestTimeoutMs;
  if (signal.aborted) return { kind: 'no-answer', mayHaveArrived: false, detail: 'stopped before the call' };
  try {
    return await withinDeadline(signal, timeoutMs, (own) => post(api, method, args, own));
  } catch (error) {
    const detail = noAnswerSentence(error, { host, name: host, timeoutMs, what: method });
    return { kind: 'no-answer', mayHaveArrived: !neverArrived(error), detail };
  }
}

async function post(
  api: SlackApi,
  method: string,
  args: Readonly<Record<string, unknown>>,
  signal: AbortSignal,
): Promise<SlackAnswer> {
  const isJson = method.startsWith('chat.');
  const answer = await request(`${api.baseUrl}/${method}`, {
    method: 'POST',
    dispatcher: api.dispatcher,
    signal,
    headers: {
      ...(api.token !== undefined && { authorization: `Bearer ${api.token.reveal()}` }),
      'content-type': isJson ? 'application/json; charset=utf-8' : 'application/x-www-form-urlencoded',
      'user-agent': 'pigeonpost',
    },
    body: isJson ? JSON.stringify(args) : form(args),
  });
  const atMs = answeredAtMs(answer.headers.date, api.wallNow);
  return {
    kind: 'answer',
    status: answer.statusCode,
    body: slackBody(parsedJson(await readText(answer.body, MAX_ANSWER_BYTES))),
    retryAfterMs: retryAfterMs(headerText(answer.headers['retry-after']), atMs),
    requestId: requestId(headerText(answer.headers['x-slack-req-id'])),
    scopes: headerText(answer.headers['x-oauth-scopes'])
      ?.split(',')
      .map((scope) => scope.trim())
      .filter(Boolean),
    answeredAtMs: atMs,
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

/** Accepts nothing but an id, since it is shown to people. */
function requestId(found: string | undefined): string | undefined {
  return found !== undefined && /^[\w-]{1,80}$/.test(found) ? found : undefined;
}
