import type { Operation, Fields, Result } from '../sink.js';
import type { WritePolicy } from '../mapping/expression-schema.js';
import type { MatchBy, OnSeveral, PersonType } from './config.js';
import { z } from 'zod';

/** What one change makes Salesforce do: a step for each entry of `records` that is about its list. */
export interface SalesforceOperation extends Operation {
  readonly steps: readonly Step[];
  /** What entries of `records` without a step have made of the item before: it stays as it is. */
  readonly others: Readonly<Record<string, RemoteRecord | LinkedRecord>>;
}

export type Step = PersonStep | LeaveStep | ForgetStep | LinkedStep | UnlinkStep;

interface OfRecord {
  /** The entry's name: its `object`, with a number where there are several of the same. */
  readonly record: string;
}

/** Someone is found or created, written to, and made a member of a campaign. */
export interface PersonStep extends OfRecord {
  readonly kind: 'person';
  readonly objectType: PersonType;
  /** What was made of the item before: it is not looked for then. */
  readonly known: RemoteRecord | null;
  readonly key: KeyValue | null;
  /** Lower case. */
  readonly email: string | null;
  readonly match: readonly MatchBy[];
  readonly onSeveral: OnSeveral;
  readonly create: boolean;
  readonly writes: readonly FieldWrite[];
  /** The mapping splits names, and this one has no first name: it may be the first name of the record. */
  readonly isOneWord: boolean;
  readonly lookups: readonly Lookup[];
  /** When what the values tell of happened: what `if-newer` compares. Unix time in ms. */
  readonly happenedAtMs: number;
  readonly campaign: CampaignStep | null;
}

/** The value of an external id field. */
export interface KeyValue {
  readonly field: string;
  readonly value: string;
}

/** A field that holds the id of another record, which is found by its external id. */
export interface Lookup {
  readonly field: string;
  /** The other record's object; null: the field holds ids of one object only. */
  readonly object: string | null;
  readonly keyField: string;
  /** Null: the item says nothing to find it by. */
  readonly key: KeyValue | null;
  /** The id that is written where none is found; null: none. */
  readonly otherwise: string | null;
  readonly policy: WritePolicy;
}

/** A value as JSON carries it; null clears the field. */
export type FieldValue = string | number | boolean | null;

export interface FieldWrite {
  readonly field: string;
  readonly value: FieldValue;
  readonly policy: WritePolicy;
}

export interface CampaignStep {
  readonly key: KeyValue;
  readonly fields: Readonly<Record<string, FieldValue>>;
  readonly stage: MemberStage;
  readonly status: { readonly registered: string; readonly attended: string };
  /** Fields of the membership. */
  readonly memberWrites: readonly FieldWrite[];
}

export type MemberStage = 'registered' | 'attended';

/** The item is gone: the membership is given another status, and all else stays. */
export interface LeaveStep extends OfRecord {
  readonly kind: 'leave';
  readonly known: RemoteRecord;
  readonly status: string;
  /** Statuses that this sink gives. Any other is somebody's own, and stays. */
  readonly ours: readonly string[];
}

/** What was sent of the person is taken back. */
export interface ForgetStep extends OfRecord {
  readonly kind: 'forget';
  readonly how: 'clear-our-fields' | 'delete';
  readonly known: RemoteRecord;
  /** The external id field, cleared where this sink wrote it. */
  readonly keyField: string | null;
}

/** A record of its own that belongs to a person, such as a task, is written; nobody is created for it. */
export interface LinkedStep extends OfRecord {
  readonly kind: 'linked';
  readonly object: string;
  readonly known: LinkedRecord | null;
  readonly key: KeyValue;
  readonly writes: readonly FieldWrite[];
  readonly lookups: readonly Lookup[];
  /** How the person is found. */
  readonly person: Pick<PersonStep, 'key' | 'email' | 'match' | 'onSeveral'>;
  /** The field that holds the person's id, by what the person is. */
  readonly links: { readonly [Type in PersonType]?: string | undefined };
}

