import { chunksOf } from '../../base/grouping.js';
import type { Failed } from '../records/reply.js';
import { sendInParts } from '../records/send-in-parts.js';
import { fieldsOf } from '../sink.js';
import { held, listOf, type Problem, problemOf, type Reply, withCorrelationId } from './classify.js';
import type { CallBudget } from '../rest/rest-client.js';
import type { HubSpotClient } from './client.js';
import type { EventTimes } from './event-times.js';

/** One record of a batch call. */
export interface BatchInput {
  /** The input as the call expects it. */
  readonly body: Readonly<Record<string, unknown>>;
  /**
   * The key by which HubSpot's answer identifies the record: an id, an e-mail address, or the value of a unique
   * property. It is compared without regard to case.
   */
  readonly key: string;
  /** The property whose value is the key. Absent if the key is the record's id. */
  readonly keyProperty?: string | undefined;
}

/** The result for one record. */
export type RecordReply =
  | { readonly kind: 'done'; readonly result: Readonly<Record<string, unknown>> }
  /** The record does not exist. */
  | { readonly kind: 'missing' }
  | { readonly kind: 'rejected'; readonly cause: string; readonly detail: string }
  | Failed;

/** The parts that the steps of one `send` share. */
export interface Sending {
  readonly client: HubSpotClient;
  readonly times: EventTimes;
  readonly budget: CallBudget;
  /** Unix time in ms. */
  readonly now: () => number;
}

interface BatchCall {
  readonly path: string;
  /** The fields of the call's body besides `inputs`. */
  readonly fields?: Readonly<Record<string, unknown>>;
  /** Maximum number of records in one call; 100 unless HubSpot's reference says less. */
  readonly max?: number;
  /** Adds `objectWriteTraceId` to each input, so that an answer without a key can be matched. */
  readonly traced?: boolean;
  /**
   * How to interpret an answer that does not mention a record; `failed` by default. Some versions of the API omit
   * records that they do not find.
   */
  readonly silence?: 'missing' | 'failed';
  /**
   * How to interpret a 404 for the whole call. `one`: one of the records is missing. `all`: the parent of all records
   * is missing, so every record is missing as well. Absent: HubSpot has no such endpoint or kind of record. That is the
   * usual meaning, because a batch call reports each missing record in its body.
   */
  readonly notFound?: 'one' | 'all';
}

const MAX_RECORDS = 100;
/** Maximum number of records in a read that includes the history of properties. Source: HubSpot, "Contacts", "Read". */
const MAX_WITH_HISTORY = 50;

/** The properties that a read returns. */
interface Wanted {
  readonly properties?: readonly string[];
  readonly withHistory?: readonly string[];
  /** The unique property whose values are the keys. Absent: the keys are ids. */
  readonly idProperty?: string | undefined;
}

/** Reads records. Returns one reply per key, in their order. Equal keys share one read. */
export async function readRecords(
  sending: Sending,
  objectType: string,
  keys: readonly string[],
  { properties = [], withHistory = [], idProperty }: Wanted = {},
): Promise<RecordReply[]> {
  const unique = [...new Set(keys)];
  const own = idProperty === undefined ? [] : [idProperty];
  if (idProperty === 'email') own.push('hs_additional_emails');
  const call: BatchCall = {
    path: sending.client.path('objects', `${objectType}/batch/read`),
    fields: {
      properties: [...new Set([...properties, ...own])],
      propertiesWithHistory: withHistory, // HubSpot's specification requires both lists, even if they are empty
      ...(idProperty !== undefined && { idProperty }),
    },
    max: withHistory.length > 0 ? MAX_WITH_HISTORY : MAX_RECORDS,
    silence: 'missing',
  };
  const inputs = unique.map((key) => ({ body: { id: key }, key, keyProperty: idProperty }));
  const replies = await runBatch(sending, call, inputs);
  return keys.map((key) => replies[unique.indexOf(key)]!);
}

/** Writes records, and returns one reply per input, in their order. */
export async function writeRecords(
  sending: Sending,
  objectType: string,
  how: 'create' | 'update' | 'upsert',
  inputs: readonly BatchInput[],
): Promise<RecordReply[]> {
  return await runBatch(
    sending,
    { path: sending.client.path('objects', `${objectType}/batch/${how}`), traced: true },
    inputs,
  );
}

/**
 * Makes a call for many records, in as many requests as necessary, and returns one reply per record, in the order of
 * `inputs`. If HubSpot refuses a request, it does not say which record is at fault. The request is therefore split in
 * halves again and again, until the faulty record is in a request of its own and the others pass. Every call made here
 * must be harmless when repeated after a refusal.
 */
