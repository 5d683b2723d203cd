import type { DoubleAnswer, DoubleRequest } from '../serve/double-request.js';
import { readContent } from './message-content.js';
import type { RateLimits } from './rate-limits.js';
import { SlackRefusal } from './slack-call.js';
import type { SlackWorkspace } from './slack-workspace.js';

/**
 * Answers an incoming webhook under `/services/`
 * (https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks): plain text, `ok` or a code. A webhook
 * posts to its own channel. It returns no ts and supports no threads, edits or metadata.
 */
export function answerWebhook(workspace: SlackWorkspace, limits: RateLimits, request: DoubleRequest): DoubleAnswer {
  const webhook = workspace.webhooks.get(request.path);
  const channel = webhook === undefined ? undefined : workspace.channels.get(webhook.channel);
  if (webhook === undefined || webhook.state === 'removed') return text(404, 'no_service');
  if (request.method !== 'POST') return text(400, 'invalid_payload');
  if (webhook.state === 'prohibited') return text(403, 'action_prohibited');
  if (channel === undefined) return text(404, 'channel_not_found');
  if (channel.isArchived) return text(410, 'channel_is_archived');
  try {
    const content = readContent(payloadOf(request));
    if (content.text === undefined && content.blocks === undefined) return text(400, 'no_text');
    const waitSeconds = limits.takePost(channel.id, workspace.now());
    if (waitSeconds !== undefined) {
      return { status: 429, headers: { 'retry-after': String(waitSeconds) }, text: 'rate_limited' };
    }
    workspace.post(channel, {
      bot: null,
      text: content.text ?? '',
      ...(content.blocks !== undefined && { blocks: content.blocks }),
    });
    return text(200, 'ok');
  } catch (error) {
    if (error instanceof SlackRefusal) return text(400, error.code);
    throw error;
  }
}

/** Reads the JSON from the body or from the form field `payload`. */
function payloadOf(request: DoubleRequest): Readonly<Record<string, unknown>> {
  const isForm = request.headers['content-type']?.startsWith('application/x-www-form-urlencoded') === true;
  const json = isForm ? new URLSearchParams(request.body).get('payload') : request.body;
  try {
    const payload: unknown = JSON.parse(json ?? '');
    if (typeof payload === 'object' && payload !== null && !Array.isArray(payload)) {
      return payload as Readonly<Record<string, unknown>>;
    }
  } catch {
    // not JSON: refused below, like JSON that is not an object
  }
  throw new SlackRefusal('invalid_payload');
}

function text(status: number, body: string): DoubleAnswer {
  return { status, text: body };
}
