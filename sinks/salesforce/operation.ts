import { createHash } from 'node:crypto';
import type { Fields, Result } from '../sink.js';
import type { WritePolicy } from '../mapping/expression-schema.js';
import type { Value, ValueWrite } from '../records/decide-values.js';
import { type RecordOperation, type RecordTask, TaskJob } from '../records/record-task.js';
import type { MatchBy, OnSeveral, PersonType } from './config.js';
import { z } from 'zod';

export type SalesforceOperation = RecordOperation<Step>;

export type Step = PersonStep | LeaveStep | ForgetStep | LinkedStep | UnlinkStep;

interface OfRecord {
  /** The entry's name: its `object`, with a number if several entries have the same `object`. */
  readonly record: string;
}

/** Finds or creates a person, writes the record, and adds it to a campaign. */
export interface PersonStep extends OfRecord {
  readonly kind: 'person';
  readonly objectType: PersonType;
  /** The entry's result from earlier changes. A known record is not searched for. */
  readonly known: RemoteRecord | null;
  readonly key: KeyValue | null;
  /** Lower case. */
  readonly email: string | null;
  readonly match: readonly MatchBy[];
  readonly onSeveral: OnSeveral;
  readonly create: boolean;
  readonly writes: readonly ValueWrite[];
  /** Whether the mapping splits names and this name has only one word, which could also be the person's first name. */
  readonly isOneWord: boolean;
  readonly lookups: readonly Lookup[];
  /** Event time of the values, which `if-newer` compares. Unix time in ms. */
  readonly happenedAtMs: number;
  /** Whether an earlier attempt may have written the record without an answer. */
  readonly isUnsure: boolean;
  /** Whether that attempt was to create it. */
  readonly isCreating: boolean;
  readonly campaign: CampaignStep | null;
}

/** The value of an external id field. */
export interface KeyValue {
  readonly field: string;
  readonly value: string;
}

/** A field with the id of another record, which is found by its external id. */
export interface Lookup {
  readonly field: string;
  /** The other record's object; null if the field accepts only the ids of one object. */
  readonly object: string | null;
  readonly keyField: string;
  /** Null if the item has no value by which to find the other record. */
  readonly key: KeyValue | null;
  /** The id to write if no record is found; null if nothing is written then. */
  readonly otherwise: string | null;
  readonly policy: WritePolicy;
}

export interface CampaignStep {
  readonly key: KeyValue;
  readonly fields: Readonly<Record<string, Value>>;
  readonly stage: MemberStage;
  readonly status: { readonly registered: string; readonly attended: string };
  /** The writes to the fields of the campaign member. */
  readonly memberWrites: readonly ValueWrite[];
}

export type MemberStage = 'registered' | 'attended';

/** Sets the status of a membership whose item was deleted. Changes nothing else. */
export interface LeaveStep extends OfRecord {
  readonly kind: 'leave';
  readonly known: RemoteRecord;
  readonly status: string;
  /** The statuses that this sink sets. If a membership has another status, a user set it, and it stays. */
  readonly ours: readonly string[];
}

/** Removes what was sent about the person. */
export interface ForgetStep extends OfRecord {
  readonly kind: 'forget';
  readonly how: 'clear-our-fields' | 'delete';
  readonly known: RemoteRecord;
  /** The external id field, which is cleared if this sink wrote it. */
  readonly keyField: string | null;
}

/** Writes a record that belongs to a person, such as a task. Does not create the person. */
export interface LinkedStep extends OfRecord {
  readonly kind: 'linked';
  readonly object: string;
  readonly known: LinkedRecord | null;
  readonly key: KeyValue;
  readonly writes: readonly ValueWrite[];
  readonly lookups: readonly Lookup[];
  /** The values by which the person is searched. */
  readonly person: Pick<PersonStep, 'key' | 'email' | 'match' | 'onSeveral'>;
  /** The field with the person's id, by type of person. */
  readonly links: { readonly [Type in PersonType]?: string | undefined };
}

/** Deletes a record that belongs to a person. */
export interface UnlinkStep extends OfRecord {
  readonly kind: 'unlink';
  readonly known: LinkedRecord;
}

