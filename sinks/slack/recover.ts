import type { Outcome, SendResult } from '../sink.js';
import type { PostIntent } from './lane-notes.js';
import { type SlackOperation, shownObject, type SlackObject } from './operation.js';
import { isClosedBy, removeMessage, updatePlainly } from './messages.js';
import { LOOK_UP_AFTER_MS, type Batch } from './batch.js';
import { redactedMessage } from './blocks.js';

/**
 * Finds out what happened to operations that an earlier attempt may have sent. Only posts have to be looked up, and
 * each has an intent in the lane's memory. Edits, redactions and deletions are harmless to repeat.
 */
export async function recoverOperations(operations: readonly SlackOperation[], batch: Batch): Promise<SendResult> {
  const outcomes: Outcome[] = [];
  for (const operation of operations) {
    const intent = batch.notes.post(operation.itemKey);
    if (intent?.replaces !== undefined) {
      // A move was interrupted. The item's next operation removes the old message if it still exists.
      outcomes.push({ kind: 'unsent', object: unknownObject });
      continue;
    }
    // One after another, because the following operations can use the result of one look-up.
    const settled = intent === undefined ? 'clear' : await settleIntent(operation, intent, batch);
    if (settled !== 'clear') outcomes.push(settled);
    // The intent of a post is committed only after the old message was removed, so the item has no message.
    else outcomes.push(intent === undefined ? { kind: 'unsent' } : { kind: 'unsent', object: null });
  }
  return { outcomes, memory: batch.notes.unsaved };
}

/**
 * If the message may be looked up within this time, `recover` waits. Otherwise the engine calls it again a minute
 * later.
 */
const SHORT_WAIT_MS = 15_000;

/**
 * Finds out whether Slack posted this item's message after Slack's answer was lost.
 * @returns `clear` if the message is not in Slack, or an operator decided that it must be posted; otherwise the outcome
 *
 * If a look-up is impossible (a scope is missing, the channel cannot be read), an operator has to decide: the change is
 * rejected as `outcome-unknown`, as is every later change of the item. By redriving the change that was rejected last,
 * the operator confirms that the message is not there.
 */
export async function settleIntent(
  operation: SlackOperation,
  intent: PostIntent,
  batch: Batch,
): Promise<Outcome | 'clear'> {
  if (intent.replaces !== undefined) {
    const refused = await removeMessage(intent.replaces, batch);
    if (refused !== null) return { ...refused, object: unknownObject };
    batch.notes.postIsSettled(operation.itemKey);
    return 'clear';
  }
  const youngForMs = intent.atMs + LOOK_UP_AFTER_MS - batch.now().atMs;
  if (youngForMs > 0) {
    if (youngForMs > Math.min(SHORT_WAIT_MS, batch.leftMs))
      return { kind: 'unknown', detail: 'too early to look the message up' };
    await batch.wait(youngForMs);
    if (batch.signal.aborted) return { kind: 'unknown', detail: 'stopped before the message was looked up' };
  }
  const { place, posted } = await lookUp(intent, batch);
  if (posted.kind === 'held') return { kind: 'unknown', detail: 'no permit was free in time to look the message up' };
  if (posted.kind !== 'read') {
    const verdict = posted.kind === 'failed' ? posted.verdict : noThread;
    if (verdict.kind === 'limited' || verdict.kind === 'later' || verdict.kind === 'maybe') {
      return { kind: 'unknown', detail: verdict.detail };
    }
    if (verdict.kind === 'credential' && verdict.code !== 'missing_scope') {
      // The intent stays, so the next operation of this item looks the message up first.
      return { kind: 'pause', cause: 'credential', detail: verdict.detail };
    }
    return decidedByPerson(operation, intent, batch, verdict.detail);
  }
  const ts = posted.tsById.get(intent.id);
  batch.notes.postIsSettled(operation.itemKey);
  if (ts === undefined) return 'clear';
  const { channel, threadTs, threadKey, shown } = place;
  const object = shownObject({ channel, ts, threadTs, threadKey }, shown);
  if (isAsWanted(operation, place)) return { kind: 'delivered', detail: 'found by its metadata', object };
  return { kind: 'unsent', object }; // planned again, now that the message is known
}

