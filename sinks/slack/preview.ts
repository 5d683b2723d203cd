import { shownAddress } from '../network/shown-address.js';
import type { PreviewedCall } from '../sink.js';
import { plainly } from './blocks.js';
import { webhookPlainly } from './incoming-webhook.js';
import type { ShowOperation, SlackOperation } from './operation.js';
import { updateArgs } from './remove-message.js';

/**
 * Returns the calls of an operation. A message without a known place is not edited: its place is found first. Pure.
 * @param webhookUrl address of the incoming webhook, which is a secret; undefined with a token
 */
export function previewOf(operation: SlackOperation, baseUrl: string, webhookUrl: string | undefined): PreviewedCall[] {
  const { existing, content } = operation;
  if (webhookUrl !== undefined) {
    const address = shownAddress(webhookUrl, { isSecret: true });
    return operation.kind === 'redact' ? [] : [{ method: 'POST', address, body: { ...content, ...webhookPlainly } }];
  }
  const call = (method: string, body: unknown): PreviewedCall => {
    return { method: 'POST', address: `${shownAddress(baseUrl).replace(/\/$/, '')}/${method}`, body };
  };
  const removed = operation.kind === 'move' && existing !== null;
  if (existing !== null && !removed) return [call('chat.update', updateArgs(operation, existing))];
  if (operation.kind === 'redact') return [];
  return [
    ...(removed ? [call('chat.delete', { channel: existing.channel, ts: existing.ts })] : []),
    ...postsOf(operation).map((body) => call('chat.postMessage', body)),
  ];
}

/** Returns the messages of a post. The first message of a thread is posted only if the thread does not exist yet. */
function postsOf({ to: { channel, thread }, content, shown, metadata }: ShowOperation): object[] {
  if (thread === null) return [{ channel, ...content, metadata, ...plainly }];
  const reply = { channel, ...content, thread_ts: '{ts}', ...(shown.broadcast && { reply_broadcast: true }) };
  return [
    { channel, ...thread.content, ...plainly },
    { ...reply, metadata, ...plainly },
  ];
}
