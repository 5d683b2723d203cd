import type { CheckLine } from '../sink.js';
import { classifyWebhookReply, type IncomingWebhook, postByWebhook } from './post-by-webhook.js';

/** Codes with which Slack refuses an empty message at a webhook that works. */
const refusesEmptyMessage = ['no_text', 'invalid_payload', 'missing_text_or_fallback_or_attachments'];

/**
 * Sends an empty message, which posts nothing: a webhook that works refuses it with HTTP 400 and a code of Slack's.
 * HTTP 400 alone proves nothing, because most servers answer an unknown body with it. Never throws.
 * Source: docs.slack.dev, "Sending messages using incoming webhooks", handling errors.
 */
export async function checkWebhook(webhook: IncomingWebhook, signal: AbortSignal): Promise<CheckLine[]> {
  const reply = await postByWebhook(webhook, {}, signal);
  if (reply.kind === 'no-answer') return [{ ok: false, text: reply.detail }];
  if (reply.status === 400 && refusesEmptyMessage.includes(reply.text)) {
    return [
      {
        ok: true,
        text: 'the incoming webhook answers; through it there are no threads, edits, redactions and look-ups: use "token" for these',
      },
    ];
  }
  if (reply.status === 400) {
    const text =
      'the address answers HTTP 400 without a code of Slack, so it is not an incoming webhook: copy "webhookUrl" from the app\'s Incoming Webhooks page again';
    return [{ ok: false, text }];
  }
  const outcome = classifyWebhookReply(reply);
  const text = 'detail' in outcome ? (outcome.detail ?? '') : '';
  return [{ ok: false, text: outcome.kind === 'delivered' ? `${text} to an empty message: it is not Slack` : text }];
}
