import { fieldsOf, type Fields, type Operation } from '../sink.js';
import type { Method } from './keys.js';
import type { Purpose } from './config.js';

/** A planned request, without address, credentials and the additions of `batch`, so that it can be shown. */
export interface PlannedRequest {
  readonly method: Method;
  /** Appended to `baseUrl`; may be empty. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly encoding: 'json' | 'form';
  /** Absent if there is no body. In a batch, the item's part of it. */
  readonly body?: unknown;
}

/** The requests of one entry of `records` for one change. */
export interface Step {
  /** The entry's name. */
  readonly record: string;
  readonly purpose: Exclude<Purpose, 'find'>;
  readonly request: PlannedRequest;
  /** Sent first; if it finds a record, `request` is planned again. */
  readonly find?: PlannedRequest;
  /** Hash of `request`. */
  readonly sent: string;
}

export interface HttpOperation extends Operation {
  /** Steps of one item go in order. */
  readonly itemKey: string;
  /** Unix time in ms at which the change was found. */
  readonly foundAtMs: number;
  readonly steps: readonly Step[];
  readonly made: MadeRecords;
  /** Why another record of an attendee who must be forgotten stays: the operation is rejected after its steps. */
  readonly notForgotten?: { readonly cause: string; readonly detail: string };
}

/** The receiver's record for one entry of `records`. */
export interface MadeRecord {
  /** The receiver's id; absent if none is read. */
  readonly id?: string | number;
  /** It existed before: found, not created. */
  readonly found?: true;
  /** Hash of the last request; absent if none was sent. */
  readonly sent?: string;
}

/** Records by the name of their entry. Ids and hashes only, since the engine keeps this. */
type MadeRecords = Readonly<Record<string, MadeRecord>>;

export function madeRecords(object: Fields | null): MadeRecords {
  const entries = Object.entries(fieldsOf(object)).filter(([, made]) => typeof made === 'object' && made !== null);
  return Object.fromEntries(entries) as Record<string, MadeRecord>;
}
