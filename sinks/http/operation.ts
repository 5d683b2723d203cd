import { fieldsOf, type Fields, type Operation } from '../sink.js';
import type { Method } from './keys.js';
import type { Purpose } from './config.js';

/**
 * A planned request. It contains neither the base address nor credentials, so that a preview can show it. In a batch,
 * it is one item's part of the request.
 */
export interface PlannedRequest {
  readonly method: Method;
  /** Appended to `baseUrl`; may be empty. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly encoding: 'json' | 'form';
  /** Absent if there is no body. In a batch, the item's part of the body. */
  readonly body?: unknown;
}

/** The requests of one entry of `records` for one change. */
export interface Step {
  /** The entry's name. */
  readonly record: string;
  readonly purpose: Exclude<Purpose, 'find'>;
  readonly request: PlannedRequest;
  /** Sent first. If it finds a record, the engine plans the change again with that record. */
  readonly find?: PlannedRequest;
  /** Hash of `request`. */
  readonly sent: string;
}

export interface HttpOperation extends Operation {
  /** Steps of the same item are carried out in order. */
  readonly itemKey: string;
  /** Time at which pigeonpost found the change, Unix time in ms. */
  readonly foundAtMs: number;
  readonly steps: readonly Step[];
  readonly made: MadeRecords;
  /**
   * Set if an attendee must be forgotten and a record of theirs cannot be removed. After its steps, the operation is
   * rejected with this cause, so that an operator acts.
   */
  readonly notForgotten?: { readonly cause: string; readonly detail: string };
}

/** The receiver's record for one entry of `records`, as the ledger stores it. */
export interface MadeRecord {
  /** The receiver's id of the record; absent if no answer contained one. */
  readonly id?: string | number;
  /** Set if `find` found the record, so that this sink did not create it. */
  readonly found?: true;
  /** Hash of the last request for this record; absent if none was sent. */
  readonly sent?: string;
}

/** The records by the name of their entry. Contains only ids and hashes, because the ledger stores it. */
type MadeRecords = Readonly<Record<string, MadeRecord>>;

export function madeRecords(object: Fields | null): MadeRecords {
  const entries = Object.entries(fieldsOf(object)).filter(([, made]) => typeof made === 'object' && made !== null);
  return Object.fromEntries(entries) as Record<string, MadeRecord>;
}
