import { chunksOf } from '../../base/chunks-of.js';
import { fieldsOf, type Result, type Fields, type Outcome } from '../sink.js';
import { held, listOf, type Problem, problemOf, withCorrelationId, isHeld } from './classify.js';
import type { CallBudget } from '../rest/rest-client.js';
import type { HubSpotClient, Reply } from './client.js';
import type { HubSpotOperation, Step } from './operation.js';

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
  readonly keyProperty?: string;
}

/** The result for one record. */
export type RecordReply =
  | { readonly kind: 'done'; readonly result: Readonly<Record<string, unknown>> }
  /** The record does not exist. */
  | { readonly kind: 'missing' }
  | { readonly kind: 'rejected'; readonly cause: string; readonly detail: string }
  /** The whole call failed. `processed` says whether it may have taken effect nevertheless. */
  | { readonly kind: 'failed'; readonly result: Result; readonly processed: 'no' | 'maybe' };

export interface BatchCall {
  readonly path: string;
  /** The fields of the call's body besides `inputs`. */
  readonly fields?: Readonly<Record<string, unknown>>;
  /** Maximum number of records in one call; 100 unless HubSpot's reference says less. */
  readonly max?: number;
  /** Adds `objectWriteTraceId` to each input, so that an answer without a key can be matched. */
  readonly traced: boolean;
  /**
   * How to interpret an answer that does not mention a record. Some versions of the API omit records that they do not
   * find.
   */
  readonly silence: 'missing' | 'failed';
  /**
   * How to interpret a 404 for the whole call. `one`: one of the records is missing. `all`: the parent of all records
   * is missing, so every record is missing as well. Absent: HubSpot has no such endpoint or kind of record. That is the
   * usual meaning, because a batch call reports each missing record in its body.
   */
  readonly notFound?: 'one' | 'all';
}

const MAX_RECORDS = 100;

/**
 * Makes a call for many records, in as many requests as necessary, and returns one reply per record, in the order of
 * `inputs`. If HubSpot refuses a request, it does not say which record is at fault. The request is therefore split in
 * halves again and again, until the faulty record is in a request of its own and the others pass. Every call made here
 * must be harmless when repeated after a refusal.
 */
export async function runBatch(
  client: HubSpotClient,
  call: BatchCall,
  inputs: readonly BatchInput[],
  budget: CallBudget,
): Promise<RecordReply[]> {
  const chunks = chunksOf(inputs, call.max ?? MAX_RECORDS);
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
  const inHalvesOf = (part: readonly BatchInput[]): Promise<RecordReply[]> => inHalves(client, call, part, budget);
  if (reply.kind === 'ok') return await settle(replyByInput(reply, inputs, call.silence), inputs, inHalvesOf);
  const all = refusedForAll(reply, inputs);
  if (all !== undefined) return await settle(all, inputs, inHalvesOf);
  if (reply.status === 404 && call.notFound !== 'one') {
    return inputs.map(() => (call.notFound === 'all' ? { kind: 'missing' } : noEndpoint(reply)));
  }
  if (inputs.length === 1) return [rejectedBy(reply)];
  return await inHalvesOf(inputs);
}

/** Repeats the call, in smaller parts, for the records to which no result could be matched. */
async function settle(
  replies: readonly (RecordReply | 'unmatched')[],
  inputs: readonly BatchInput[],
  repeat: (inputs: readonly BatchInput[]) => Promise<RecordReply[]>,
): Promise<RecordReply[]> {
  const unmatched = inputs.filter((_, index) => replies[index] === 'unmatched');
  const asked = unmatched.length === 0 ? [] : await repeat(unmatched);
  let next = 0;
  return replies.map((reply) => (reply === 'unmatched' ? asked[next++]! : reply));
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
  // If the account or HubSpot failed, the other half would fail too, so it is not sent.
  const failed = first.find((reply) => reply.kind === 'failed');
  if (failed?.kind === 'failed' && failed.result.kind !== 'rejected') {
    return [
      ...first,
      ...rest.map((): RecordReply => ({ kind: 'failed', result: { kind: 'unsent' }, processed: 'no' })),
    ];
  }
  return [...first, ...(await runChunk(client, call, rest, budget))];
}

/**
 * Codes of errors that concern a property and not its value. Every record with that property is at fault, so the
 * request need not be split.
 */
const aboutProperties = new Set(['PROPERTY_DOESNT_EXIST', 'READ_ONLY_VALUE', 'READ_ONLY_PROPERTY']);

function refusedForAll(
  reply: Extract<Reply, { kind: 'refused' }>,
  inputs: readonly BatchInput[],
): (RecordReply | 'unmatched')[] | undefined {
  const { code, properties } = reply.problem;
  if (!aboutProperties.has(code) || properties.length === 0) return undefined;
  const holds = inputs.map(({ body }) => properties.some((name) => Object.hasOwn(fieldsOf(body.properties), name)));
  return holds.includes(true) ? holds.map((held) => (held ? rejectedBy(reply) : 'unmatched')) : undefined;
}

