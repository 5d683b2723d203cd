import { fieldsOf, type Result } from '../sink.js';
import { held, listOf, type Problem, problemOf, withCorrelationId } from './classify.js';
import type { CallBudget } from '../rest/call-budget.js';
import type { HubSpotClient, Reply } from './client.js';

/** One record of a call. */
export interface BatchInput {
  /** As it stands in the call's `inputs`. */
  readonly body: Readonly<Record<string, unknown>>;
  /** What an answer may name it by: an id, an e-mail, the value of a unique property. Compared without case. */
  readonly key: string;
  /** The property that holds the key, where the answer shows it. */
  readonly keyProperty?: string;
}

/** What became of one record. */
export type RecordReply =
  | { readonly kind: 'done'; readonly result: Readonly<Record<string, unknown>> }
  /** There is no such record. */
  | { readonly kind: 'missing' }
  | { readonly kind: 'rejected'; readonly cause: string; readonly detail: string }
  /** As it was for all of its call. `processed`: it may have taken effect. */
  | { readonly kind: 'failed'; readonly result: Result; readonly processed: 'no' | 'maybe' };

export interface BatchCall {
  readonly path: string;
  /** Beside `inputs`. */
  readonly fields?: Readonly<Record<string, unknown>>;
  /** Most records of one call. 100 unless HubSpot's reference says less. */
  readonly most?: number;
  /** Marks each input with `objectWriteTraceId`, by which an answer that shows no key is told apart. */
  readonly traced: boolean;
  /** What it means that an answer says nothing of a record: some versions leave out what they do not find. */
  readonly silence: 'missing' | 'failed';
  /**
   * What a 404 of the whole call is about. `one`: one of the records; `all`: what all of them belong to, so that each is
   * missing. Absent: the endpoint or the kind of record. Batches name the records that they miss, so such a 404 says
   * nothing of any record, and is never taken for one that is gone.
   */
  readonly notFound?: 'one' | 'all';
}

const mostRecords = 100;

/**
 * Makes a call for many records, in as many requests as it takes; answers for each, in their order. A request that is
 * refused for one of its records is cut in two until the record stands alone, so that the others pass: HubSpot does not
 * say which it was. Every call made through here must be harmless when it is repeated after a refusal.
 */
export async function runBatch(
  client: HubSpotClient,
  call: BatchCall,
  inputs: readonly BatchInput[],
  budget: CallBudget,
): Promise<RecordReply[]> {
  const most = call.most ?? mostRecords;
  const chunks: BatchInput[][] = [];
  for (let from = 0; from < inputs.length; from += most) chunks.push(inputs.slice(from, from + most));
  return (await Promise.all(chunks.map((chunk) => runChunk(client, call, chunk, budget)))).flat();
}

async function runChunk(
  client: HubSpotClient,
  call: BatchCall,
  inputs: readonly BatchInput[],
  budget: CallBudget,
): Promise<RecordReply[]> {
  const bodies = inputs.map(({ body }, index) => (call.traced ? { ...body, objectWriteTraceId: String(index) } : body));
  const reply = await client.post(call.path, { ...call.fields, inputs: bodies }, budget);
  if (reply.kind === 'failed') return inputs.map(() => reply);
  if (reply.kind === 'ok') return await settle(client, call, inputs, replyByInput(reply, inputs, call.silence), budget);
  const all = refusedForAll(reply, inputs);
  if (all !== undefined) return await settle(client, call, inputs, all, budget);
  if (reply.status === 404 && call.notFound !== 'one') {
    return inputs.map(() => (call.notFound === 'all' ? { kind: 'missing' } : noEndpoint(reply)));
  }
  if (inputs.length === 1) return [rejectedBy(reply)];
  return await inHalves(client, call, inputs, budget);
}

/** Asks again, in smaller calls, for those that the answer did not tell apart. */
async function settle(
  client: HubSpotClient,
  call: BatchCall,
  inputs: readonly BatchInput[],
  replies: readonly (RecordReply | 'untold')[],
  budget: CallBudget,
): Promise<RecordReply[]> {
  const untold = inputs.filter((_, index) => replies[index] === 'untold');
  const asked = untold.length === 0 ? [] : await inHalves(client, call, untold, budget);
  let next = 0;
  return replies.map((reply) => (reply === 'untold' ? asked[next++]! : reply));
}

async function inHalves(
  client: HubSpotClient,
  call: BatchCall,
  inputs: readonly BatchInput[],
  budget: CallBudget,
): Promise<RecordReply[]> {
  const middle = Math.ceil(inputs.length / 2);
  const first = await runChunk(client, call, inputs.slice(0, middle), budget);
  const rest = inputs.slice(middle);
  if (rest.length === 0) return first;
  // What failed for the account fails for the other half as well: nothing is asked in vain.
  const failed = first.find((reply) => reply.kind === 'failed');
  if (failed?.kind === 'failed' && failed.result.kind !== 'rejected') {
    return [
      ...first,
      ...rest.map((): RecordReply => ({ kind: 'failed', result: { kind: 'unsent' }, processed: 'no' })),
    ];
  }
  return [...first, ...(await runChunk(client, call, rest, budget))];
}

/** A property that does not exist or cannot be written is refused whatever its value: no need to look for the record. */
const aboutProperties = new Set(['PROPERTY_DOESNT_EXIST', 'READ_ONLY_VALUE', 'READ_ONLY_PROPERTY']);

