import type { NoAnswer, RestAnswer, RestClient } from '../rest/rest-client.js';
import { carrying } from '../network/exchange-log.js';
import type { Clock } from '../network/rolling-limiter.js';
import type { Lane, Outcome, SendResult, CheckLine } from '../sink.js';
import { LaneNotes, type PostIntent } from './lane-notes.js';
import type { ShowOperation, SlackMode, SlackOperation, SlackObject, MessageContent } from './operation.js';
import type { SlackRates } from './rates.js';
import type { Secret } from '../../config/secret.js';
import { retryAfterMs } from '../../base/retry-after.js';
import { permitOf } from './sending.js';
import { plainly, testMessage } from './blocks.js';

interface WebhookSending {
  readonly webhook: IncomingWebhook;
  readonly rates: SlackRates;
  readonly lane: Lane;
  readonly signal: AbortSignal;
  readonly clock: Clock;
  readonly endsAtMs: number;
}

/** Name of the channel in permits and intents. A webhook posts to one channel and does not reveal its name. */
const webhookChannel = 'webhook';
const blind: SlackObject = { state: 'blind' };

/** Returns the calls of a sink that posts by an incoming webhook. `sendMs`: no call of a `send` starts after this time. */
export function webhookMode(
  webhook: IncomingWebhook,
  {
    rates,
    clock,
    name,
    sendMs,
  }: { readonly rates: SlackRates; readonly clock: Clock; readonly name: string; readonly sendMs: number },
): SlackMode {
  return {
    check: (signal) => checkWebhook(webhook, signal),
    send: (operations, lane, signal) =>
      sendByWebhook(operations, { webhook, rates, lane, signal, clock, endsAtMs: clock.now() + sendMs }),
    recover: (operations, lane) => Promise.resolve(recoverByWebhook(operations, lane)),
    sendTest: (signal) => sendTestByWebhook(webhook, { rates, name, signal }),
  };
}

/** Posts the messages of the items one after another. A webhook supports neither threads nor edits. */
async function sendByWebhook(operations: readonly SlackOperation[], sending: WebhookSending): Promise<SendResult> {
  const notes = new LaneNotes(sending.lane);
  const outcomes: Outcome[] = operations.map(() => ({ kind: 'unsent' }));
  const items = new Set<string>();
  for (const [position, operation] of operations.entries()) {
    const leftMs = sending.endsAtMs - sending.clock.now();
    if (sending.signal.aborted || leftMs <= 0) break;
    if (operation.kind === 'redact' || items.has(operation.itemKey)) continue;
    items.add(operation.itemKey);
    const outcome = await carrying([operation.changeId], () => post(operation, sending, notes, leftMs));
    outcomes[position] = outcome;
    if (outcome.kind === 'pause') break;
  }
  return { outcomes, memory: notes.unsaved };
}

async function post(
  operation: ShowOperation,
  sending: WebhookSending,
  notes: LaneNotes,
  leftMs: number,
): Promise<Outcome> {
  const { itemKey, content, shown, changeId } = operation;
  const intent = notes.post(itemKey);
  if (intent !== undefined && intent.parked !== changeId) return leaveToOperator(operation, intent, notes);
  const granted = await sending.rates.post(webhookChannel, sending.signal, leftMs);
  if (granted === undefined) return { kind: 'unsent' };
  if ('waitMs' in granted) return { kind: 'unsent', afterMs: granted.waitMs };
  try {
    const place = { channel: webhookChannel, threadTs: null, threadKey: null };
    const atMs = sending.webhook.wallNow();
    notes.notePost(itemKey, { ...place, id: changeId, atMs, sinceMs: atMs, shown });
    await notes.save();
    const outcome = classifyWebhookReply(await postByWebhook(sending.webhook, content, sending.signal));
    if (outcome.kind === 'retry') sending.rates.closePosts(webhookChannel, outcome.afterMs ?? 0);
    if (outcome.kind !== 'unknown') notes.postIsSettled(itemKey);
    return outcome.kind === 'delivered' ? { ...outcome, object: blind } : outcome;
  } finally {
    granted.permit.done();
  }
}

const TEST_MS = 20_000;

/** Posts one message that says that it is a test. The message is not removed. */
async function sendTestByWebhook(
  webhook: IncomingWebhook,
  { rates, name, signal }: { readonly rates: SlackRates; readonly name: string; readonly signal: AbortSignal },
): Promise<Outcome> {
  const permit = permitOf(await rates.post(webhookChannel, signal, TEST_MS));
  if ('kind' in permit) return permit.outcome;
  try {
    return classifyWebhookReply(await postByWebhook(webhook, testMessage(name), signal));
  } finally {
    permit.done();
  }
}

/**
 * Returns the outcomes of operations that an earlier attempt may have posted. If an intent says that a post was
 * started, it cannot be looked up, so an operator has to decide. Operations without an intent were not posted and are
 * sent.
 */
function recoverByWebhook(operations: readonly SlackOperation[], lane: Lane): SendResult {
  const notes = new LaneNotes(lane);
  const outcomes = operations.map((operation): Outcome => {
    const intent = notes.post(operation.itemKey);
    return intent === undefined ? { kind: 'unsent' } : leaveToOperator(operation, intent, notes);
  });
  return { outcomes, memory: notes.unsaved };
}

/**
 * Rejects the change, so that it becomes a dead letter and an operator decides. The intent keeps the change's id. By
 * redriving that change, the operator confirms that the message was not posted.
 */