function rejectedBy({ status, problem, correlationId }: Extract<Reply, { kind: 'refused' }>): RecordReply {
  if (status === 404 || problem.category === 'OBJECT_NOT_FOUND') return { kind: 'missing' };
  return rejected(problem, status, correlationId);
}

function noEndpoint({ correlationId }: Extract<Reply, { kind: 'refused' }>): RecordReply {
  const detail = 'HubSpot has no such endpoint or kind of record (HTTP 404): check "object" and "apiVersion"';
  return { kind: 'failed', processed: 'no', result: held(withCorrelationId(detail, correlationId)) };
}

/** Sentences for the codes with which HubSpot reports that a required value is missing. */
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

/**
 * Reads the result of each record from an answer with HTTP 200 or 207. `unmatched`: the answer has a result, but does
 * not say that it belongs to this record.
 */
function replyByInput(
  { body }: Extract<Reply, { kind: 'ok' }>,
  inputs: readonly BatchInput[],
  silence: BatchCall['silence'],
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
  return rejected(problem, undefined, undefined);
}

/** An operation in progress. It collects the results of the operation's steps, and the result that ended it, if any. */
export class Task {
  readonly #made: Record<string, Fields | null> = {};
  readonly #details: string[] = [];
  /**
   * The entries of `records` that are held back because HubSpot refuses all records of their kind, each with the result
   * that says why.
   */
  readonly #held = new Map<string, Result>();
  #end: Result | undefined;

  constructor(readonly operation: HubSpotOperation) {}

  /**
   * Whether the step of this entry may continue. A failed step ends the operation, and later steps wait for the next
   * attempt. An entry that is held back delays no other entry.
   */
  isOpen(record: string): boolean {
    return this.#end === undefined && !this.#held.has(record);
  }

  /** Returns the open steps of one kind. */
  steps<Kind extends Step['kind']>(kind: Kind): Extract<Step, { kind: Kind }>[] {
    return this.operation.steps.filter(
      (step): step is Extract<Step, { kind: Kind }> => step.kind === kind && this.isOpen(step.record),
    );
  }

  /** Sets an entry's part of the item's object. Null: HubSpot has nothing of this entry any more. */
  made(record: string, object: Fields | null): void {
    this.#made[record] = object;
  }

  /** Returns the id of the record that an entry created or found in this attempt. */
  madeId(record: string): string | undefined {
    const id = this.#made[record]?.id;
    return typeof id === 'string' ? id : undefined;
  }

  /** Returns an entry's part of the item's object, as this attempt or an earlier one left it. */
  has(record: string): Fields {
    const before = this.operation.object?.[record];
    return this.#made[record] ?? (typeof before === 'object' && before !== null ? (before as Fields) : {});
  }

  /** Adds a detail for the operator. */
  note(detail: string): void {
    this.#details.push(detail);
  }

  /**
   * Ends the operation with this result. If the result holds back the entry, ends only the entry's steps.
   * @param record the step's entry of `records`
   */
  end(result: Result, record: string): void {
    if (!isHeld(result)) this.#end ??= result;
    else if (!this.#held.has(record)) this.#held.set(record, result);
  }

  /**
   * Ends the operation with a record's reply. A caller for which `missing` is not an error must handle that reply
   * itself.
   */
  endBy(reply: Exclude<RecordReply, { kind: 'done' }>, record: string): void {
    switch (reply.kind) {
      case 'missing':
        return this.end(
          { kind: 'rejected', cause: 'hubspot:not-found', detail: 'HubSpot has no such record', about: 'record' },
          record,
        );
      case 'rejected':
        return this.end(reply, record);
      case 'failed':
        return this.end(reply.result, record);
    }
  }

  outcome(): Outcome {
    const held = this.#end === undefined ? this.#held.values().next().value : undefined;
    const result: Result = this.#end ??
      held ?? {
        kind: 'delivered',
        detail: this.#details.length === 0 ? 'HubSpot accepted it' : this.#details.join('; '),
      };
    const before = this.operation.object ?? {};
    const wasHeld = Object.values(before).some((made) => fieldsOf(made).heldAt !== undefined);
    if (Object.keys(this.#made).length === 0 && (held !== undefined || !wasHeld)) return result;
    const object = Object.fromEntries(
      Object.entries({ ...before, ...this.#made })
        .filter(([, made]) => made !== null)
        .map(([record, made]) => [record, this.#marked(record, fieldsOf(made), held !== undefined)]),
    );
    return { ...result, object: Object.keys(object).length === 0 ? null : object };
  }

  /**
   * While one entry is held back, marks the results of the other entries with this change's id. The next attempt, ten
   * minutes later, then skips these entries and does not overwrite edits that people have made since.
   */
  #marked(record: string, { heldAt, ...made }: Fields, isHeldBack: boolean): Fields {
    const { changeId } = this.operation;
    const isDone = this.#made[record] != null ? !this.#held.has(record) : heldAt === changeId;
    return isHeldBack && isDone ? { ...made, heldAt: changeId } : made;
  }
}
