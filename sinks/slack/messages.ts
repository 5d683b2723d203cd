import { randomUUID } from 'node:crypto';
import type { Outcome } from '../sink.js';
import { type Sending, type Held, isPassing, permitOf } from './sending.js';
import { plainly } from './blocks.js';
import type { Verdict } from './classify.js';
import {
  type MessageContent,
  shownObject,
  type ShowOperation,
  type SlackOperation,
  type ThreadPlan,
} from './operation.js';
import { LOOK_UP_AFTER_MS } from './posted-messages.js';
import { settleThread, unknownObject } from './recover.js';

/** Posts an item's message, in its thread if it has one. */
export async function post(operation: ShowOperation, sending: Sending): Promise<Outcome> {
  const { to, itemKey, content, metadata, shown } = operation;
  const { channel } = to;
  const { notes } = sending;
  const thread = to.thread === null ? null : await ensureThread(operation, channel, to.thread, sending);
  if (thread !== null && 'outcome' in thread) return thread.outcome;
  const place = { channel, threadTs: thread?.ts ?? null, threadKey: to.thread?.key ?? null };
  const message = { channel, threadTs: place.threadTs, broadcast: shown.broadcast, content, metadata };
  const verdict = await postMessage(message, sending, () =>
    notes.notePost(itemKey, { ...place, id: operation.changeId, ...sending.now(), shown }),
  );
  if (verdict.kind === 'held') return verdict.outcome;
  // The intent stays, so that the message is looked up before the item is sent again.
  if (verdict.kind === 'maybe') return { kind: 'unknown', detail: verdict.detail, object: unknownObject };
  notes.postIsSettled(itemKey);
  if (verdict.kind === 'ok') {
    const { ts, detail } = verdict;
    sending.account.edits.note(operation);
    if (to.thread !== null && !isReplyTo(place.threadTs, verdict.body['message'])) {
      // The thread was deleted, so Slack posted the reply to the channel itself. The engine plans the change again,
      // which moves the message.
      notes.forgetThread(channel, to.thread.key);
      return { kind: 'unsent', object: shownObject({ channel, ts, threadTs: null, threadKey: null }, shown) };
    }
    return { kind: 'delivered', detail, object: shownObject({ ...place, ts }, shown) };
  }
  if (verdict.kind === 'no-message' && to.thread !== null) {
    notes.forgetThread(channel, to.thread.key); // the thread was deleted; the next attempt starts a new one
    return { kind: 'retry', detail: verdict.detail };
  }
  return sending.outcomeOf(verdict, channel);
}

/** Whether the answer says that the message is in its thread; true if the answer contains no message. */
function isReplyTo(threadTs: string | null, message: unknown): boolean {
  if (typeof message !== 'object' || message === null) return true;
  return (message as { thread_ts?: unknown }).thread_ts === threadTs;
}

interface NewMessage {
  readonly channel: string;
  readonly threadTs: string | null;
  /** Whether a reply is also shown in the channel. */
  readonly broadcast: boolean;
  readonly content: MessageContent;
  readonly metadata: { readonly event_type: string; readonly event_payload: Readonly<Record<string, unknown>> };
}

type Ok = Extract<Verdict, { kind: 'ok' }>;
type PostVerdict = (Ok & { readonly ts: string }) | Exclude<Verdict, Ok> | Held;

/**
 * Waits for a permit and posts a message. If the app is not a member of the channel, the first call has no effect: the
 * app then joins the channel and posts again.
 * @param intend notes the intent. It is called, and the note is committed, after the wait for a permit and directly
 * before the call, so that the intent has the time of the call
 */
export async function postMessage(message: NewMessage, sending: Sending, intend: () => void): Promise<PostVerdict> {
  const verdict = await postOnce(message, sending, intend);
  if (verdict.kind !== 'not-in-channel') return verdict;
  const { channel } = message;
  const joined = await sending.join(channel);
  if (joined.kind === 'ok') return await postOnce(message, sending, intend);
  if (isPassing(joined)) return joined;
  const detail = `the app is not a member of ${channel} and could not join it: invite it there with /invite`;
  return { kind: 'not-in-channel', code: 'not_in_channel', detail };
}

async function postOnce(message: NewMessage, sending: Sending, intend: () => void): Promise<PostVerdict> {
  const { channel, threadTs, broadcast, content, metadata } = message;
  const permit = permitOf(await sending.account.rates.post(channel, sending.signal, sending.leftMs));
  if ('kind' in permit) return permit;
  try {
    intend();
    await sending.notes.save();
    if (sending.signal.aborted) return { kind: 'later', detail: 'stopped before it was posted' };
    const verdict = await sending.ask('chat.postMessage', {
      channel,
      ...content,
      ...(threadTs !== null && { thread_ts: threadTs }),
      ...(threadTs !== null && broadcast && { reply_broadcast: true }),
      metadata,
      ...plainly,
    });
    if (verdict.kind === 'limited') sending.account.rates.closePosts(channel, verdict.afterMs);
    if (verdict.kind !== 'ok') return verdict;
    const { ts } = verdict.body;
    return typeof ts === 'string' ? { ...verdict, ts } : { kind: 'maybe', detail: `${verdict.detail}, without a ts` };
  } finally {
    permit.done();
  }
}

type ThreadMessage = { readonly ts: string } | { readonly outcome: Outcome };

/**
 * Returns the first message of a thread, to which its items reply: the one in the lane's memory, or a new one. It is
 * posted only once: the intent is committed before the call, and if the answer is lost, a look-up a minute later
 * decides whether it must be posted again. Items of one thread call this function one after another, so that they do
 * not post two first messages.
 * @returns the message's ts, or the outcome of the item if there is no message; the item was then certainly not posted
 */
async function ensureThread(
  operation: SlackOperation,
  channel: string,
  thread: ThreadPlan,
  sending: Sending,
): Promise<ThreadMessage> {
  return await sending.exclusively(`${channel} ${thread.key}`, async () => {
    const known = sending.notes.thread(channel, thread.key);
    if (known?.ts !== undefined) return known;
    if (known !== undefined) {
      const settled = await settleThread(operation.changeId, { channel, thread }, known, sending);
      if (settled !== 'clear') return settled;
    }
    return await postThread(operation, channel, thread, sending);
  });
}

async function postThread(
  { metadata: { event_payload: item } }: SlackOperation,
  channel: string,
  thread: ThreadPlan,
  sending: Sending,
): Promise<ThreadMessage> {
  const { notes } = sending;
  const id = randomUUID();
  const metadata = {
    event_type: 'pigeonpost_thread',
    event_payload: { thread: id, pigeonhole: item.pigeonhole, key: thread.key },
  };
  const message = { channel, threadTs: null, broadcast: false, content: thread.content, metadata };
  const verdict = await postMessage(message, sending, () =>
    notes.noteThread(channel, thread.key, { id, ...sending.now() }),
  );
  if (verdict.kind === 'held') return verdict;
  if (verdict.kind === 'maybe') {
    const detail = `${verdict.detail}; the message of its thread will be looked up`;
    return { outcome: { kind: 'retry', afterMs: LOOK_UP_AFTER_MS, detail } };
  }
  if (verdict.kind === 'ok') {
    const { ts } = verdict;
    notes.noteThread(channel, thread.key, { ts });
    return { ts };
  }
  notes.forgetThread(channel, thread.key);
  return { outcome: sending.outcomeOf(verdict, channel) };
}
