import { groupBy } from '../../base/group-by.js';
import type { Outcome, SendResult } from '../sink.js';
import { clearAbandoned, settleIntent, unknownObject } from './recover.js';
import {
  type SlackOperation,
  type MessageContent,
  type RedactOperation,
  type ShowOperation,
  type MessagePlace,
  redactedObject,
  shownObject,
  type ExistingMessage,
  type SlackObject,
} from './operation.js';
import type { Batch } from './batch.js';
import { ensureThread, postMessage, updatePlainly, removeMessage } from './messages.js';
import { outcomeOf } from './classify.js';

/**
 * Sends a batch in queues that run concurrently: one for the posts of each channel, one for edits and redactions, and
 * one for edits that change only the votes, so that nothing waits for these.
 */
export async function sendByToken(operations: readonly SlackOperation[], batch: Batch): Promise<SendResult> {
  const outcomes: Outcome[] = operations.map(() => ({ kind: 'unsent' }));
  let stopped = false;
  const lines = inLines(operations);
  await Promise.all(
    [...lines.values()].map(async (positions) => {
      for (const position of positions) {
        if (stopped || !batch.canStart) return;
        try {
          const outcome = await carryOut(operations[position]!, batch);
          outcomes[position] = outcome;
          stopped ||= outcome.kind === 'pause'; // the other operations would fail too
        } catch (error) {
          stopped = true; // another worker took over the lane, so this one must not send anything more
          throw error;
        }
      }
    }),
  );
  if (!stopped) await clearAbandoned(new Set(operations.map(({ itemKey }) => itemKey)), batch);
  return { outcomes, memory: batch.notes.unsaved };
}

/**
 * Groups the positions of operations into queues. Only the first operation of each item is sent, because the next one
 * depends on the state that the first one produces.
 */
function inLines(operations: readonly SlackOperation[]): Map<string, number[]> {
  const byItem = groupBy(operations.keys(), (position) => operations[position]!.itemKey);
  const firstOfEach = [...byItem.values()].map(([first]) => first!);
  return groupBy(firstOfEach, (position) => lineOf(operations[position]!));
}

function lineOf(operation: SlackOperation): string {
  if (operation.kind === 'post' || operation.kind === 'move') return `posts ${operation.to.channel}`;
  return operation.kind === 'edit' && operation.votesOnly ? 'counts' : 'edits';
}

/** Minimum interval between two edits of the votes that a message shows. */
const COUNT_EVERY_MS = 10_000;

/**
 * Makes the calls of one operation. If Slack's answer to an earlier post of the item was lost, it first finds out what
 * happened to that post.
 */
async function carryOut(operation: SlackOperation, batch: Batch): Promise<Outcome> {
  const intent = batch.notes.post(operation.itemKey);
  if (intent !== undefined) {
    const settled = await settleIntent(operation, intent, batch);
    if (settled !== 'clear') return settled;
  }
  switch (operation.kind) {
    case 'post':
      return await post(operation, batch);
    case 'edit':
      return await edit(operation, operation.existing!, batch);
    case 'move':
      return await move(operation, operation.existing!, batch);
    case 'redact':
      // If the ledger knows no message, only a post of unknown outcome could have created one. `settleIntent` found
      // none.
      return operation.existing === null
        ? { kind: 'delivered', detail: 'there is no message', object: null }
        : await redact(operation, operation.existing, batch);
  }
}

