import type { Outcome } from '../sink.js';
import { ensureThread } from './ensure-thread.js';
import type { MessageContent, RedactOperation, ShowOperation, SlackOperation } from './operation.js';
import { outcomeOf } from './outcome-of.js';
import { postMessage, updatePlainly } from './post-message.js';
import { settleIntent, unknownObject } from './settle-intent.js';
import { removeMessage } from './remove-message.js';
import { type MessagePlace, redactedObject, shownObject, type StandingMessage } from './slack-object.js';
import type { Turn } from './turn.js';

/** A count is brought up to date at most this often. */
export const COUNT_EVERY_MS = 10_000;

/** Makes the calls of one operation. What may have been posted before for the same item is found out first. */
export async function carryOut(operation: SlackOperation, turn: Turn): Promise<Outcome> {
  const intent = turn.notes.post(operation.itemKey);
  if (intent !== undefined) {
    const settled = await settleIntent(operation, intent, turn);
    if (settled !== 'clear') return settled;
  }
  switch (operation.kind) {
    case 'post':
      return await post(operation, turn);
    case 'edit':
      return await edit(operation, operation.standing!, turn);
    case 'move':
      return await move(operation, operation.standing!, turn);
    case 'redact':
      if (operation.whole === true) return await removeWhole(operation, turn);
      // Without a place there was only a post of unknown outcome, and by now nothing stands there.
      return operation.standing === null
        ? { kind: 'delivered', detail: 'nothing stands there', object: null }
        : await redact(operation, operation.standing, turn);
  }
}

async function post(operation: ShowOperation, turn: Turn): Promise<Outcome> {
  const { to, itemKey, content, metadata, shown } = operation;
  const { channel } = to;
  const thread = to.thread === null ? null : await ensureThread(operation, channel, to.thread, turn);
  if (thread !== null && 'outcome' in thread) return thread.outcome;
  const place = { channel, threadTs: thread?.ts ?? null, threadKey: to.thread?.key ?? null };
  const message = { channel, threadTs: place.threadTs, broadcast: shown.broadcast, content, metadata };
  const verdict = await postMessage(message, turn, () =>
    turn.notes.notePost(itemKey, { ...place, id: operation.changeId, ...turn.now(), shown }),
  );
  if (verdict.kind === 'held') return verdict.outcome;
  if (verdict.kind === 'maybe') return { kind: 'unknown', detail: verdict.detail, object: unknownObject };
  if (verdict.kind === 'ok') {
    const { ts } = verdict.body;
    if (typeof ts !== 'string') {
      return { kind: 'unknown', detail: `${verdict.detail}, without a ts`, object: unknownObject };
    }
    turn.notes.postIsSettled(itemKey);
    noteEdit(operation, turn);
    if (to.thread !== null && !isReplyTo(place.threadTs, verdict.body['message'])) {
      // Somebody deleted the thread, and Slack posts such a reply to the channel itself. Planned anew, it is moved.
      turn.notes.forgetThread(channel, to.thread.key);
      return { kind: 'unsent', object: shownObject({ channel, ts, threadTs: null, threadKey: null }, shown) };
    }
    return { kind: 'delivered', detail: verdict.detail, object: shownObject({ ...place, ts }, shown) };
  }
  turn.notes.postIsSettled(itemKey);
  if (verdict.kind === 'no-message' && to.thread !== null) {
    turn.notes.forgetThread(channel, to.thread.key); // the thread is gone: the next attempt begins a new one
    return { kind: 'retry', detail: verdict.detail };
  }
  return outcomeOf(verdict, turn.account.hasOneChannel);
}

/**
 * Takes the message away and posts it at its new place. The item's object says that it stands at the old place, and a
 * later change may find that right again: so the intent is committed before the message goes, and whatever becomes of
 * the post, the object that stays is not the old one.
 */
async function move(operation: ShowOperation, at: StandingMessage, turn: Turn): Promise<Outcome> {
  const { itemKey, to, changeId, shown } = operation;
  const place = { channel: to.channel, threadTs: null, threadKey: to.thread?.key ?? null };
  turn.notes.notePost(itemKey, { ...place, id: changeId, ...turn.now(), shown, replaces: at });
  await turn.notes.save();
  const refused = await removeMessage(at, turn);
  if (refused !== null) return { ...refused, object: unknownObject };
  turn.notes.postIsSettled(itemKey);
  const outcome = await post(operation, turn);
  return outcome.object === undefined ? { ...outcome, object: null } : outcome;
}

/** Whether the answer shows the message in its thread; one that does not show it is believed. */
function isReplyTo(threadTs: string | null, message: unknown): boolean {
  if (typeof message !== 'object' || message === null) return true;
  return (message as { thread_ts?: unknown }).thread_ts === threadTs;
}

