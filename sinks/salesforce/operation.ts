import type { Operation } from '../sink.js';
import type { WritePolicy } from '../mapping/expression-schema.js';
import type { MatchBy, OnSeveral, PersonType } from './config.js';
import type { LinkedRecord, RemoteRecord } from './remote-record.js';

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