async function post(operation: ShowOperation, batch: Batch): Promise<Outcome> {
  const { to, itemKey, content, metadata, shown } = operation;
  const { channel } = to;
  const thread = to.thread === null ? null : await ensureThread(operation, channel, to.thread, batch);
  if (thread !== null && 'outcome' in thread) return thread.outcome;
  const place = { channel, threadTs: thread?.ts ?? null, threadKey: to.thread?.key ?? null };
  const message = { channel, threadTs: place.threadTs, broadcast: shown.broadcast, content, metadata };
  const verdict = await postMessage(message, batch, () =>
    batch.notes.notePost(itemKey, { ...place, id: operation.changeId, ...batch.now(), shown }),
  );
  if (verdict.kind === 'held') return verdict.outcome;
  if (verdict.kind === 'maybe') return { kind: 'unknown', detail: verdict.detail, object: unknownObject };
  if (verdict.kind === 'ok') {
    const { ts } = verdict.body;
    if (typeof ts !== 'string') {
      return { kind: 'unknown', detail: `${verdict.detail}, without a ts`, object: unknownObject };
    }
    batch.notes.postIsSettled(itemKey);
    noteEdit(operation, batch);
    if (to.thread !== null && !isReplyTo(place.threadTs, verdict.body['message'])) {
      // The thread was deleted, so Slack posted the reply to the channel itself. The engine plans the change again,
      // which moves the message.
      batch.notes.forgetThread(channel, to.thread.key);
      return { kind: 'unsent', object: shownObject({ channel, ts, threadTs: null, threadKey: null }, shown) };
    }
    return { kind: 'delivered', detail: verdict.detail, object: shownObject({ ...place, ts }, shown) };
  }
  batch.notes.postIsSettled(itemKey);
  if (verdict.kind === 'no-message' && to.thread !== null) {
    batch.notes.forgetThread(channel, to.thread.key); // the thread was deleted; the next attempt starts a new one
    return { kind: 'retry', detail: verdict.detail };
  }
  return outcomeOf(verdict, batch.account.onlyChannel === channel);
}

/**
 * Removes the message and posts it in its new place. Until the outcome is committed, the ledger still has the old
 * place, and after a crash a later change could use it. The intent is therefore committed before the removal, and the
 * outcome never keeps the old place.
 */
async function move(operation: ShowOperation, at: ExistingMessage, batch: Batch): Promise<Outcome> {
  const { itemKey, to, changeId, shown } = operation;
  const place = { channel: to.channel, threadTs: null, threadKey: to.thread?.key ?? null };
  batch.notes.notePost(itemKey, { ...place, id: changeId, ...batch.now(), shown, replaces: at });
  await batch.notes.save();
  const refused = await removeMessage(at, batch);
  if (refused !== null) return { ...refused, object: unknownObject };
  batch.notes.postIsSettled(itemKey);
  const outcome = await post(operation, batch);
  return outcome.object === undefined ? { ...outcome, object: null } : outcome;
}

/** Whether the answer says that the message is in its thread; true if the answer contains no message. */
function isReplyTo(threadTs: string | null, message: unknown): boolean {
  if (typeof message !== 'object' || message === null) return true;
  return (message as { thread_ts?: unknown }).thread_ts === threadTs;
}

async function edit(operation: ShowOperation, at: ExistingMessage, batch: Batch): Promise<Outcome> {
  const { account } = batch;
  if (operation.votesOnly) {
    const waitMs =
      (account.editedAt.get(editKey(operation)) ?? Number.NEGATIVE_INFINITY) + COUNT_EVERY_MS - account.clock.now();
    if (waitMs > 0) return { kind: 'unsent', afterMs: Math.ceil(waitMs) };
  }
  const { shown } = operation;
  const broadcast = shown.broadcast && !at.broadcast && at.threadTs !== null;
  const args = updateArgs(operation, at);
  const verdict = operation.votesOnly
    ? await batch.callWith(await account.rates.count(batch.signal), 'chat.update', args)
    : await batch.call('chat.update', args);
  switch (verdict.kind) {
    case 'held':
      // If there is no permit for an edit of votes, it is postponed, so that later changes do not wait for it.
      return operation.votesOnly && !batch.signal.aborted
        ? { kind: 'unsent', afterMs: COUNT_EVERY_MS }
        : verdict.outcome;
    case 'ok': {
      noteEdit(operation, batch);
      if (broadcast) return await broadcastReply(operation, at, batch);
      return { kind: 'delivered', detail: verdict.detail, object: editedObject(operation, at, at.broadcast) };
    }
    case 'no-message': // someone deleted it in Slack
      return await post(operation, batch);
    case 'fixed': {
      // An edit cannot replace its links and mentions.
      if (verdict.code === 'block_mismatch') {
        if (!operation.votesOnly) return await move(operation, at, batch);
        // The message keeps its old number of votes, because a new message would notify the channel of each vote.
        noteEdit(operation, batch);
        return { kind: 'delivered', detail: `${verdict.detail}; the number of votes stays as it is` };
      }
      if (!operation.mustHide) {
        return { ...outcomeOf(verdict, account.onlyChannel === at.channel), object: { ...at, state: 'fixed' } };
      }
      const refused = await removeMessage(at, batch);
      return refused ?? { kind: 'unsent', object: null }; // the engine plans the change again and posts it without the attendee
    }
    default:
      return outcomeOf(verdict, account.onlyChannel === at.channel);
  }
}

