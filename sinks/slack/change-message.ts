import type { Outcome } from '../sink.js';
import type { Sending } from './sending.js';
import { COUNT_EVERY_MS } from './rates.js';
import { post } from './messages.js';
import { type ExistingMessage, shownObject, type ShowOperation, type SlackObject } from './operation.js';
import { unknownObject } from './recover.js';
import { removeMessage, updateArgs } from './remove-message.js';

/**
 * Edits a message. If Slack does not allow that, the message stays, or is removed and posted again if it must not stay.
 */
export async function edit(operation: ShowOperation, at: ExistingMessage, sending: Sending): Promise<Outcome> {
  const { account } = sending;
  if (operation.votesOnly) {
    const waitMs = account.edits.lastMs(operation) + COUNT_EVERY_MS - account.clock.now();
    if (waitMs > 0) return { kind: 'unsent', afterMs: Math.ceil(waitMs) };
  }
  const { shown } = operation;
  const broadcast = shown.broadcast && !at.broadcast && at.threadTs !== null;
  const args = updateArgs(operation, at);
  const verdict = operation.votesOnly
    ? await sending.callWith(await account.rates.count(sending.signal), 'chat.update', args)
    : await sending.call('chat.update', args);
  switch (verdict.kind) {
    case 'held':
      // If there is no permit for an edit of votes, it is postponed, so that later changes do not wait for it.
      return operation.votesOnly && !sending.signal.aborted
        ? { kind: 'unsent', afterMs: COUNT_EVERY_MS }
        : verdict.outcome;
    case 'ok': {
      account.edits.note(operation);
      if (broadcast) return await broadcastReply(operation, at, sending);
      return { kind: 'delivered', detail: verdict.detail, object: editedObject(operation, at, at.broadcast) };
    }
    case 'no-message': // someone deleted it in Slack
      return await post(operation, sending);
    case 'fixed': {
      // An edit cannot replace its links and mentions.
      if (verdict.code === 'block_mismatch') {
        if (!operation.votesOnly) return await move(operation, at, sending);
        // The message keeps its old number of votes, because a new message would notify the channel of each vote.
        account.edits.note(operation);
        return { kind: 'delivered', detail: `${verdict.detail}; the number of votes stays as it is` };
      }
      if (!operation.mustHide) {
        return { ...sending.outcomeOf(verdict, at.channel), object: { ...at, state: 'fixed' } };
      }
      const refused = await removeMessage(at, sending);
      return refused ?? { kind: 'unsent', object: null }; // the engine plans the change again and posts it without the attendee
    }
    default:
      return sending.outcomeOf(verdict, at.channel);
  }
}

/**
 * Removes the message and posts it in its new place. Until the outcome is committed, the ledger still has the old
 * place, and after a crash a later change could use it. The intent is therefore committed before the removal, and the
 * outcome never keeps the old place.
 */
export async function move(operation: ShowOperation, at: ExistingMessage, sending: Sending): Promise<Outcome> {
  const { itemKey, to, changeId, shown } = operation;
  const place = { channel: to.channel, threadTs: null, threadKey: to.thread?.key ?? null };
  sending.notes.notePost(itemKey, { ...place, id: changeId, ...sending.now(), shown, replaces: at });
  await sending.notes.save();
  const refused = await removeMessage(at, sending);
  if (refused !== null) return { ...refused, object: unknownObject };
  sending.notes.postIsSettled(itemKey);
  const outcome = await post(operation, sending);
  return outcome.object === undefined ? { ...outcome, object: null } : outcome;
}

/**
 * Shows an edited reply in the channel as well. Slack does not do this in the call that changes the content
 * (`no_dual_broadcast_content_update`), so this call repeats the content that the message already has. If Slack regards
 * that as a change too, the reply is deleted and posted again, in thread and channel.
 */
async function broadcastReply(operation: ShowOperation, at: ExistingMessage, sending: Sending): Promise<Outcome> {
  const verdict = await sending.call('chat.update', { ...updateArgs(operation, at), reply_broadcast: true });
  if (verdict.kind === 'ok' || (verdict.kind === 'refused' && verdict.code === 'cant_broadcast_message')) {
    // If the message cannot be broadcast, or already was by a call whose answer was lost, it is not tried again.
    return { kind: 'delivered', detail: verdict.detail, object: editedObject(operation, at, true) };
  }
  if (verdict.kind === 'no-message') return await post(operation, sending);
  if (verdict.kind === 'refused' && verdict.code === 'no_dual_broadcast_content_update') {
    return await move(operation, at, sending);
  }
  return { ...sending.outcomeOf(verdict, at.channel), object: editedObject(operation, at, false) };
}

function editedObject({ to, shown }: ShowOperation, at: ExistingMessage, broadcast: boolean): SlackObject {
  return shownObject({ ...at, threadKey: to.thread?.key ?? null }, { ...shown, broadcast });
}