export async function runBatch(
  sending: Sending,
  call: BatchCall,
  inputs: readonly BatchInput[],
): Promise<RecordReply[]> {
  const chunks = chunksOf(inputs, call.max ?? MAX_RECORDS);
  return (await Promise.all(chunks.map((chunk) => runChunk(sending, call, chunk)))).flat();
}

async function runChunk(sending: Sending, call: BatchCall, inputs: readonly BatchInput[]): Promise<RecordReply[]> {
  const replies = new Map<BatchInput, RecordReply>();
  await sendInParts([inputs], async (part) => {
    const bodies = part.map(({ body }, index) => (call.traced ? { ...body, objectWriteTraceId: String(index) } : body));
    const reply = await sending.client.call('POST', call.path, { ...call.fields, inputs: bodies }, sending.budget);
    if (reply.kind === 'failed') {
      for (const input of part) replies.set(input, reply);
      return 'over';
    }
    const found = reply.kind === 'ok' ? replyByInput(reply, part, call.silence) : refusedByInput(reply, part, call);
    part.forEach((input, at) => {
      if (found[at] !== 'unmatched') replies.set(input, found[at]!);
    });
    // The call is repeated, in smaller parts, for the records to which no result could be matched.
    const again = part.filter((_, at) => found[at] === 'unmatched');
    return { accepted: reply.kind === 'ok', again };
  });
  return inputs.map((input) => replies.get(input) ?? unsent);
}

/** The reply for a record that was not sent, because the account or HubSpot failed, or HubSpot refuses everything. */
const unsent: RecordReply = { kind: 'failed', processed: 'no', result: { kind: 'unsent' } };

/**
 * Codes of errors that concern a property and not its value. Every record with that property is at fault, so the
 * request need not be split.
 */
const aboutProperties = new Set(['PROPERTY_DOESNT_EXIST', 'READ_ONLY_VALUE', 'READ_ONLY_PROPERTY']);

/** Reads the result of each record from a refusal of the whole call. */
function refusedByInput(
  reply: Extract<Reply, { kind: 'refused' }>,
  inputs: readonly BatchInput[],
  { notFound: whole }: BatchCall,
): (RecordReply | 'unmatched')[] {
  const { code, properties } = reply.problem;
  if (aboutProperties.has(code)) {
    const holds = inputs.map(({ body }) => properties.some((name) => Object.hasOwn(fieldsOf(body.properties), name)));
    if (holds.includes(true)) return holds.map((isAtFault) => (isAtFault ? rejectedBy(reply) : 'unmatched'));
  }
  if (reply.status === 404 && whole !== 'one') {
    return inputs.map(() => (whole === 'all' ? { kind: 'missing' } : noEndpoint(reply)));
  }
  return inputs.map(() => (inputs.length === 1 ? rejectedBy(reply) : 'unmatched'));
}

/** The result of a write or an association whose record HubSpot does not have. */
export const notFound = {
  kind: 'rejected',
  cause: 'hubspot:not-found',
  detail: 'HubSpot has no such record',
  about: 'record',
} as const;

function rejectedBy({ status, problem, correlationId }: Extract<Reply, { kind: 'refused' }>): RecordReply {
  if (status === 404 || problem.category === 'OBJECT_NOT_FOUND') return { kind: 'missing' };
  return rejected(problem, `http-${status}`, correlationId);
}

function noEndpoint({ correlationId }: Extract<Reply, { kind: 'refused' }>): RecordReply {
  const detail = 'HubSpot has no such endpoint or kind of record (HTTP 404): check "object" and "apiVersion"';
  return { kind: 'failed', processed: 'no', result: held(detail, correlationId) };
}

/** Advice for the codes with which HubSpot reports that a required value is missing. */
const advice: Readonly<Record<string, string>> = {
  MISSING_REQUIRED_PROPERTY: 'The account requires it when a record is created',
  MISSING_CONDITIONAL_REQUIRED_PROPERTY: 'A conditional rule of the account requires it',
};

function rejected(problem: Problem, otherwise: string, correlationId: string | undefined): RecordReply {
  const { code, category, properties } = problem;
  const what = code || category || otherwise;
  const where = properties.length === 0 ? '' : ` for ${properties.join(', ')}`;
  const rule = code in advice ? `. ${advice[code]}: map a value for it, or change the rule in HubSpot` : '';
  return {
    kind: 'rejected',
    cause: ['hubspot', what, ...(properties.length === 0 ? [] : [properties.join('+')])].join(':'),
    detail: withCorrelationId(`HubSpot refused the record: ${what}${where}${rule}`, correlationId),
  };
}

