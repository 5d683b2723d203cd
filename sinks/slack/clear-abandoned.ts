import { redactedMessage } from './format.js';
import { updatePlainly } from './post-message.js';
import { removeMessage } from './remove-message.js';
import type { Turn } from './turn.js';

/** What is in flight is looked up every minute, and given up after twenty. */
const abandonedAfterMs = 30 * 60_000;
/** A look-up costs as much as a send's time has. */
const mostAtOnce = 1;

/**
 * Redacts messages that nobody owns. Where a process died while it posted, and by the time of the look-up the item was
 * not to be shown any more (its person may not be named, its session is another), nothing is planned for it and nobody
 * asks what became of the post. If it stands there, it must not.
 */
export async function clearAbandoned(asked: ReadonlySet<string>, turn: Turn): Promise<void> {
  const before = turn.now().atMs - abandonedAfterMs;
  const abandoned = turn.notes.intents
    .filter(({ itemKey, intent }) => !asked.has(itemKey) && intent.atMs < before && intent.parked === undefined)
    .slice(0, mostAtOnce);
  for (const { itemKey, intent } of abandoned) {
    if (!turn.mayBegin) return;
    if (intent.replaces !== undefined) {
      // oxlint-disable-next-line no-await-in-loop -- one at a time is meant
      if ((await removeMessage(intent.replaces, turn)) === null) turn.notes.postIsSettled(itemKey);
      continue;
    }
    // oxlint-disable-next-line no-await-in-loop -- one at a time is meant
    const posted = await turn.posted(intent.channel, intent.threadTs, intent);
    if (posted.kind !== 'read') continue;
    const ts = posted.tsById.get(intent.id);
    if (ts !== undefined) {
      const { channel } = intent;
      // oxlint-disable-next-line no-await-in-loop -- one at a time is meant
      const verdict = await turn.call('chat.update', { channel, ts, ...redactedMessage(), ...updatePlainly });
      if (verdict.kind !== 'ok' && verdict.kind !== 'no-message') continue;
    }
    turn.notes.postIsSettled(itemKey);
  }
}