/** A record that belongs to a person is deleted. */
export interface UnlinkStep extends OfRecord {
  readonly kind: 'unlink';
  readonly known: LinkedRecord;
}

/** What an entry of `records` has made of an item. Ids and states, never a value. */
export interface RemoteRecord {
  readonly type: 'Lead' | 'Contact';
  readonly id: string;
  /** This sink created it, for this item. */
  readonly created: boolean;
  /** This sink gave it its external id. */
  readonly keyed: boolean;
  /** The fields that this sink has written. */
  readonly written: readonly string[];
  /** When it last wrote, by Salesforce's clock, Unix time in ms. */
  readonly writtenAtMs: number;
  readonly member: RemoteMember | null;
}

export interface RemoteMember {
  readonly id: string;
  readonly campaignId: string;
  /** As this sink last gave or found it. */
  readonly status: string;
  readonly created: boolean;
  /** The fields that this sink has written, less the status. */
  readonly written: readonly string[];
}

const recordSchema = z.object({
  type: z.enum(['Lead', 'Contact']),
  id: z.string(),
  created: z.boolean(),
  keyed: z.boolean(),
  written: z.array(z.string()),
  writtenAtMs: z.number(),
  member: z
    .object({
      id: z.string(),
      campaignId: z.string(),
      status: z.string(),
      created: z.boolean(),
      written: z.array(z.string()).default([]),
    })
    .nullable(),
});

/** Under the name of an entry of `records`, in the object of an item; null: nothing was made by that entry, or it was taken back. */
export function remoteRecordOf(object: Fields | null, record: string): RemoteRecord | null {
  const found = recordSchema.safeParse(object?.[record]);
  return found.success ? found.data : null;
}

/** A record that belongs to a person, made by an entry of `records`: all of it is this sink's. */
export interface LinkedRecord {
  /** The object, such as Task. */
  readonly linked: string;
  readonly id: string;
}

const linkedSchema = z.object({ linked: z.string(), id: z.string() });

export function linkedRecordOf(object: Fields | null, record: string): LinkedRecord | null {
  const found = linkedSchema.safeParse(object?.[record]);
  return found.success ? found.data : null;
}

/** A step while it is carried out. */
export interface Job<S extends Step = Step> {
  readonly step: S;
  /** What stands at Salesforce by now; null: nothing, as far as is known. */
  remote: NonNullable<S['known']> | null;
  /** What became of it; undefined: not settled yet. */
  result: Result | undefined;
  /** For a person who reads what was done. */
  readonly done: string[];
}

export type PersonJob = Job<PersonStep>;

export function jobOf<S extends Step>(step: S): Job<S> {
  return { step, remote: step.known as NonNullable<S['known']> | null, result: undefined, done: [] };
}

export function isOpen(job: Job): boolean {
  return job.result === undefined;
}

export function fail(jobs: readonly Job[], failure: CallFailure): void {
  for (const job of jobs) job.result ??= failure.result;
}

export function isPersonJob(job: Job): job is PersonJob {
  return job.step.kind === 'person';
}

export function isLeaveJob(job: Job): job is Job<LeaveStep> {
  return job.step.kind === 'leave';
}

export function isForgetJob(job: Job): job is Job<ForgetStep> {
  return job.step.kind === 'forget';
}

export function isLinkedJob(job: Job): job is Job<LinkedStep> {
  return job.step.kind === 'linked';
}

export function isUnlinkJob(job: Job): job is Job<UnlinkStep> {
  return job.step.kind === 'unlink';
}

export type FailedResult = Extract<Result, { kind: 'retry' | 'pause' }>;

/** A call that said nothing of any record: what it means for all that was to be done with it. */
export class CallFailure extends Error {
  override readonly name = 'CallFailure';

  constructor(readonly result: FailedResult) {
    super(result.detail);
  }
}

/** No further call is begun: it was stopped, or its time is over. */
export class CallsEnded extends Error {
  override readonly name = 'CallsEnded';
}
