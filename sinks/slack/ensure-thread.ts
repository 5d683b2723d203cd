import { randomUUID } from 'node:crypto';
import type { Outcome } from '../sink.js';
import { outcomeOf } from './outcome-of.js';
import type { SlackOperation, ThreadPlan } from './operation.js';
import { postMessage } from './post-message.js';
import { LOOK_UP_AFTER_MS, type Turn } from './turn.js';

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
  turn: Turn,
): Promise<{ readonly ts: string } | { readonly outcome: Outcome }> {
  return await turn.exclusively(`${channel} ${thread.key}`, () => findOrPost(operation, channel, thread, turn));
}

async function findOrPost(
  operation: Pick<SlackOperation, 'changeId' | 'metadata'>,
  channel: string,
  thread: ThreadPlan,
  turn: Turn,
): Promise<{ readonly ts: string } | { readonly outcome: Outcome }> {
  const { notes } = turn;
  const known = notes.thread(channel, thread.key);
  if (known?.ts !== undefined) return known;
  if (known !== undefined) {
    const youngForMs = known.atMs + LOOK_UP_AFTER_MS - turn.now().atMs;
    if (youngForMs > 0) return { outcome: { kind: 'unsent', afterMs: Math.ceil(youngForMs) } };
    const posted = await turn.posted(channel, null, known);
    if (posted.kind === 'held') return posted;
    if (posted.kind === 'read') {
      const ts = posted.tsById.get(known.id);
      if (ts !== undefined) {
        notes.noteThread(channel, thread.key, { ts });
        return { ts };
      }
    } else if (posted.kind === 'failed') {
      const { verdict } = posted;
      if (!isImpossible(verdict)) return { outcome: outcomeOf(verdict, turn.account.hasOneChannel) };
      if (known.parked !== operation.changeId) {
        notes.noteThread(channel, thread.key, { ...known, parked: operation.changeId });
        const detail = `the message of its thread may have been posted and cannot be looked up (${verdict.detail}): look into the channel, and redrive this to have it posted anew`;
        return { outcome: { kind: 'rejected', cause: 'outcome-unknown', detail } };
      }
    }
  }
  return await postThread(operation, channel, thread, turn);
}

async function postThread(
  { metadata: { event_payload: item } }: Pick<SlackOperation, 'metadata'>,
  channel: string,
  thread: ThreadPlan,
  turn: Turn,
): Promise<{ readonly ts: string } | { readonly outcome: Outcome }> {
  const { notes } = turn;
  const id = randomUUID();
  const metadata = {
    event_type: 'pigeonpost_thread',
    event_payload: { thread: id, pigeonhole: item.pigeonhole, key: thread.key },
  };
  const verdict = await postMessage(
    { channel, threadTs: null, broadcast: false, content: thread.content, metadata },
    turn,
    () => notes.noteThread(channel, thread.key, { id, ...turn.now() }),
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
      return { outcome: outcomeOf(verdict, turn.account.hasOneChannel) };
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
