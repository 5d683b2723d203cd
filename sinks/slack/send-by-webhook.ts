import type { Clock } from '../network/clock.js';
import type { Lane, Outcome, SendResult } from '../sink.js';
import { LaneNotes, type PostIntent } from './lane-notes.js';
import type { ShowOperation, SlackOperation } from './operation.js';
import { classifyWebhookReply, type IncomingWebhook, postByWebhook } from './post-by-webhook.js';
import type { SlackRates } from './rates.js';
import { type SlackObject } from './slack-object.js';

export interface WebhookTurn {
  readonly webhook: IncomingWebhook;
  readonly rates: SlackRates;
  readonly lane: Lane;
  readonly signal: AbortSignal;
  readonly clock: Clock;
  readonly endsAtMs: number;
}

/** A webhook belongs to one channel, whose name it does not tell. */
const webhookChannel = 'webhook';
const blind: SlackObject = { state: 'blind' };

/** Posts one item after the other. A webhook knows neither threads nor edits, so that is all it can do. */
export async function sendByWebhook(operations: readonly SlackOperation[], turn: WebhookTurn): Promise<SendResult> {
  const notes = new LaneNotes(turn.lane);
  const outcomes: Outcome[] = operations.map(() => ({ kind: 'unsent' }));
  const items = new Set<string>();
  for (const [position, operation] of operations.entries()) {
    const leftMs = turn.endsAtMs - turn.clock.now();
    if (turn.signal.aborted || leftMs <= 0) break;
    if (operation.kind === 'redact' || items.has(operation.itemKey)) continue;
    items.add(operation.itemKey);
    // oxlint-disable-next-line no-await-in-loop -- one after the other is meant
    const outcome = await post(operation, turn, notes, leftMs);
    outcomes[position] = outcome;
    if (outcome.kind === 'pause') break;
  }
  const memory = notes.unsaved;
  return { outcomes, ...(memory !== undefined && { memory }) };
}

async function post(operation: ShowOperation, turn: WebhookTurn, notes: LaneNotes, leftMs: number): Promise<Outcome> {
  const { itemKey, content, shown, changeId } = operation;
  const intent = notes.post(itemKey);
  if (intent !== undefined && intent.parked !== changeId) return park(operation, intent, notes);
  const granted = await turn.rates.post(webhookChannel, turn.signal, leftMs);
  if (granted === undefined) return { kind: 'unsent' };
  if ('waitMs' in granted) return { kind: 'unsent', afterMs: granted.waitMs };
  try {
    const place = { channel: webhookChannel, threadTs: null, threadKey: null };
    const atMs = turn.webhook.wallNow();
    notes.notePost(itemKey, { ...place, id: changeId, atMs, sinceMs: atMs, shown });
    await notes.save();
    const outcome = classifyWebhookReply(await postByWebhook(turn.webhook, content, turn.signal));
    if (outcome.kind === 'retry') turn.rates.closePosts(webhookChannel, outcome.afterMs ?? 0);
    if (outcome.kind !== 'unknown') notes.postIsSettled(itemKey);
    return outcome.kind === 'delivered' ? { ...outcome, object: blind } : outcome;
  } finally {
    granted.permit.done();
  }
}

/** What may have been posted nobody can look up: a person decides. What was never begun is sent. */
export function recoverByWebhook(operations: readonly SlackOperation[], lane: Lane): SendResult {
  const notes = new LaneNotes(lane);
  const outcomes = operations.map((operation): Outcome => {
    const intent = notes.post(operation.itemKey);
    return intent === undefined ? { kind: 'unsent' } : park(operation, intent, notes);
  });
  const memory = notes.unsaved;
  return { outcomes, ...(memory !== undefined && { memory }) };
}

/** Redriving the change that was parked last is a person's word that it was not posted. */
function park({ itemKey, changeId }: SlackOperation, intent: PostIntent, notes: LaneNotes): Outcome {
  notes.notePost(itemKey, { ...intent, parked: changeId });
  const detail =
    'may have been posted, and an incoming webhook cannot be asked: look into the channel, and redrive it if it is not there';
  return { kind: 'rejected', cause: 'outcome-unknown', detail };
}
