import { fieldsOf, type Fields, type Operation } from '../sink.js';
import type { Method } from './keys.js';
import type { Purpose } from './config.js';

/** A request as planned: without address, credentials and what `batch` adds, so that it can be shown. */
export interface PlannedRequest {
  readonly method: Method;
  /** Appended to `baseUrl`; empty: the base itself. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly encoding: 'json' | 'form';
  /** Absent: no body. In a batch, the item's part of it. */
  readonly body?: unknown;
}

/** One entry of `records` for one change. */
export interface Step {
  /** The entry's name. */
  readonly record: string;
  readonly purpose: Exclude<Purpose, 'find'>;
  readonly request: PlannedRequest;
  /** Sent first; if it finds a record, `request` is planned again. */
  readonly find?: PlannedRequest;
  /** Identifies what `request` says. */
  readonly sent: string;
}

export interface HttpOperation extends Operation {
  /** Steps of one item go in order. */
  readonly itemKey: string;
  /** When the change was found, Unix time in ms. */
  readonly foundAtMs: number;
  readonly steps: readonly Step[];
  readonly made: MadeRecords;
  /** Why another record of a person who is to be forgotten stays: the operation is rejected after its steps. */
  readonly notForgotten?: { readonly cause: string; readonly detail: string };
}

/** What stands at the receiver for one entry of `records`. */
export interface MadeRecord {
  /** The receiver's id; absent where none is read. */
  readonly id?: string | number;
  /** It was there before: found, not created. */
  readonly found?: true;
  /** Identifies what was sent last; absent: nothing yet. */
  readonly sent?: string;
}

/** By the name of the entry. Ids and hashes only: this is what the engine keeps. */
export type MadeRecords = Readonly<Record<string, MadeRecord>>;

export function madeRecords(object: Fields | null): MadeRecords {
  const entries = Object.entries(fieldsOf(object)).filter(([, made]) => typeof made === 'object' && made !== null);
  return Object.fromEntries(entries) as Record<string, MadeRecord>;
}
