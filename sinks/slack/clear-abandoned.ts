import type { PostIntent } from './lane-notes.js';
import { isClosedBy, redactedArgs, removeMessage } from './remove-message.js';
import type { Sending } from './sending.js';
import { lookUp } from './posted-messages.js';

/** Longer than the 20 minutes for which the engine looks up an operation with an unknown outcome once a minute. */
const abandonedAfterMs = 30 * 60_000;
/** Interval between two attempts for the same intent. */
const clearAgainAfterMs = 5 * 60_000;
/**
 * The same interval if the message is in an archived or deleted channel. Nothing reports that a channel was unarchived,
 * so an attempt a day finds out. A post or an edit that succeeds in the channel ends the wait.
 */
const clearInClosedAfterMs = 24 * 60 * 60_000;

/**
 * Replaces the text of messages to which no operation refers any more; deletes a message that cannot be edited. If a
 * process dies while it posts a message, and the item must no longer be shown (its attendee must not be named, or its
 * session changed), no operation is planned for the item, so `recover` never looks up the post. The message must not
 * stay visible. Each call tries only one intent, because a look-up can take all the time of a `send`. It is the one
 * whose last attempt is the longest ago, so that an intent that cannot be cleared does not hold up the others.
 * `clearedAt` is lost when the process ends, so the next process tries each intent once.
 */
export async function clearAbandoned(asked: ReadonlySet<string>, sending: Sending): Promise<void> {
  const { clearedAt, clock } = sending.account;
  const before = sending.now().atMs - abandonedAfterMs;
  const triedAt = ({ id }: PostIntent): number => clearedAt.get(id)?.atMs ?? Number.NEGATIVE_INFINITY;
  const [next] = sending.notes.intents
    .filter(({ itemKey, intent }) => !asked.has(itemKey) && intent.atMs < before && intent.parked === undefined)
    .filter(({ intent }) => mayClear(intent, sending))
    .toSorted((a, b) => triedAt(a.intent) - triedAt(b.intent));
  if (next === undefined || !sending.canStart) return;
  const atMs = clock.now();
  clearedAt.set(next.intent.id, { atMs, isClosed: false });
  const result = await clear(next.intent, sending);
  if (result === 'cleared') {
    sending.notes.postIsSettled(next.itemKey);
    clearedAt.delete(next.intent.id);
  } else if (result === 'closed') {
    clearedAt.set(next.intent.id, { atMs, isClosed: true });
  }
}

function mayClear({ id, channel }: PostIntent, { account }: Sending): boolean {
  const last = account.clearedAt.get(id);
  if (last === undefined) return true;
  const agoMs = account.clock.now() - last.atMs;
  if (!last.isClosed) return agoMs >= clearAgainAfterMs;
  return agoMs >= clearInClosedAfterMs || (account.wroteAt.get(channel) ?? Number.NEGATIVE_INFINITY) > last.atMs;
}

/**
 * Clears the message of an intent.
 * @returns `cleared` if nothing of it is visible any more; `closed` if its channel is archived or deleted; `later` if
 * another attempt may succeed
 */
async function clear(intent: PostIntent, sending: Sending): Promise<'cleared' | 'closed' | 'later'> {
  if (intent.replaces !== undefined)
    return (await removeMessage(intent.replaces, sending)) === null ? 'cleared' : 'later';
  const { posted } = await lookUp(intent, sending);
  if (posted.kind === 'failed') return isClosedBy(posted.verdict) ? 'closed' : 'later';
  if (posted.kind !== 'read') return 'later';
  const ts = posted.tsById.get(intent.id);
  if (ts === undefined) return 'cleared';
  const at = { channel: intent.channel, ts };
  const verdict = await sending.call('chat.update', redactedArgs(at));
  // Slack may allow the deletion although it forbids the edit.
  if (verdict.kind === 'fixed') return (await removeMessage(at, sending)) === null ? 'cleared' : 'later';
  if (verdict.kind === 'ok' || verdict.kind === 'no-message') return 'cleared';
  return isClosedBy(verdict) ? 'closed' : 'later';
}
