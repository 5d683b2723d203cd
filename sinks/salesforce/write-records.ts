import { z } from 'zod';
import { chunksOf } from '../../base/grouping.js';
import type { Value } from '../records/decide-values.js';
import type { WriteReply } from '../records/reply.js';
import { type PartReply, sendInParts } from '../records/send-in-parts.js';
import type { Job } from '../records/job.js';
import { CallFailure, CallsEnded, type FailedResult } from './operation.js';
import type { Call, CallAnswer, SalesforceClient } from './client.js';
import type { Org } from './object-fields.js';
import { classifyRecordErrors, saidErrors, type SaidError } from './classify.js';

/** Maximum number of records in one call. Source: Salesforce, REST API Developer Guide, "sObject Collections". */
export const MAX_RECORDS = 200;

export type FieldValues = Readonly<Record<string, Value>>;

/** The kind of write that one call makes to all its records, which have the same object. */
export type Write =
  | { readonly how: 'create' | 'update'; readonly type: string }
  | { readonly how: 'upsert'; readonly type: string; readonly keyField: string };

/** The result for one record. */
export type Written =
  | { readonly kind: 'written'; readonly id: string; readonly created: boolean; readonly atMs: number }
  | { readonly kind: 'refused'; readonly errors: readonly SaidError[]; readonly requestId?: string | undefined }
  /**
   * The call failed, and the record may or may not have been written. A repeat is harmless, unless a `create` may still
   * be carried out (`mayBeOpen`): a search then does not find its record yet.
   */
  | { readonly kind: 'failed'; readonly result: FailedResult; readonly mayBeOpen?: boolean }
  | { readonly kind: 'not-begun' };

/** Returns the result for a record in the form of the record engine. @param type the record's object */
export function replyOf(written: Written, type: string): WriteReply {
  switch (written.kind) {
    case 'written':
      return { kind: 'written', id: written.id, isNew: written.created, atMs: written.atMs };
    case 'not-begun':
      return { kind: 'failed', processed: 'no', result: { kind: 'unsent' } };
    case 'failed':
      return { kind: 'failed', processed: written.mayBeOpen === true ? 'maybe' : 'no', result: written.result };
    case 'refused': {
      const failure = classifyRecordErrors(written.errors, type, written.requestId);
      if (failure.kind === 'gone' || failure.kind === 'converted') return { kind: 'missing' };
      return { kind: 'refused', result: failure.result };
    }
  }
}

interface Effects {
  readonly written: (written: Extract<Written, { kind: 'written' }>) => void;
  /** Called if the record no longer exists, or if it is a lead that was converted. */
  readonly lost: (why: 'gone' | 'converted') => void;
  /** Called if Salesforce already has such a record. Absent: the job gets the result of the refusal. */
  readonly duplicate?: () => void;
}

/**
 * Settles a job with the result for its record. If the record was written or is lost, `effects` decides. Otherwise, the
 * job gets the result of the failure or the refusal, or `unsent` if the call was not made.
 * @param object the name of the record's object, for the detail of a refusal
 */
export function settle(job: Pick<Job, 'end'>, written: Written, object: string, effects: Effects): void {
  switch (written.kind) {
    case 'written':
      effects.written(written);
      return;
    case 'failed':
      job.end(written.result);
      return;
    case 'refused': {
      const failure = classifyRecordErrors(written.errors, object, written.requestId);
      if (failure.kind === 'gone' || failure.kind === 'converted') effects.lost(failure.kind);
      else if (failure.kind === 'duplicate' && effects.duplicate !== undefined) effects.duplicate();
      else job.end(failure.result);
      return;
    }
    case 'not-begun':
      job.end({ kind: 'unsent' });
  }
}

/**
 * Writes records, up to 200 in one call. Salesforce accepts or refuses each record separately (`allOrNone: false`). A
 * call must not contain a record or an external id twice, because Salesforce would refuse both. One value that
 * Salesforce cannot parse makes it refuse the whole call. The call is then split in halves until the faulty record is
 * in a call of its own.
 * @returns the result of each record, in their order
 */
