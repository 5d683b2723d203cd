import { fieldsOf } from '../sink.js';
import type { Verdict } from './classify.js';
import type { PostIntent, ThreadIntent } from './lane-notes.js';
import { type Sending, type Held, isPassing } from './sending.js';
import type { SlackMethod } from './rates.js';

/** Looks a message up in its thread. If the thread was deleted, looks it up in the channel, where Slack then posts it. */
export async function lookUp(
  intent: PostIntent,
  sending: Sending,
): Promise<{ readonly place: PostIntent; readonly posted: PostedMessages | Held }> {
  const posted = await postedSince(intent, intent, sending);
  if (posted.kind !== 'no-thread') return { place: intent, posted };
  const place = { ...intent, threadTs: null, threadKey: null };
  return { place, posted: await postedSince(place, intent, sending) };
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
export async function postedSince(
  { channel, threadTs }: PostLocation,
  { atMs, sinceMs }: ThreadIntent,
  sending: Sending,
): Promise<PostedMessages | Held> {
  const key = JSON.stringify([channel, threadTs]);
  const known = sending.lookUps.get(key);
  if (known !== undefined && known.readAtMs >= atMs + LOOK_UP_AFTER_MS && known.sinceMs <= sinceMs) {
    return await known.posted;
  }
  const from = Math.min(sinceMs, sending.notes.earliestMs(channel));
  const posted = readPosted({ channel, threadTs }, from, sending);
  sending.lookUps.set(key, { readAtMs: sending.now().atMs, sinceMs: from, posted });
  return await posted;
}

/**
 * Reads all messages that were posted in a channel or thread since a time. It reads to the last page, so a message that
 * is not among them does not exist.
 */
async function readPosted(
  { channel, threadTs }: PostLocation,
  sinceMs: number,
  sending: Sending,
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
    const verdict = await readPage(method, args, sending);
    if (verdict.kind === 'held') return verdict;
    const isThreadGone = verdict.kind === 'no-message' && threadTs !== null;
    if (verdict.kind !== 'ok' && !isThreadGone) return { kind: 'failed', verdict };
    // Without this scope, Slack may leave out the metadata, and pigeonpost would not recognize its own message.
    if (sending.account.scopes?.includes(metadataScope) === false)
      return { kind: 'failed', verdict: cannotReadMetadata };
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
  sending: Sending,
): Promise<Verdict | Held> {
  const verdict = await sending.call(method, args);
  if (verdict.kind !== 'not-in-channel') return verdict;
  const joined = await sending.join(args.channel);
  if (joined.kind === 'ok') return await sending.call(method, args);
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
