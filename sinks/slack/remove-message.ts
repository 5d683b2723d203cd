import type { Outcome } from '../sink.js';
import type { Verdict } from './classify-reply.js';
import { redactedMessage } from './format.js';
import { outcomeOf } from './outcome-of.js';
import { updatePlainly } from './post-message.js';
import type { MessagePlace } from './slack-object.js';
import type { Held, Turn } from './turn.js';

/**
 * Takes a message away: deleted, or where Slack forbids that, redacted. Harmless when repeated.
 * @returns why it still stands there; null when it does not, or stands where nothing can be changed any more
 */
export async function removeMessage(at: MessagePlace, turn: Turn): Promise<Outcome | null> {
  const { channel, ts } = at;
  const verdict = await turn.call('chat.delete', { channel, ts });
  if (verdict.kind === 'fixed') {
    const redacted = await turn.call('chat.update', { channel, ts, ...redactedMessage(), ...updatePlainly });
    return removed(redacted, turn);
  }
  return removed(verdict, turn);
}

function removed(verdict: Verdict | Held, turn: Turn): Outcome | null {
  if (verdict.kind === 'held') return verdict.outcome;
  if (verdict.kind === 'ok' || verdict.kind === 'no-message') return null;
  // A channel that is archived, or gone, or of another workspace, keeps what it has; the item moves on all the same.
  if (verdict.kind === 'channel' || verdict.kind === 'not-in-channel') return null;
  return outcomeOf(verdict, turn.account.hasOneChannel);
}