export async function writeRecords(org: Org, write: Write, records: readonly FieldValues[]): Promise<Written[]> {
  const written: Written[] = records.map(() => ({ kind: 'not-begun' }));
  let refused: CallAnswer | undefined;
  let failure: CallFailure | undefined;
  const send = async (part: readonly number[]): Promise<PartReply<number>> => {
    const settle = (results: readonly Written[]): void => part.forEach((at, index) => (written[at] = results[index]!));
    try {
      const call = callOf(
        write,
        part.map((at) => records[at]!),
        org.client.saving,
      );
      const answer = await org.client.call(call, org.budget);
      if (answer.refused === null) settle(writtenOf(answer, part.length));
      else if (part.length === 1) settle([refusal(answer)]);
      else {
        refused = answer;
        return { accepted: false, again: part };
      }
      return { accepted: answer.refused === null, again: [] };
    } catch (error) {
      if (error instanceof CallsEnded) return 'over';
      if (!(error instanceof CallFailure)) throw error;
      failure = error;
      settle(part.map(() => ({ kind: 'failed', result: error.result, mayBeOpen: error.mayBeOpen })));
      return 'over';
    }
  };
  const { left, refusesAll } = await sendInParts(chunksOf([...records.keys()], MAX_RECORDS), send);
  for (const at of left) {
    if (written[at]!.kind !== 'not-begun') continue;
    // The failure applies to the whole call, so the following calls would fail too.
    if (failure !== undefined) written[at] = { kind: 'failed', result: failure.result };
    else if (refusesAll) written[at] = { kind: 'failed', result: tooManyRefusals(refused) };
  }
  return written;
}

/**
 * Deletes records by id, up to 200 in one call. The result of a record that no longer exists is `refused`; the caller
 * counts it as deleted.
 */
export async function deleteRecords(org: Org, ids: readonly string[]): Promise<Written[]> {
  const written: Written[] = [];
  for (const part of chunksOf(ids, MAX_RECORDS)) {
    const path = `composite/sobjects?ids=${part.map(encodeURIComponent).join(',')}&allOrNone=false`;
    try {
      const answer = await org.client.call({ method: 'DELETE', path }, org.budget);
      if (answer.refused === null) written.push(...writtenOf(answer, part.length));
      else written.push(...part.map(() => refusal(answer)));
    } catch (error) {
      if (error instanceof CallsEnded) written.push(...part.map(() => ({ kind: 'not-begun' }) as const));
      else if (error instanceof CallFailure) {
        const { result } = error;
        written.push(...part.map(() => ({ kind: 'failed', result }) as const));
      } else throw error;
    }
  }
  return written;
}

function callOf(write: Write, records: readonly FieldValues[], saving: SalesforceClient['saving']): Call {
  return { ...writeCall(write, records), headers: saveHeaders(write, saving) };
}

/** Returns a call that writes records, without its headers. */
export function writeCall(write: Write, records: readonly FieldValues[]): Pick<Call, 'method' | 'path' | 'body'> {
  const path = write.how === 'upsert' ? `composite/sobjects/${write.type}/${write.keyField}` : 'composite/sobjects';
  return {
    method: write.how === 'create' ? 'POST' : 'PATCH',
    path,
    body: { allOrNone: false, records: records.map((record) => ({ attributes: { type: write.type }, ...record })) },
  };
}

/**
 * Returns the headers that control the org's rules. Without `sforce-auto-assign: FALSE`, Salesforce runs the active
 * assignment rule each time a lead is saved, so each change would take the lead away from its owner. This also applies
 * to other records, because saving them may save leads. Without `sforce-duplicate-rule-header`, Salesforce refuses a
 * record if a duplicate rule alerts. Source: Salesforce, REST API Developer Guide, "Assignment Rule Header" and
 * "Duplicate Rule Header".
 */
function saveHeaders({ how, type }: Write, { assignmentRule, duplicateAlerts }: SalesforceClient['saving']) {
  const rule = { active: 'TRUE', none: 'FALSE' }[assignmentRule] ?? assignmentRule;
  return {
    'sforce-auto-assign': type === 'Lead' && how !== 'update' ? rule : 'FALSE',
    ...(duplicateAlerts === 'save' && { 'sforce-duplicate-rule-header': 'allowSave=true' }),
  };
}

const resultSchema = z.array(
  z.object({
    id: z.string().nullish(),
    success: z.boolean(),
    created: z.boolean().optional(),
    errors: z.array(z.unknown()).default([]),
  }),
);

function writtenOf({ body, requestId, answeredAtMs }: CallAnswer, count: number): Written[] {
  const results = resultSchema.safeParse(body);
  if (!results.success || results.data.length !== count) {
    const detail = 'Salesforce did not report a result for each record';
    return Array.from({ length: count }, () => ({ kind: 'failed', result: { kind: 'retry', detail } }));
  }
  return results.data.map(({ id, success, created, errors }) =>
    success && typeof id === 'string'
      ? { kind: 'written', id, created: created ?? false, atMs: answeredAtMs }
      : { kind: 'refused', errors: saidErrors(errors), requestId },
  );
}

function tooManyRefusals(answer: CallAnswer | undefined): FailedResult {
  const detail = `Salesforce refuses most calls as a whole (${answer?.refused?.code}): run "pigeonpost check" to find the reason`;
  return { kind: 'retry', detail };
}

/** Returns the refusal of a call that had only one record. */
function refusal({ body, refused, requestId }: CallAnswer): Written {
  const errors = saidErrors(body);
  const code = refused?.code ?? '';
  return { kind: 'refused', errors: errors.length > 0 ? errors : [{ code, fields: [], message: '' }], requestId };
}