/**
 * Reads the result of each record from an answer with HTTP 200 or 207. `unmatched`: the answer has a result, but does
 * not say that it belongs to this record.
 */
function replyByInput(
  { body }: Extract<Reply, { kind: 'ok' }>,
  inputs: readonly BatchInput[],
  silence: BatchCall['silence'] = 'failed',
): (RecordReply | 'unmatched')[] {
  const replies: (RecordReply | undefined)[] = inputs.map(() => undefined);
  for (const found of listOf(body.results).map(fieldsOf)) {
    // Several inputs can have the same result: two e-mail addresses of one contact.
    inputs.forEach((input, at) => {
      if (isResultOf(found, input, at)) replies[at] ??= { kind: 'done', result: found };
    });
  }
  const unmatchedErrors: RecordReply[] = [];
  for (const error of listOf(body.errors).map(fieldsOf)) {
    const reply = replyOfError(error);
    const named = inputs.flatMap((input, at) => (replies[at] === undefined && isErrorOf(error, input, at) ? [at] : []));
    for (const at of named) replies[at] = reply;
    if (named.length === 0) unmatchedErrors.push(reply);
  }
  const open = replies.flatMap((reply, at) => (reply === undefined ? [at] : []));
  if (open.length === 1 && unmatchedErrors.length > 0) replies[open[0]!] = unmatchedErrors[0]!;
  const nothingSaid: RecordReply =
    silence === 'missing' && Array.isArray(body.results)
      ? { kind: 'missing' }
      : {
          kind: 'failed',
          processed: 'maybe',
          result: { kind: 'retry', detail: 'HubSpot answered without a result for the record' },
        };
  // If the answer has an error for each record without a result, smaller calls show which error belongs to which
  // record.
  const each = open.length > 1 && unmatchedErrors.length >= open.length;
  return replies.map((reply) => reply ?? (each ? 'unmatched' : nothingSaid));
}

function isResultOf(found: Readonly<Record<string, unknown>>, input: BatchInput, at: number): boolean {
  if (found.objectWriteTraceId !== undefined) return found.objectWriteTraceId === String(at);
  const shown = [
    ...(input.keyProperty === undefined ? [found.id, found.vid] : [fieldsOf(found.properties)[input.keyProperty]]),
    ...(input.keyProperty === 'email' ? [found.email, ...secondaryEmails(found)] : []),
  ];
  return shown.some((value) => sameKey(value, input.key));
}

/** Returns a contact's other e-mail addresses. HubSpot finds the contact by each of them. */
function secondaryEmails(found: Readonly<Record<string, unknown>>): string[] {
  const more = fieldsOf(found.properties).hs_additional_emails;
  return typeof more === 'string' ? more.split(';') : [];
}

function isErrorOf(error: Readonly<Record<string, unknown>>, input: BatchInput, at: number): boolean {
  const context = fieldsOf(error.context);
  const traces = valuesOf(context.objectWriteTraceId);
  if (traces.length > 0) return traces.includes(String(at));
  const named = [context.ids, context.id, context.email, context.emails, context.vid].flatMap(valuesOf);
  return [...named, error.id].some((value) => sameKey(value, input.key));
}

function valuesOf(found: unknown): readonly unknown[] {
  return Array.isArray(found) ? found : found === undefined ? [] : [found];
}

function sameKey(value: unknown, key: string): boolean {
  return (typeof value === 'string' || typeof value === 'number') && String(value).toLowerCase() === key.toLowerCase();
}

/** Categories of temporary errors that the record did not cause. */
const passing = new Set(['RATE_LIMITS', 'RATE_LIMIT', 'INTERNAL_ERROR', 'TIMEOUT', 'LOCKED']);

function replyOfError(error: Readonly<Record<string, unknown>>): RecordReply {
  const problem = problemOf(error);
  const missing = ['OBJECT_NOT_FOUND', 'NOT_FOUND', 'CONTACT_NOT_FOUND'];
  if (missing.includes(problem.category) || missing.includes(problem.code)) return { kind: 'missing' };
  if (passing.has(problem.category)) {
    return { kind: 'failed', processed: 'no', result: { kind: 'retry', detail: `HubSpot: ${problem.category}` } };
  }
  return rejected(problem, 'error', undefined);
}
