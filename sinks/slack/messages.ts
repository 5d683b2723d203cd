import { type Verdict, outcomeOf } from './classify.js';
import type { MessageContent, MessagePlace, SlackOperation, ThreadPlan } from './operation.js';
import { type Held, permitOf, type Batch, LOOK_UP_AFTER_MS } from './batch.js';
import type { Outcome } from '../sink.js';
import { redactedMessage } from './blocks.js';
import { randomUUID } from 'node:crypto';

interface NewMessage {
  readonly channel: string;
  readonly threadTs: string | null;
  /** Shown in the channel as well as in its thread. */
  readonly broadcast: boolean;
  readonly content: MessageContent;
  readonly metadata: { readonly event_type: string; readonly event_payload: Readonly<Record<string, unknown>> };
}

/**
 * Posts a message when the channel's turn comes. A bot that is no member joins the channel, once, and posts again: the
 * first call had no effect.
 * @param intend notes what is about to be posted; committed before the call, and after the wait for a permit, so that
 * the instant in it is that of the call
 */
export async function postMessage(message: NewMessage, batch: Batch, intend: () => void): Promise<Verdict | Held> {
  const verdict = await postOnce(message, batch, intend);
  if (verdict.kind !== 'not-in-channel') return verdict;
  return (await batch.join(message.channel)) ? await postOnce(message, batch, intend) : notAMember(message.channel);
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

/** Nothing in a text means anything: no links, no names, no previews. */
export const plainly = {
  parse: 'none',
  link_names: false,
  mrkdwn: false,
  unfurl_links: false,
  unfurl_media: false,
} as const;

/** Of these, what an update takes. */
export const updatePlainly = { parse: plainly.parse, link_names: plainly.link_names } as const;

function notAMember(channel: string): Verdict {
  return {
    kind: 'not-in-channel',
    code: 'not_in_channel',
    detail: `the app is no member of ${channel} and could not join it: invite it there with /invite`,
  };
}

/**
 * Takes a message away: deleted, or where Slack forbids that, redacted. Harmless when repeated.
 * @returns why it still stands there; null when it does not, or stands where nothing can be changed any more
 */
export async function removeMessage(at: MessagePlace, batch: Batch): Promise<Outcome | null> {
  const { channel, ts } = at;
  const verdict = await batch.call('chat.delete', { channel, ts });
  if (verdict.kind === 'fixed') {
    const redacted = await batch.call('chat.update', { channel, ts, ...redactedMessage(), ...updatePlainly });
    return removed(redacted, batch);
  }
  return removed(verdict, batch);
}

function removed(verdict: Verdict | Held, batch: Batch): Outcome | null {
  if (verdict.kind === 'held') return verdict.outcome;
  if (verdict.kind === 'ok' || verdict.kind === 'no-message') return null;
  // A channel that is archived, or gone, or of another workspace, keeps what it has; the item moves on all the same.
  if (verdict.kind === 'channel' || verdict.kind === 'not-in-channel') return null;
  return outcomeOf(verdict, batch.account.hasOneChannel);
}

/**
 * The message to which the items of a thread are replies: the one that the lane remembers, or a new one. Posted once:
 * the intent is committed before, and where nobody heard the answer it is looked up, a minute later, before another is
 * posted. The items of a turn ask one after the other.
 * @returns its ts, or what becomes of the item meanwhile, which certainly was not posted
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
      if (!isImpossible(verdict)) return { outcome: outcomeOf(verdict, batch.account.hasOneChannel) };
      if (known.parked !== operation.changeId) {
        notes.noteThread(channel, thread.key, { ...known, parked: operation.changeId });
        const detail = `the message of its thread may have been posted and cannot be looked up (${verdict.detail}): look into the channel, and redrive this to have it posted anew`;
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
      return { outcome: outcomeOf(verdict, batch.account.hasOneChannel) };
  }
  return {
    outcome: { kind: 'retry', afterMs: LOOK_UP_AFTER_MS, detail: `${verdict.detail}; its thread is looked up` },
  };
}

/** As settleIntent has it: neither a wait nor other credentials help, only a person. */
function isImpossible(verdict: { readonly kind: string; readonly code?: string }): boolean {
  return (
    verdict.kind === 'channel' ||
    verdict.kind === 'not-in-channel' ||
    verdict.kind === 'refused' ||
    (verdict.kind === 'credential' && verdict.code === 'missing_scope')
  );
}
