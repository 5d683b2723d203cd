import { type Verdict, outcomeOf } from './classify.js';
import type { MessageContent, MessagePlace, SlackOperation, ThreadPlan } from './operation.js';
import { type Held, isPassing, permitOf, type Batch, LOOK_UP_AFTER_MS } from './batch.js';
import type { Outcome } from '../sink.js';
import { redactedMessage } from './blocks.js';
import { randomUUID } from 'node:crypto';

interface NewMessage {
  readonly channel: string;
  readonly threadTs: string | null;
  /** Whether a reply is also shown in the channel. */
  readonly broadcast: boolean;
  readonly content: MessageContent;
  readonly metadata: { readonly event_type: string; readonly event_payload: Readonly<Record<string, unknown>> };
}

/**
 * Waits for a permit and posts a message. If the app is not a member of the channel, the first call has no effect: the
 * app then joins the channel and posts again. @param intend notes the intent. It is called, and the note is committed,
 * after the wait for a permit and directly before the call, so that the intent has the time of the call
 */
export async function postMessage(message: NewMessage, batch: Batch, intend: () => void): Promise<Verdict | Held> {
  const verdict = await postOnce(message, batch, intend);
  if (verdict.kind !== 'not-in-channel') return verdict;
  const joined = await batch.join(message.channel);
  if (joined.kind === 'ok') return await postOnce(message, batch, intend);
  return isPassing(joined) ? joined : notAMember(message.channel);
}

async function postOnce(message: NewMessage, batch: Batch, intend: () => void): Promise<Verdict | Held> {
  const { channel, threadTs, broadcast, content, metadata } = message;
  const permit = permitOf(await batch.account.rates.post(channel, batch.signal, batch.leftMs));
  if ('kind' in permit) return permit;
  try {
    intend();
    await batch.notes.save();
    if (batch.signal.aborted) return { kind: 'later', detail: 'stopped before it was posted' };
    const verdict = await batch.ask('chat.postMessage', {
      channel,
      ...content,
      ...(threadTs !== null && { thread_ts: threadTs }),
      ...(threadTs !== null && broadcast && { reply_broadcast: true }),
      metadata,
      ...plainly,
    });
    if (verdict.kind === 'limited') batch.account.rates.closePosts(channel, verdict.afterMs);
    return verdict;
  } finally {
    permit.done();
  }
}

/** Arguments with which Slack shows a text as it is: without links, mentions of names, or previews. */
export const plainly = {
  parse: 'none',
  link_names: false,
  mrkdwn: false,
  unfurl_links: false,
  unfurl_media: false,
} as const;

/** The part of `plainly` that `chat.update` accepts. */
export const updatePlainly = { parse: plainly.parse, link_names: plainly.link_names } as const;

function notAMember(channel: string): Verdict {
  return {
    kind: 'not-in-channel',
    code: 'not_in_channel',
    detail: `the app is not a member of ${channel} and could not join it: invite it there with /invite`,
  };
}

/**
 * Deletes a message, or replaces its text if Slack forbids the deletion. Harmless when repeated.
 * @returns the outcome that says why the message is still there; null if it is removed, or if its channel no longer
 * allows any change
 */
export async function removeMessage(at: MessagePlace, batch: Batch): Promise<Outcome | null> {
  const { channel, ts } = at;
  const verdict = await batch.call('chat.delete', { channel, ts });
  if (verdict.kind === 'fixed') {
    const redacted = await batch.call('chat.update', { channel, ts, ...redactedMessage(), ...updatePlainly });
    return removed(redacted, channel, batch);
  }
  return removed(verdict, channel, batch);
}

/**
 * Whether Slack refused a call because the channel is archived, deleted or in another workspace, so that no message in
 * it can be changed. All other refusals of a channel can end, and the message in it must not be forgotten.
 */
export function isClosedBy(verdict: Verdict): boolean {
  return (
    verdict.kind === 'channel' &&
    ['channel_not_found', 'is_archived', 'is_inactive', 'team_not_found'].includes(verdict.code)
  );
}

function removed(verdict: Verdict | Held, channel: string, batch: Batch): Outcome | null {
  if (verdict.kind === 'held') return verdict.outcome;
  if (verdict.kind === 'ok' || verdict.kind === 'no-message') return null;
  // The old message stays, and the caller continues.
  if (verdict.kind === 'not-in-channel' || isClosedBy(verdict)) return null;
  return outcomeOf(verdict, batch.account.onlyChannel === channel);
}

