import type { CheckLine } from '../sink.js';
import { classifyWebhookReply, type IncomingWebhook, postByWebhook } from './post-by-webhook.js';

/**
 * Whether an incoming webhook would take messages, asked with an empty one: a webhook that works refuses it with HTTP
 * 400, one that does not says why. Posts nothing. Never throws.
 */
export async function checkWebhook(webhook: IncomingWebhook, signal: AbortSignal): Promise<CheckLine[]> {
  const reply = await postByWebhook(webhook, {}, signal);
  if (reply.kind === 'no-answer') return [{ ok: false, text: reply.detail }];
  if (reply.status === 400) {
    return [
      {
        ok: true,
        text: 'the incoming webhook answers; through it there are no threads, edits, redactions and look-ups: use "token" for these',
      },
    ];
  }
  const outcome = classifyWebhookReply(reply);
  const text = 'detail' in outcome ? (outcome.detail ?? '') : '';
  return [{ ok: false, text: outcome.kind === 'delivered' ? `${text} to an empty message: it is not Slack` : text }];
}