/** Looks a message up in its thread, or in the channel itself if the thread was deleted: Slack posts a reply there then. */
async function lookUp(
  intent: PostIntent,
  batch: Batch,
): Promise<{ readonly place: PostIntent; readonly posted: Awaited<ReturnType<Batch['posted']>> }> {
  const posted = await batch.posted(intent.channel, intent.threadTs, intent);
  if (posted.kind !== 'no-thread') return { place: intent, posted };
  const place = { ...intent, threadTs: null, threadKey: null };
  return { place, posted: await batch.posted(place.channel, null, intent) };
}

/** Rejects the change, so that an operator has to decide; returns `clear` if the operator has redriven this change. */
function decidedByPerson(
  operation: SlackOperation,
  intent: PostIntent,
  { notes }: Batch,
  why: string,
): Outcome | 'clear' {
  if (intent.parked === operation.changeId) {
    notes.postIsSettled(operation.itemKey);
    return 'clear';
  }
  notes.notePost(operation.itemKey, { ...intent, parked: operation.changeId });
  const detail = `may have been posted and cannot be looked up (${why}): look in the channel, and redrive this if the message is not there`;
  return { kind: 'rejected', cause: 'outcome-unknown', detail, object: unknownObject };
}

/** The verdict if Slack reports a missing thread for a look-up in the channel itself, which it never should. */
const noThread = { kind: 'refused', code: 'thread_not_found', detail: 'the channel cannot be read' } as const;

export const unknownObject: SlackObject = { state: 'unknown' };

function isAsWanted(operation: SlackOperation, { channel, threadKey, shown }: PostIntent): boolean {
  if (operation.kind === 'redact') return false;
  const { to } = operation;
  return (
    to.channel === channel &&
    (to.thread?.key ?? null) === threadKey &&
    operation.shown.hash === shown.hash &&
    operation.shown.votes === shown.votes
  );
}

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
export async function clearAbandoned(asked: ReadonlySet<string>, batch: Batch): Promise<void> {
  const { clearedAt, clock } = batch.account;
  const before = batch.now().atMs - abandonedAfterMs;
  const triedAt = ({ id }: PostIntent): number => clearedAt.get(id)?.atMs ?? Number.NEGATIVE_INFINITY;
  const [next] = batch.notes.intents
    .filter(({ itemKey, intent }) => !asked.has(itemKey) && intent.atMs < before && intent.parked === undefined)
    .filter(({ intent }) => mayClear(intent, batch))
    .toSorted((a, b) => triedAt(a.intent) - triedAt(b.intent));
  if (next === undefined || !batch.canStart) return;
  const atMs = clock.now();
  clearedAt.set(next.intent.id, { atMs, isClosed: false });
  const result = await clear(next.intent, batch);
  if (result === 'cleared') {
    batch.notes.postIsSettled(next.itemKey);
    clearedAt.delete(next.intent.id);
  } else if (result === 'closed') {
    clearedAt.set(next.intent.id, { atMs, isClosed: true });
  }
}

function mayClear({ id, channel }: PostIntent, { account }: Batch): boolean {
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
async function clear(intent: PostIntent, batch: Batch): Promise<'cleared' | 'closed' | 'later'> {
  if (intent.replaces !== undefined)
    return (await removeMessage(intent.replaces, batch)) === null ? 'cleared' : 'later';
  const { channel } = intent;
  const { posted } = await lookUp(intent, batch);
  if (posted.kind === 'failed') return isClosedBy(posted.verdict) ? 'closed' : 'later';
  if (posted.kind !== 'read') return 'later';
  const ts = posted.tsById.get(intent.id);
  if (ts === undefined) return 'cleared';
  const verdict = await batch.call('chat.update', { channel, ts, ...redactedMessage(), ...updatePlainly });
  // Slack may allow the deletion although it forbids the edit.
  if (verdict.kind === 'fixed') return (await removeMessage({ channel, ts }, batch)) === null ? 'cleared' : 'later';
  if (verdict.kind === 'ok' || verdict.kind === 'no-message') return 'cleared';
  return verdict.kind !== 'held' && isClosedBy(verdict) ? 'closed' : 'later';
}