const recordSchema = z.object({
  type: z.enum(['Lead', 'Contact']),
  id: z.string(),
  /** Whether this sink created the record for this item. */
  created: z.boolean(),
  /** Whether this sink set its external id. */
  keyed: z.boolean(),
  /** Fields that this sink wrote. */
  written: z.array(z.string()),
  /** Time of this sink's last write, by Salesforce's clock, Unix time in ms. */
  writtenAtMs: z.number(),
  member: z
    .object({
      id: z.string(),
      campaignId: z.string(),
      /** The status that this sink last set or found. */
      status: z.string(),
      created: z.boolean(),
      /** Fields that this sink wrote, without the status. */
      written: z.array(z.string()).default([]),
    })
    .nullable(),
  /** The campaign to which the person may have been added without an answer. */
  joining: z.string().optional(),
});

/**
 * The result of an entry of `records` for an item, as the ledger stores it. It contains ids and states, but no values.
 */
export type RemoteRecord = Readonly<z.infer<typeof recordSchema>>;
export type RemoteMember = NonNullable<RemoteRecord['member']>;

/** Reads an entry's result from the item's object. Null if the entry wrote nothing, or if its result was removed. */
export function remoteRecordOf(object: Fields | null, record: string): RemoteRecord | null {
  const found = recordSchema.safeParse(object?.[record]);
  return found.success ? found.data : null;
}

const linkedSchema = z.object({
  /** The object, such as Task. */
  linked: z.string(),
  id: z.string(),
});

/** A record that belongs to a person. This sink created it, so it may overwrite and delete it. */
type LinkedRecord = Readonly<z.infer<typeof linkedSchema>>;

export function linkedRecordOf(object: Fields | null, record: string): LinkedRecord | null {
  const found = linkedSchema.safeParse(object?.[record]);
  return found.success ? found.data : null;
}

/** A step in progress. */
export class Job<S extends Step = Step> extends TaskJob<S, Step> {
  #remote: NonNullable<S['known']> | null;
  /** Whether the step wrote or removed something, or found that nothing is left to do. */
  isDone = false;
  /**
   * Set if the record was found, but an earlier attempt without an answer may have created it or its membership. Only an
   * operator can then tell what has to be removed if the person is forgotten.
   */
  staysUnsure = false;

  constructor(task: RecordTask<Step>, step: S) {
    super(task, step);
    this.#remote = step.known as NonNullable<S['known']> | null;
  }

  /** The present result of the entry at Salesforce; null if, as far as pigeonpost knows, there is none. */
  get remote(): NonNullable<S['known']> | null {
    return this.#remote;
  }

  set remote(remote: NonNullable<S['known']> | null) {
    this.#remote = remote;
    const made = remote as Fields | null;
    this.task.made(this.step.record, made !== null && this.staysUnsure ? { ...made, mayExist: true } : made);
  }

  /**
   * Notes that the record may exist, because Salesforce did not answer.
   * @param creating whether the record was to be created
   */
  mayHaveCreated(creating = true): void {
    this.task.made(this.step.record, { mayExist: true, ...(creating && { creating }) });
  }

  /** Notes what was done, for the operator. */
  done(detail: string): void {
    this.isDone = true;
    this.task.note(detail);
  }
}

export type PersonJob = Job<PersonStep>;

/** Returns the jobs whose steps are of one kind. */
export function jobsOfKind<K extends Step['kind']>(jobs: readonly Job[], kind: K): Job<Extract<Step, { kind: K }>>[] {
  return jobs.filter((job): job is Job<Extract<Step, { kind: K }>> => job.step.kind === kind);
}

export type FailedResult = Extract<Result, { kind: 'retry' | 'pause' }>;

/** A call that failed for all its records. */
export class CallFailure extends Error {
  override readonly name = 'CallFailure';

  /** Whether Salesforce may still carry out the call, because it did not answer it itself. */
  readonly mayBeOpen: boolean;

  constructor(
    readonly result: FailedResult,
    { mayBeOpen = false }: { readonly mayBeOpen?: boolean } = {},
  ) {
    super(result.detail);
    this.mayBeOpen = mayBeOpen;
  }
}

/** Thrown instead of a call if no more calls may start, because the signal was aborted or the time is used up. */
export class CallsEnded extends Error {
  override readonly name = 'CallsEnded';
}

/** Returns a digest, which shows whether values differ without containing them. */
export function digest(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('hex').slice(0, 24);
}
