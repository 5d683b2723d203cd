import type { Outcome, Planned, SendResult, Subject } from '../sink.js';
import { redactedMessage } from './blocks.js';
import type { Verdict } from './classify.js';
import type { PostIntent, ThreadIntent } from './lane-notes.js';
import {
  readObject,
  sharedFields,
  type SlackOperation,
  shownObject,
  type SlackObject,
  type ThreadPlan,
} from './operation.js';
import { removeMessage } from './remove-message.js';
import type { Sending } from './sending.js';
import { lookUp, LOOK_UP_AFTER_MS, postedSince } from './posted-messages.js';

/**
 * Finds out what happened to operations that an earlier attempt may have sent. Only posts have to be looked up, and
 * each has an intent in the lane's memory. Edits, redactions and deletions are harmless to repeat.
 */
export async function recoverOperations(operations: readonly SlackOperation[], sending: Sending): Promise<SendResult> {
  const outcomes: Outcome[] = [];
  for (const operation of operations) {
    const intent = sending.notes.post(operation.itemKey);
    if (intent?.replaces !== undefined) {
      // A move was interrupted. The item's next operation removes the old message if it still exists.
      outcomes.push({ kind: 'unsent', object: unknownObject });
      continue;
    }
    // One after another, because the following operations can use the result of one look-up.
    const settled = intent === undefined ? 'clear' : await settleIntent(operation, intent, sending);
    if (settled !== 'clear') outcomes.push(settled);
    // The intent of a post is committed only after the old message was removed, so the item has no message.
    else outcomes.push(intent === undefined ? { kind: 'unsent' } : { kind: 'unsent', object: null });
  }
  return { outcomes, memory: sending.notes.unsaved };
}

/**
 * Returns an operation with which `recover` looks up an item's message. It needs no mapping, because the lane's memory
 * says where the message was posted. The operation is never sent. If the look-up finds a message, the engine plans the
 * change again. Pure.
 */
export function planLookUp(subject: Subject): Planned<SlackOperation> {
  const operation = {
    ...sharedFields(subject, readObject(subject.object)),
    kind: 'redact',
    content: redactedMessage(),
  } as const;
  return { kind: 'send', operation };
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
  sending: Sending,
): Promise<Outcome | 'clear'> {
  if (intent.replaces !== undefined) {
    const refused = await removeMessage(intent.replaces, sending);
    if (refused !== null) return { ...refused, object: unknownObject };
    sending.notes.postIsSettled(operation.itemKey);
    return 'clear';
  }
  const youngForMs = intent.atMs + LOOK_UP_AFTER_MS - sending.now().atMs;
  if (youngForMs > 0) {
    if (youngForMs > Math.min(SHORT_WAIT_MS, sending.leftMs))
      return { kind: 'unknown', detail: 'too early to look the message up' };
    await sending.wait(youngForMs);
    if (sending.signal.aborted) return { kind: 'unknown', detail: 'stopped before the message was looked up' };
  }
  const { place, posted } = await lookUp(intent, sending);
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
    return decidedByPerson(operation, intent, sending, verdict.detail);
  }
  const ts = posted.tsById.get(intent.id);
  sending.notes.postIsSettled(operation.itemKey);
  if (ts === undefined) return 'clear';
  const { channel, threadTs, threadKey, shown } = place;
  const object = shownObject({ channel, ts, threadTs, threadKey }, shown);
  if (isAsWanted(operation, place)) return { kind: 'delivered', detail: 'found by its metadata', object };
  return { kind: 'unsent', object }; // planned again, now that the message is known
}

/** Rejects the change, so that an operator has to decide; returns `clear` if the operator has redriven this change. */
function decidedByPerson(
  operation: SlackOperation,
  intent: PostIntent,
  { notes }: Sending,
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

/**
 * Finds out whether Slack posted the first message of a thread after Slack's answer was lost, and notes the message if
 * it did.
 * @returns its ts; the outcome of the item if that is not known yet; `clear` if the message is not in Slack, or an
 * operator decided that it must be posted
 */
export async function settleThread(
  changeId: string,
  { channel, thread }: { readonly channel: string; readonly thread: ThreadPlan },
  intent: ThreadIntent,
  sending: Sending,
): Promise<{ readonly ts: string } | { readonly outcome: Outcome } | 'clear'> {
  const { notes } = sending;
  const youngForMs = intent.atMs + LOOK_UP_AFTER_MS - sending.now().atMs;
  if (youngForMs > 0) return { outcome: { kind: 'unsent', afterMs: Math.ceil(youngForMs) } };
  const posted = await postedSince({ channel, threadTs: null }, intent, sending);
  if (posted.kind === 'held') return posted;
  if (posted.kind === 'read') {
    const ts = posted.tsById.get(intent.id);
    if (ts === undefined) return 'clear';
    notes.noteThread(channel, thread.key, { ts });
    return { ts };
  }
  if (posted.kind === 'no-thread') return 'clear';
  const { verdict } = posted;
  if (!isImpossible(verdict)) return { outcome: sending.outcomeOf(verdict, channel) };
  if (intent.parked === changeId) return 'clear';
  notes.noteThread(channel, thread.key, { ...intent, parked: changeId });
  const detail = `the message of its thread may have been posted and cannot be looked up (${verdict.detail}): look in the channel, and redrive this to post it again`;
  return { outcome: { kind: 'rejected', cause: 'outcome-unknown', detail } };
}

/**
 * Whether a look-up cannot succeed unless an operator acts, because neither waiting nor another token helps (as in
 * `settleIntent`).
 */
function isImpossible(verdict: Verdict): boolean {
  return (
    verdict.kind === 'channel' ||
    verdict.kind === 'not-in-channel' ||
    verdict.kind === 'refused' ||
    (verdict.kind === 'credential' && verdict.code === 'missing_scope')
  );
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