async function edit(operation: ShowOperation, at: StandingMessage, turn: Turn): Promise<Outcome> {
  const { account } = turn;
  if (operation.votesOnly) {
    const waitMs =
      (account.editedAt.get(editKey(operation)) ?? Number.NEGATIVE_INFINITY) + COUNT_EVERY_MS - account.clock.now();
    if (waitMs > 0) return { kind: 'unsent', afterMs: Math.ceil(waitMs) };
  }
  const { shown } = operation;
  const broadcast = shown.broadcast && !at.broadcast && at.threadTs !== null;
  const args = { ...updateArgs(operation, at), ...(broadcast && { reply_broadcast: true }) };
  const verdict = operation.votesOnly
    ? await turn.callWith(await account.rates.count(turn.signal), 'chat.update', args)
    : await turn.call('chat.update', args);
  switch (verdict.kind) {
    case 'held':
      // A count that found no room makes room for what is behind it.
      return operation.votesOnly && !turn.signal.aborted
        ? { kind: 'unsent', afterMs: COUNT_EVERY_MS }
        : verdict.outcome;
    case 'ok': {
      noteEdit(operation, turn);
      const { thread } = operation.to;
      const place = { ...at, threadKey: thread?.key ?? null };
      return {
        kind: 'delivered',
        detail: verdict.detail,
        object: shownObject(place, { ...shown, broadcast: broadcast || at.broadcast }),
      };
    }
    case 'no-message': // somebody deleted it
      return await post(operation, turn);
    case 'fixed': {
      if (!operation.mustHide) {
        return { ...outcomeOf(verdict, account.hasOneChannel), object: { ...at, state: 'fixed' } };
      }
      const refused = await removeMessage(at, turn);
      return refused ?? { kind: 'unsent', object: null }; // planned anew: posted without the person
    }
    default:
      return outcomeOf(verdict, account.hasOneChannel);
  }
}

async function redact(operation: RedactOperation, at: StandingMessage, turn: Turn): Promise<Outcome> {
  const verdict = await turn.call('chat.update', updateArgs(operation, at));
  if (verdict.kind === 'held') return verdict.outcome;
  if (verdict.kind === 'ok') return { kind: 'delivered', detail: verdict.detail, object: redactedObject(at) };
  if (verdict.kind === 'no-message') return { kind: 'delivered', detail: verdict.detail, object: null };
  if (verdict.kind !== 'fixed') return outcomeOf(verdict, turn.account.hasOneChannel);
  const refused = await removeMessage(at, turn); // Slack lets nobody edit it any more, but deleting is another right
  return refused ?? { kind: 'delivered', detail: `${verdict.detail}; deleted in its place`, object: null };
}

/** Deletes a canary's message and the threads that were begun for it: the lane holds nothing else. */
async function removeWhole({ standing }: RedactOperation, turn: Turn): Promise<Outcome> {
  let count = 0;
  const places = [
    ...(standing === null ? [] : [{ at: standing, forget: () => undefined }]),
    ...turn.notes.threads.map(({ channel, key, ts }) => ({
      at: { channel, ts },
      forget: () => turn.notes.forgetThread(channel, key),
    })),
  ];
  for (const { at, forget } of places) {
    // oxlint-disable-next-line no-await-in-loop -- the reply goes before the message that it is a reply to
    const verdict = await turn.call('chat.delete', { channel: at.channel, ts: at.ts });
    if (verdict.kind === 'held') return verdict.outcome;
    if (verdict.kind !== 'ok' && verdict.kind !== 'no-message') {
      return outcomeOf(verdict, turn.account.hasOneChannel);
    }
    forget();
    count += 1;
  }
  return { kind: 'delivered', detail: count === 1 ? '1 message deleted' : `${count} messages deleted`, object: null };
}

function updateArgs(
  { content, metadata }: { readonly content: MessageContent; readonly metadata: SlackOperation['metadata'] },
  { channel, ts }: MessagePlace,
): Readonly<Record<string, unknown>> {
  return { channel, ts, ...content, metadata, ...updatePlainly };
}

function noteEdit(operation: SlackOperation, { account }: Turn): void {
  const now = account.clock.now();
  account.editedAt.set(editKey(operation), now);
  if (account.editedAt.size <= 10_000) return;
  for (const [key, at] of account.editedAt) if (at + COUNT_EVERY_MS <= now) account.editedAt.delete(key);
}

function editKey({ itemKey, metadata }: SlackOperation): string {
  return `${metadata.event_payload.pigeonhole} ${itemKey}`;
}
