import type { Outcome } from '../sink.js';
import type { PostIntent } from './lane-notes.js';
import type { SlackOperation } from './operation.js';
import { removeMessage } from './remove-message.js';
import { shownObject, type SlackObject } from './slack-object.js';
import { LOOK_UP_AFTER_MS, type Turn } from './turn.js';

/** So long a `recover` waits for that minute to pass, rather than to be asked again a minute later. */
const SHORT_WAIT_MS = 15_000;

/**
 * What became of a post of this item whose outcome nobody heard. `clear`: nothing of it stands in Slack, or a person
 * has decided to post it all the same; else the operation's outcome.
 *
 * What cannot be looked up (a scope is missing, the channel cannot be read) is a matter for a person: rejected as
 * `outcome-unknown`, and so is every later change of the item. Redriving the very change that was rejected last is the
 * person's word that nothing stands there.
 */
export async function settleIntent(
  operation: SlackOperation,
  intent: PostIntent,
  turn: Turn,
): Promise<Outcome | 'clear'> {
  if (intent.replaces !== undefined) {
    const refused = await removeMessage(intent.replaces, turn);
    if (refused !== null) return { ...refused, object: unknownObject };
    turn.notes.postIsSettled(operation.itemKey);
    return 'clear';
  }
  const youngForMs = intent.atMs + LOOK_UP_AFTER_MS - turn.now().atMs;
  if (youngForMs > 0) {
    if (youngForMs > Math.min(SHORT_WAIT_MS, turn.leftMs))
      return { kind: 'unknown', detail: 'too early to look the message up' };
    await turn.wait(youngForMs);
    if (turn.signal.aborted) return { kind: 'unknown', detail: 'stopped before the message was looked up' };
  }
  let place = intent;
  let posted = await turn.posted(place.channel, place.threadTs, intent);
  if (posted.kind === 'no-thread') {
    place = { ...intent, threadTs: null, threadKey: null };
    posted = await turn.posted(place.channel, null, intent);
  }
  if (posted.kind === 'held') return { kind: 'unknown', detail: 'no turn came to look the message up' };
  if (posted.kind !== 'read') {
    const verdict = posted.kind === 'failed' ? posted.verdict : noThread;
    if (verdict.kind === 'limited' || verdict.kind === 'later' || verdict.kind === 'maybe') {
      return { kind: 'unknown', detail: verdict.detail };
    }
    if (verdict.kind === 'credential' && verdict.code !== 'missing_scope') {
      // The intent stays: whatever is sent next for this item looks first.
      return { kind: 'pause', cause: 'credential', detail: verdict.detail };
    }
    return decidedByPerson(operation, intent, turn, verdict.detail);
  }
  const ts = posted.tsById.get(intent.id);
  turn.notes.postIsSettled(operation.itemKey);
  if (ts === undefined) return 'clear';
  const { channel, threadTs, threadKey, shown } = place;
  const object = shownObject({ channel, ts, threadTs, threadKey }, shown);
  if (isAsWanted(operation, place)) return { kind: 'delivered', detail: 'found by its metadata', object };
  return { kind: 'unsent', object }; // planned anew, now that it is known what stands there
}

/** No look-up is possible; `clear` when a person has already been asked about this change. */
export function decidedByPerson(
  operation: SlackOperation,
  intent: PostIntent,
  { notes }: Turn,
  why: string,
): Outcome | 'clear' {
  if (intent.parked === operation.changeId) {
    notes.postIsSettled(operation.itemKey);
    return 'clear';
  }
  notes.notePost(operation.itemKey, { ...intent, parked: operation.changeId });
  const detail = `may have been posted and cannot be looked up (${why}): look into the channel, and redrive it if it is not there`;
  return { kind: 'rejected', cause: 'outcome-unknown', detail, object: unknownObject };
}

/** Of a channel's own history Slack never says this. */
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
