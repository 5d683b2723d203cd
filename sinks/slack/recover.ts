import { fieldsOf, type Outcome, type Planned, type SendResult, type Subject } from '../sink.js';
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
import { isClosedBy, redactedArgs, removeMessage } from './remove-message.js';
import { type Batch, type Held, isPassing } from './batch.js';
import type { SlackMethod } from './rates.js';

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

/** Looks a message up in its thread. If the thread was deleted, looks it up in the channel, where Slack then posts it. */
async function lookUp(
  intent: PostIntent,
  batch: Batch,
): Promise<{ readonly place: PostIntent; readonly posted: PostedMessages | Held }> {
  const posted = await postedSince(intent, intent, batch);
  if (posted.kind !== 'no-thread') return { place: intent, posted };
  const place = { ...intent, threadTs: null, threadKey: null };
  return { place, posted: await postedSince(place, intent, batch) };
}

/** A message may become readable only some time after it was posted. */
export const LOOK_UP_AFTER_MS = 60_000;
/** A look-up starts this long before the intent, because the times of messages are from Slack's clock. */
const CLOCK_MARGIN_MS = 15 * 60_000;
const PAGE_SIZE = 200;
/** Maximum number of pages that a look-up reads. If there are more messages, an operator has to decide. */
const MAX_PAGES = 500;

const metadataScope = 'metadata.message:read';

type PostedMessages =
  /**
   * The ts (Slack's message id) of every message that pigeonpost has posted in the channel or thread since the
   * requested time, by the id in the message's metadata.
   */
  | { readonly kind: 'read'; readonly tsById: ReadonlyMap<string, string> }
  /** The thread does not exist. Slack may have posted the reply to the channel itself. */
  | { readonly kind: 'no-thread' }
  | { readonly kind: 'failed'; readonly verdict: Exclude<Verdict, { kind: 'ok' }> };

type PostLocation = Pick<PostIntent, 'channel' | 'threadTs'>;

/** A look-up in one channel or thread. */
export interface LookUp {
  readonly readAtMs: number;
  readonly sinceMs: number;
  readonly posted: Promise<PostedMessages | Held>;
}

/**
 * Returns what pigeonpost has posted in a channel or thread since an intent. The result of an earlier look-up is used
 * again if it reaches back to this intent and ran at least a minute after it, because the message is readable by then.
 */
async function postedSince(
  { channel, threadTs }: PostLocation,
  { atMs, sinceMs }: ThreadIntent,
  batch: Batch,
): Promise<PostedMessages | Held> {
  const key = JSON.stringify([channel, threadTs]);
  const known = batch.lookUps.get(key);
  if (known !== undefined && known.readAtMs >= atMs + LOOK_UP_AFTER_MS && known.sinceMs <= sinceMs) {
    return await known.posted;
  }
  const from = Math.min(sinceMs, batch.notes.earliestMs(channel));
  const posted = readPosted({ channel, threadTs }, from, batch);
  batch.lookUps.set(key, { readAtMs: batch.now().atMs, sinceMs: from, posted });
  return await posted;
}

/**
 * Reads all messages that were posted in a channel or thread since a time. It reads to the last page, so a message that
 * is not among them does not exist.
 */
async function readPosted(
  { channel, threadTs }: PostLocation,
  sinceMs: number,
  batch: Batch,
): Promise<PostedMessages | Held> {
  const method = threadTs === null ? 'conversations.history' : 'conversations.replies';
  const tsById = new Map<string, string>();
  let cursor: unknown;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const args = {
      channel,
      ...(threadTs !== null && { ts: threadTs }),
      oldest: ((sinceMs - CLOCK_MARGIN_MS) / 1000).toFixed(6),
      limit: PAGE_SIZE,
      include_all_metadata: true,
      ...(cursor !== undefined && { cursor }),
    };
    const verdict = await readPage(method, args, batch);
    if (verdict.kind === 'held') return verdict;
    const isThreadGone = verdict.kind === 'no-message' && threadTs !== null;
    if (verdict.kind !== 'ok' && !isThreadGone) return { kind: 'failed', verdict };
    // Without this scope, Slack may leave out the metadata, and pigeonpost would not recognize its own message.
    if (batch.account.scopes?.includes(metadataScope) === false) return { kind: 'failed', verdict: cannotReadMetadata };
    if (verdict.kind !== 'ok') return { kind: 'no-thread' };
    collect(verdict.body['messages'], tsById);
    cursor = fieldsOf(verdict.body['response_metadata'])['next_cursor'];
    // Slack marks the last page with an empty cursor.
    if (typeof cursor !== 'string' || cursor === '') return { kind: 'read', tsById };
  }
  const detail = `${method} has more than ${MAX_PAGES} pages`;
  return { kind: 'failed', verdict: { kind: 'refused', code: 'too_many_messages', detail } };
}

async function readPage(
  method: SlackMethod,
  args: { readonly channel: string },
  batch: Batch,
): Promise<Verdict | Held> {
  const verdict = await batch.call(method, args);
  if (verdict.kind !== 'not-in-channel') return verdict;
  const joined = await batch.join(args.channel);
  if (joined.kind === 'ok') return await batch.call(method, args);
  return isPassing(joined) ? joined : verdict;
}

const cannotReadMetadata: Verdict & { kind: 'credential' } = {
  kind: 'credential',
  code: 'missing_scope',
  detail: `the app lacks the scope ${metadataScope}`,
};

function collect(messages: unknown, tsById: Map<string, string>): void {
  for (const message of Array.isArray(messages) ? (messages as unknown[]) : []) {
    const { ts, metadata } = fieldsOf(message);
    const { event_type: type, event_payload: payload } = fieldsOf(metadata);
    const { change, thread } = fieldsOf(payload);
    const id = type === 'pigeonpost_item' ? change : type === 'pigeonpost_thread' ? thread : undefined;
    if (typeof ts === 'string' && typeof id === 'string') tsById.set(id, ts);
  }
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
  batch: Batch,
): Promise<{ readonly ts: string } | { readonly outcome: Outcome } | 'clear'> {
  const { notes } = batch;
  const youngForMs = intent.atMs + LOOK_UP_AFTER_MS - batch.now().atMs;
  if (youngForMs > 0) return { outcome: { kind: 'unsent', afterMs: Math.ceil(youngForMs) } };
  const posted = await postedSince({ channel, threadTs: null }, intent, batch);
  if (posted.kind === 'held') return posted;
  if (posted.kind === 'read') {
    const ts = posted.tsById.get(intent.id);
    if (ts === undefined) return 'clear';
    notes.noteThread(channel, thread.key, { ts });
    return { ts };
  }
  if (posted.kind === 'no-thread') return 'clear';
  const { verdict } = posted;
  if (!isImpossible(verdict)) return { outcome: batch.outcomeOf(verdict, channel) };
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
  const { posted } = await lookUp(intent, batch);
  if (posted.kind === 'failed') return isClosedBy(posted.verdict) ? 'closed' : 'later';
  if (posted.kind !== 'read') return 'later';
  const ts = posted.tsById.get(intent.id);
  if (ts === undefined) return 'cleared';
  const at = { channel: intent.channel, ts };
  const verdict = await batch.call('chat.update', redactedArgs(at));
  // Slack may allow the deletion although it forbids the edit.
  if (verdict.kind === 'fixed') return (await removeMessage(at, batch)) === null ? 'cleared' : 'later';
  if (verdict.kind === 'ok' || verdict.kind === 'no-message') return 'cleared';
  return isClosedBy(verdict) ? 'closed' : 'later';
}
