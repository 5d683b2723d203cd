import { request, type Dispatcher } from 'undici';
import type { Secret } from '../../config/secret.js';
import { neverArrived } from '../network/failure-sentence.js';
import { noAnswerSentence } from '../network/no-answer-sentence.js';
import { headerText } from '../network/read-answer.js';
import { retryAfterMs } from '../network/retry-after.js';
import { withinDeadline } from '../network/within-deadline.js';
import type { Outcome } from '../sink.js';
import type { MessageContent } from './operation.js';
import { plainly } from './post-message.js';

/** An incoming webhook: its address is its secret. */
export interface IncomingWebhook {
  readonly url: Secret;
  readonly dispatcher: Dispatcher;
  readonly requestTimeoutMs: number;
  /** Unix time in ms. */
  readonly wallNow: () => number;
}

export type WebhookReply =
  | {
      readonly kind: 'answer';
      readonly status: number;
      readonly text: string;
      readonly retryAfterMs: number | undefined;
    }
  | { readonly kind: 'no-answer'; readonly mayHaveArrived: boolean; readonly detail: string };

/** Answers are a word. */
const MAX_ANSWER_CHARS = 200;

/** Posts a body to an incoming webhook. Never throws. */
export async function postByWebhook(
  webhook: IncomingWebhook,
  content: MessageContent | Readonly<Record<string, never>>,
  signal: AbortSignal,
): Promise<WebhookReply> {
  const address = new URL(webhook.url.reveal());
  const { host } = address;
  const timeoutMs = webhook.requestTimeoutMs;
  if (signal.aborted) return { kind: 'no-answer', mayHaveArrived: false, detail: 'stopped before it was asked' };
  try {
    return await withinDeadline(signal, timeoutMs, (own) => post(address, webhook, content, own));
  } catch (error) {
    const detail = noAnswerSentence(error, { host, name: host, timeoutMs });
    return { kind: 'no-answer', mayHaveArrived: !neverArrived(error), detail };
  }
}

async function post(
  address: URL,
  { dispatcher, wallNow }: IncomingWebhook,
  content: MessageContent | Readonly<Record<string, never>>,
  signal: AbortSignal,
): Promise<WebhookReply> {
  const answer = await request(address, {
    method: 'POST',
    dispatcher,
    signal,
    headers: { 'content-type': 'application/json; charset=utf-8', 'user-agent': 'pigeonpost' },
    body: JSON.stringify('text' in content ? { ...content, ...webhookPlainly } : content),
  });
  return {
    kind: 'answer',
    status: answer.statusCode,
    text: (await answer.body.text()).slice(0, MAX_ANSWER_CHARS).trim(),
    retryAfterMs: retryAfterMs(headerText(answer.headers['retry-after']), wallNow()),
  };
}

/** Of what a post says, a webhook takes these. */
const webhookPlainly = { unfurl_links: plainly.unfurl_links, unfurl_media: plainly.unfurl_media };

/**
 * What a webhook's answer means. A webhook is one channel, so what is wrong with it stops the sink. A repeat would be a
 * second message, so what may have been posted is `unknown`.
 * Source: docs.slack.dev, "Sending messages using incoming webhooks", error types.
 */
export function classifyWebhookReply(reply: WebhookReply): Outcome {
  if (reply.kind === 'no-answer') {
    return { kind: reply.mayHaveArrived ? 'unknown' : 'retry', detail: reply.detail };
  }
  const { status, text } = reply;
  const code = /^[a-z][a-z_]{0,60}$/.test(text) ? text : `http_${status}`;
  const detail = `the incoming webhook answered HTTP ${status}${code.startsWith('http_') ? '' : ` ${code}`}`;
  if (status >= 200 && status < 300) {
    return text === 'ok'
      ? { kind: 'delivered', detail }
      : { kind: 'unknown', detail: `${detail} and not ok: it may not be Slack` };
  }
  if (status === 429) return { kind: 'retry', detail, afterMs: reply.retryAfterMs ?? 30_000 };
  if (status >= 500) return { kind: 'unknown', detail };
  if (status >= 300 && status < 400) return { kind: 'retry', detail: `${detail}, which is not followed` };
  switch (code) {
    case 'invalid_token':
    case 'no_service':
    case 'no_service_id':
    case 'no_team':
    case 'no_active_hooks':
    case 'team_disabled':
      return { kind: 'pause', cause: 'credential', detail: `${detail}: make a new webhook and set "webhookUrl" to it` };
    case 'action_prohibited':
    case 'posting_to_general_channel_denied':
    case 'channel_not_found':
    case 'channel_is_archived':
      return { kind: 'pause', cause: 'destination', detail: `${detail}: look at the webhook's channel in Slack` };
    default:
      if (status === 404 || status === 410) return { kind: 'pause', cause: 'gone', detail };
      return { kind: 'rejected', cause: `slack:${code}`, detail };
  }
}
