import type { Outcome } from '../sink.js';
import type { Sending, Held } from './sending.js';
import { redactedMessage, updatePlainly } from './blocks.js';
import type { Verdict } from './classify.js';
import {
  type ExistingMessage,
  type MessageContent,
  type MessagePlace,
  redactedObject,
  type RedactOperation,
  type SlackOperation,
} from './operation.js';

/**
 * Deletes a message, or replaces its text if Slack forbids the deletion. Harmless when repeated.
 * @returns the outcome that says why the message is still there; null if it is removed, or if its channel no longer
 * allows any change
 */
export async function removeMessage(at: MessagePlace, sending: Sending): Promise<Outcome | null> {
  const { channel, ts } = at;
  const verdict = await sending.call('chat.delete', { channel, ts });
  if (verdict.kind === 'fixed') {
    return removed(await sending.call('chat.update', redactedArgs(at)), channel, sending);
  }
  return removed(verdict, channel, sending);
}

function removed(verdict: Verdict | Held, channel: string, sending: Sending): Outcome | null {
  if (verdict.kind === 'ok' || verdict.kind === 'no-message') return null;
  // The old message stays, and the caller continues.
  if (verdict.kind === 'not-in-channel' || isClosedBy(verdict)) return null;
  return sending.outcomeOf(verdict, channel);
}

/**
 * Whether Slack refused a call because the channel is archived, deleted or in another workspace, so that no message in
 * it can be changed. All other refusals of a channel can end, and the message in it must not be forgotten.
 */
export function isClosedBy(verdict: Verdict | Held): boolean {
  return (
    verdict.kind === 'channel' &&
    ['channel_not_found', 'is_archived', 'is_inactive', 'team_not_found'].includes(verdict.code)
  );
}

/** Carries out a redaction: replaces the text of a message. */
export async function redact(operation: RedactOperation, at: ExistingMessage, sending: Sending): Promise<Outcome> {
  const verdict = await sending.call('chat.update', updateArgs(operation, at));
  if (verdict.kind === 'ok') return { kind: 'delivered', detail: verdict.detail, object: redactedObject(at) };
  if (verdict.kind === 'no-message') return { kind: 'delivered', detail: verdict.detail, object: null };
  if (verdict.kind !== 'fixed') return sending.outcomeOf(verdict, at.channel);
  const refused = await removeMessage(at, sending); // Slack forbids the edit but may allow the deletion
  return refused ?? { kind: 'delivered', detail: `${verdict.detail}; deleted instead`, object: null };
}

/** Returns the arguments of `chat.update` that give a message this content. */
export function updateArgs(
  { content, metadata }: { readonly content: MessageContent; readonly metadata: SlackOperation['metadata'] },
  { channel, ts }: MessagePlace,
): Readonly<Record<string, unknown>> {
  return { channel, ts, ...content, metadata, ...updatePlainly };
}

/** The same for the content that replaces a withdrawn message; its metadata stays. */
export function redactedArgs({ channel, ts }: MessagePlace): Readonly<Record<string, unknown>> {
  return { channel, ts, ...redactedMessage(), ...updatePlainly };
}