/**
 * Returns the first message of a thread, to which its items reply: the one in the lane's memory, or a new one. It is
 * posted only once: the intent is committed before the call, and if the answer is lost, a look-up a minute later
 * decides whether it must be posted again. Items of one thread call this function one after another, so that they do
 * not post two first messages.
 * @returns the message's ts, or the outcome of the item if there is no message; the item was then certainly not posted
 */
export async function ensureThread(
  operation: Pick<SlackOperation, 'changeId' | 'metadata'>,
  channel: string,
  thread: ThreadPlan,
  batch: Batch,
): Promise<{ readonly ts: string } | { readonly outcome: Outcome }> {
  return await batch.exclusively(`${channel} ${thread.key}`, () => findOrPost(operation, channel, thread, batch));
}

async function findOrPost(
  operation: Pick<SlackOperation, 'changeId' | 'metadata'>,
  channel: string,
  thread: ThreadPlan,
  batch: Batch,
): Promise<{ readonly ts: string } | { readonly outcome: Outcome }> {
  const { notes } = batch;
  const known = notes.thread(channel, thread.key);
  if (known?.ts !== undefined) return known;
  if (known !== undefined) {
    const youngForMs = known.atMs + LOOK_UP_AFTER_MS - batch.now().atMs;
    if (youngForMs > 0) return { outcome: { kind: 'unsent', afterMs: Math.ceil(youngForMs) } };
    const posted = await batch.posted(channel, null, known);
    if (posted.kind === 'held') return posted;
    if (posted.kind === 'read') {
      const ts = posted.tsById.get(known.id);
      if (ts !== undefined) {
        notes.noteThread(channel, thread.key, { ts });
        return { ts };
      }
    } else if (posted.kind === 'failed') {
      const { verdict } = posted;
      if (!isImpossible(verdict)) return { outcome: outcomeOf(verdict, batch.account.onlyChannel === channel) };
      if (known.parked !== operation.changeId) {
        notes.noteThread(channel, thread.key, { ...known, parked: operation.changeId });
        const detail = `the message of its thread may have been posted and cannot be looked up (${verdict.detail}): look in the channel, and redrive this to post it again`;
        return { outcome: { kind: 'rejected', cause: 'outcome-unknown', detail } };
      }
    }
  }
  return await postThread(operation, channel, thread, batch);
}

async function postThread(
  { metadata: { event_payload: item } }: Pick<SlackOperation, 'metadata'>,
  channel: string,
  thread: ThreadPlan,
  batch: Batch,
): Promise<{ readonly ts: string } | { readonly outcome: Outcome }> {
  const { notes } = batch;
  const id = randomUUID();
  const metadata = {
    event_type: 'pigeonpost_thread',
    event_payload: { thread: id, pigeonhole: item.pigeonhole, key: thread.key },
  };
  const verdict = await postMessage(
    { channel, threadTs: null, broadcast: false, content: thread.content, metadata },
    batch,
    () => notes.noteThread(channel, thread.key, { id, ...batch.now() }),
  );
  switch (verdict.kind) {
    case 'held':
      return verdict;
    case 'ok': {
      const { ts } = verdict.body;
      if (typeof ts !== 'string') break;
      notes.noteThread(channel, thread.key, { ts });
      return { ts };
    }
    case 'maybe':
      break;
    default:
      notes.forgetThread(channel, thread.key);
      return { outcome: outcomeOf(verdict, batch.account.onlyChannel === channel) };
  }
  return {
    outcome: {
      kind: 'retry',
      afterMs: LOOK_UP_AFTER_MS,
      detail: `${verdict.detail}; the message of its thread will be looked up`,
    },
  };
}

/**
 * Whether a look-up cannot succeed unless an operator acts, because neither waiting nor another token helps (as in
 * `settleIntent`).
 */
function isImpossible(verdict: { readonly kind: string; readonly code?: string }): boolean {
  return (
    verdict.kind === 'channel' ||
    verdict.kind === 'not-in-channel' ||
    verdict.kind === 'refused' ||
    (verdict.kind === 'credential' && verdict.code === 'missing_scope')
  );
}