function refusedForAll(
  reply: Extract<Reply, { kind: 'refused' }>,
  inputs: readonly BatchInput[],
): (RecordReply | 'untold')[] | undefined {
  const { code, properties } = reply.problem;
  if (!aboutProperties.has(code) || properties.length === 0) return undefined;
  const holds = inputs.map(({ body }) => properties.some((name) => Object.hasOwn(fieldsOf(body.properties), name)));
  return holds.includes(true) ? holds.map((held) => (held ? rejectedBy(reply) : 'untold')) : undefined;
}

function rejectedBy({ status, problem, correlationId }: Extract<Reply, { kind: 'refused' }>): RecordReply {
  if (status === 404 || problem.category === 'OBJECT_NOT_FOUND') return { kind: 'missing' };
  return rejected(problem, status, correlationId);
}

function noEndpoint({ correlationId }: Extract<Reply, { kind: 'refused' }>): RecordReply {
  const detail = 'HubSpot has no such endpoint or kind of record (HTTP 404): check "object" and "apiVersion"';
  return { kind: 'failed', processed: 'no', result: held(withCorrelationId(detail, correlationId)) };
}

/** What HubSpot says of a value that a rule of the account requires. */
const required: Readonly<Record<string, string>> = {
  MISSING_REQUIRED_PROPERTY: 'The account requires it when a record is created',
  MISSING_CONDITIONAL_REQUIRED_PROPERTY: 'A conditional rule of the account requires it',
};

function rejected(problem: Problem, status: number | undefined, correlationId: string | undefined): RecordReply {
  const what = problem.code || problem.category || (status === undefined ? 'error' : `http-${status}`);
  const where = problem.properties.join(', ');
  return {
    kind: 'rejected',
    cause: ['hubspot', what, ...(where === '' ? [] : [where.replaceAll(', ', '+')])].join(':'),
    detail: withCorrelationId(
      `HubSpot refused the record: ${what}${where === '' ? '' : ` for ${where}`}${ruleOf(problem.code)}`,
      correlationId,
    ),
  };
}

function ruleOf(code: string): string {
  return code in required ? `. ${required[code]}: map a value for it, or change the rule in HubSpot` : '';
}

/** Reads what an answer, 200 and 207 alike, says of each record. `untold`: it says nothing that can be told apart. */
function replyByInput(
  { body }: Extract<Reply, { kind: 'ok' }>,
  inputs: readonly BatchInput[],
  silence: BatchCall['silence'],
): (RecordReply | 'untold')[] {
  const replies: (RecordReply | undefined)[] = inputs.map(() => undefined);
  for (const found of listOf(body.results).map(fieldsOf)) {
    // Not the first alone: two addresses of one contact are read as one record.
    inputs.forEach((input, at) => {
      if (isResultOf(found, input, at)) replies[at] ??= { kind: 'done', result: found };
    });
  }
  const untoldErrors: RecordReply[] = [];
  for (const error of listOf(body.errors).map(fieldsOf)) {
    const reply = replyOfError(error);
    const named = inputs.flatMap((input, at) => (replies[at] === undefined && isErrorOf(error, input, at) ? [at] : []));
    for (const at of named) replies[at] = reply;
    if (named.length === 0) untoldErrors.push(reply);
  }
  const open = replies.flatMap((reply, at) => (reply === undefined ? [at] : []));
  if (open.length === 1 && untoldErrors.length > 0) replies[open[0]!] = untoldErrors[0]!;
  const nothingSaid: RecordReply =
    silence === 'missing' && Array.isArray(body.results)
      ? { kind: 'missing' }
      : {
          kind: 'failed',
          processed: 'maybe',
          result: { kind: 'retry', detail: 'HubSpot answered without saying what became of the record' },
        };
  // An error for each that is open: which is whose shows when they are asked in smaller calls.
  const each = open.length > 1 && untoldErrors.length >= open.length;
  return replies.map((reply) => reply ?? (each ? 'untold' : nothingSaid));
}

function isResultOf(found: Readonly<Record<string, unknown>>, input: BatchInput, at: number): boolean {
  if (found.objectWriteTraceId !== undefined) return found.objectWriteTraceId === String(at);
  const shown = [
    ...(input.keyProperty === undefined ? [found.id, found.vid] : [fieldsOf(found.properties)[input.keyProperty]]),
    ...(input.keyProperty === 'email' ? [found.email, ...secondaryEmails(found)] : []),
  ];
  return shown.some((value) => sameKey(value, input.key));
}

/** A contact is found by each of its addresses. */
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

/** Categories of errors that are about the moment, not about the record. */
const passing = new Set(['RATE_LIMITS', 'RATE_LIMIT', 'INTERNAL_ERROR', 'TIMEOUT', 'LOCKED']);

function replyOfError(error: Readonly<Record<string, unknown>>): RecordReply {
  const problem = problemOf(error);
  const missing = ['OBJECT_NOT_FOUND', 'NOT_FOUND', 'CONTACT_NOT_FOUND'];
  if (missing.includes(problem.category) || missing.includes(problem.code)) return { kind: 'missing' };
  if (passing.has(problem.category)) {
    return { kind: 'failed', processed: 'no', result: { kind: 'retry', detail: `HubSpot: ${problem.category}` } };
  }
  return rejected(problem, undefined, undefined);
}