/**
 * Shows an edited reply in the channel as well. Slack does not do this in the call that changes the content
 * (`no_dual_broadcast_content_update`), so this call repeats the content that the message already has. If Slack regards
 * that as a change too, the reply is deleted and posted again, in thread and channel.
 */
async function broadcastReply(operation: ShowOperation, at: ExistingMessage, batch: Batch): Promise<Outcome> {
  const verdict = await batch.call('chat.update', { ...updateArgs(operation, at), reply_broadcast: true });
  if (verdict.kind === 'ok' || (verdict.kind === 'refused' && verdict.code === 'cant_broadcast_message')) {
    // If the message cannot be broadcast, or already was by a call whose answer was lost, it is not tried again.
    return { kind: 'delivered', detail: verdict.detail, object: editedObject(operation, at, true) };
  }
  if (verdict.kind === 'no-message') return await post(operation, batch);
  if (verdict.kind === 'refused' && verdict.code === 'no_dual_broadcast_content_update') {
    return await move(operation, at, batch);
  }
  const outcome =
    verdict.kind === 'held' ? verdict.outcome : outcomeOf(verdict, batch.account.onlyChannel === at.channel);
  return { ...outcome, object: editedObject(operation, at, false) };
}

function editedObject({ to, shown }: ShowOperation, at: ExistingMessage, broadcast: boolean): SlackObject {
  return shownObject({ ...at, threadKey: to.thread?.key ?? null }, { ...shown, broadcast });
}

async function redact(operation: RedactOperation, at: ExistingMessage, batch: Batch): Promise<Outcome> {
  const verdict = await batch.call('chat.update', updateArgs(operation, at));
  if (verdict.kind === 'held') return verdict.outcome;
  if (verdict.kind === 'ok') return { kind: 'delivered', detail: verdict.detail, object: redactedObject(at) };
  if (verdict.kind === 'no-message') return { kind: 'delivered', detail: verdict.detail, object: null };
  if (verdict.kind !== 'fixed') return outcomeOf(verdict, batch.account.onlyChannel === at.channel);
  const refused = await removeMessage(at, batch); // Slack forbids the edit but may allow the deletion
  return refused ?? { kind: 'delivered', detail: `${verdict.detail}; deleted instead`, object: null };
}

function updateArgs(
  { content, metadata }: { readonly content: MessageContent; readonly metadata: SlackOperation['metadata'] },
  { channel, ts }: MessagePlace,
): Readonly<Record<string, unknown>> {
  return { channel, ts, ...content, metadata, ...updatePlainly };
}

function noteEdit(operation: SlackOperation, { account }: Batch): void {
  const now = account.clock.now();
  account.editedAt.set(editKey(operation), now);
  if (account.editedAt.size <= 10_000) return;
  for (const [key, at] of account.editedAt) if (at + COUNT_EVERY_MS <= now) account.editedAt.delete(key);
}

function editKey({ itemKey, metadata }: SlackOperation): string {
  return `${metadata.event_payload.pigeonhole} ${itemKey}`;
}
