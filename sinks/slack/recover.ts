import type { Outcome, SendResult } from '../sink.js';
import type { PostIntent } from './lane-notes.js';
import { type SlackOperation, shownObject, type SlackObject } from './operation.js';
import { removeMessage, updatePlainly } from './messages.js';
import { LOOK_UP_AFTER_MS, type Batch } from './batch.js';
import { redactedMessage } from './blocks.js';

/**
 * What became of operations that an earlier attempt may have sent. Only a post is ever in doubt, and each has an intent
 * in the lane's memory; edits, redactions and deletions do no harm when they are made again.
 */
export async function recoverOperations(operations: readonly SlackOperation[], batch: Batch): Promise<SendResult> {
  const outcomes: Outcome[] = [];
  for (const operation of operations) {
    const intent = batch.notes.post(operation.itemKey);
    if (intent?.replaces !== undefined) {
      // A move that was cut off: what is sent next for the item takes the old message away, if it still stands.
      outcomes.push({ kind: 'unsent', object: unknownObject });
      continue;
    }
    // oxlint-disable-next-line no-await-in-loop -- what one look-up has read serves the others
    const settled = intent === undefined ? 'clear' : await settleIntent(operation, intent, batch);
    if (settled !== 'clear') outcomes.push(settled);
    // A post's intent is committed after the old message went, so with one there is no old message.
    else outcomes.push(intent === undefined ? { kind: 'unsent' } : { kind: 'unsent', object: null });
  }
  const memory = batch.notes.unsaved;
  return { outcomes, ...(memory !== undefined && { memory }) };
}

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
  let place = intent;
  let posted = await batch.posted(place.channel, place.threadTs, intent);
  if (posted.kind === 'no-thread') {
    place = { ...intent, threadTs: null, threadKey: null };
    posted = await batch.posted(place.channel, null, intent);
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
    return decidedByPerson(operation, intent, batch, verdict.detail);
  }
  const ts = posted.tsById.get(intent.id);
  batch.notes.postIsSettled(operation.itemKey);
  if (ts === undefined) return 'clear';
  const { channel, threadTs, threadKey, shown } = place;
  const object = shownObject({ channel, ts, threadTs, threadKey }, shown);
  if (isAsWanted(operation, place)) return { kind: 'delivered', detail: 'found by its metadata', object };
  return { kind: 'unsent', object }; // planned anew, now that it is known what stands there
}

/** No look-up is possible; `clear` when a person has already been asked about this change. */
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

/** What is in flight is looked up every minute, and given up after twenty. */
const abandonedAfterMs = 30 * 60_000;
/** A look-up costs as much as a send's time has. */
const maxAbandonedPerSend = 1;

/**
 * Redacts messages that nobody owns. Where a process died while it posted, and by the time of the look-up the item was
 * not to be shown any more (its person may not be named, its session is another), nothing is planned for it and nobody
 * asks what became of the post. If it stands there, it must not.
 */
export async function clearAbandoned(asked: ReadonlySet<string>, batch: Batch): Promise<void> {
  const before = batch.now().atMs - abandonedAfterMs;
  const abandoned = batch.notes.intents
    .filter(({ itemKey, intent }) => !asked.has(itemKey) && intent.atMs < before && intent.parked === undefined)
    .slice(0, maxAbandonedPerSend);
  for (const { itemKey, intent } of abandoned) {
    if (!batch.canStart) return;
    if (intent.replaces !== undefined) {
      // oxlint-disable-next-line no-await-in-loop -- one at a time is meant
      if ((await removeMessage(intent.replaces, batch)) === null) batch.notes.postIsSettled(itemKey);
      continue;
    }
    // oxlint-disable-next-line no-await-in-loop -- one at a time is meant
    const posted = await batch.posted(intent.channel, intent.threadTs, intent);
    if (posted.kind !== 'read') continue;
    const ts = posted.tsById.get(intent.id);
    if (ts !== undefined) {
      const { channel } = intent;
      // oxlint-disable-next-line no-await-in-loop -- one at a time is meant
      const verdict = await batch.call('chat.update', { channel, ts, ...redactedMessage(), ...updatePlainly });
      if (verdict.kind !== 'ok' && verdict.kind !== 'no-message') continue;
    }
    batch.notes.postIsSettled(itemKey);
  }
}