function leaveToOperator({ itemKey, changeId }: SlackOperation, intent: PostIntent, notes: LaneNotes): Outcome {
  notes.notePost(itemKey, { ...intent, parked: changeId });
  const detail =
    'may have been posted, and an incoming webhook cannot look it up: look in the channel, and redrive this if the message is not there';
  return { kind: 'rejected', cause: 'outcome-unknown', detail };
}

/** The codes with which a valid webhook refuses an empty message. */
const refusesEmptyMessage = ['no_text', 'invalid_payload', 'missing_text_or_fallback_or_attachments'];

/**
 * Checks the webhook with an empty message, which posts nothing: a valid webhook refuses it with HTTP 400 and one of
 * Slack's codes. HTTP 400 without such a code proves nothing, because most servers answer an unknown body with it.
 * Never throws. Source: docs.slack.dev, "Sending messages using incoming webhooks", handling errors.
 */
async function checkWebhook(webhook: IncomingWebhook, signal: AbortSignal): Promise<CheckLine[]> {
  const reply = await postByWebhook(webhook, {}, signal);
  if (reply.kind === 'no-answer') return [{ ok: false, text: reply.detail }];
  if (reply.status === 400 && refusesEmptyMessage.includes(reply.text)) {
    return [
      {
        ok: true,
        text: 'the incoming webhook answers; it supports no threads, edits, redactions or look-ups: use "token" for these',
      },
    ];
  }
  if (reply.status === 400) {
    const text =
      'the address answers HTTP 400 without a code of Slack, so it is not an incoming webhook: copy "webhookUrl" from the app\'s Incoming Webhooks page again';
    return [{ ok: false, text }];
  }
  const outcome = classifyWebhookReply(reply);
  const text = 'detail' in outcome ? (outcome.detail ?? '') : '';
  return [{ ok: false, text: outcome.kind === 'delivered' ? `${text} to an empty message: it is not Slack` : text }];
}

/** An incoming webhook. Its address is a secret. */
interface IncomingWebhook {
  readonly url: Secret;
  readonly rest: RestClient;
  /** Unix time in ms. */
  readonly wallNow: () => number;
}

interface WebhookAnswer extends Pick<RestAnswer, 'kind' | 'status'> {
  readonly text: string;
  readonly retryAfterMs: number | undefined;
}

type WebhookReply = WebhookAnswer | NoAnswer;

/** Enough for Slack's answers, which are one word. */
const MAX_ANSWER_CHARS = 200;

/** Posts a body to an incoming webhook. Never throws. */
async function postByWebhook(
  webhook: IncomingWebhook,
  content: MessageContent | Readonly<Record<string, never>>,
  signal: AbortSignal,
): Promise<WebhookReply> {
  if (signal.aborted) return { kind: 'no-answer', mayHaveArrived: false, detail: 'stopped before the call' };
  const headers = { 'content-type': 'application/json; charset=utf-8' };
  const body = JSON.stringify('text' in content ? { ...content, ...webhookPlainly } : content);
  const answer = await webhook.rest.call({ method: 'POST', url: webhook.url.reveal(), headers, body }, signal);
  if (answer.kind === 'no-answer') return answer;
  return {
    ...answer,
    text: (answer.text ?? '').slice(0, MAX_ANSWER_CHARS).trim(),
    retryAfterMs: retryAfterMs(answer.retryAfter, webhook.wallNow()),
  };
}

/** The part of `plainly` that a webhook accepts. */
export const webhookPlainly = { unfurl_links: plainly.unfurl_links, unfurl_media: plainly.unfurl_media };

/**
 * Converts a webhook's answer into an outcome. A webhook posts to one channel, so a problem of the webhook or the
 * channel stops the sink. If Slack may have posted the message, the outcome is `unknown`, because a repeat could post
 * it twice. Source: docs.slack.dev, "Sending messages using incoming webhooks", error types.
 */
function classifyWebhookReply(reply: WebhookReply): Outcome {
  if (reply.kind === 'no-answer') {
    return { kind: reply.mayHaveArrived ? 'unknown' : 'retry', detail: reply.detail };
  }
  const { status, text } = reply;
  const code = /^[a-z][a-z_]{0,60}$/.test(text) ? text : `http_${status}`;
  const detail = `the incoming webhook answered HTTP ${status}${code.startsWith('http_') ? '' : ` ${code}`}`;
  if (status >= 200 && status < 300) {
    return text === 'ok'
      ? { kind: 'delivered', detail }
      : { kind: 'unknown', detail: `${detail} and not ok: the server may not be Slack` };
  }
  if (status === 429) return { kind: 'retry', detail, afterMs: reply.retryAfterMs ?? 30_000 };
  if (status >= 500) return { kind: 'unknown', detail };
  if (status >= 300 && status < 400)
    return { kind: 'retry', detail: `${detail}, and pigeonpost does not follow redirects` };
  switch (code) {
    case 'invalid_token':
    case 'no_service':
    case 'no_service_id':
    case 'no_team':
    case 'no_active_hooks':
    case 'team_disabled':
      return {
        kind: 'pause',
        cause: 'credential',
        detail: `${detail}: create a new webhook and set "webhookUrl" to its address`,
      };
    case 'action_prohibited':
    case 'posting_to_general_channel_denied':
    case 'channel_not_found':
    case 'channel_is_archived':
      return { kind: 'pause', cause: 'destination', detail: `${detail}: check the webhook's channel in Slack` };
    default:
      if (status === 404 || status === 410) return { kind: 'pause', cause: 'gone', detail };
      return { kind: 'rejected', cause: `slack:${code}`, detail };
  }
}
