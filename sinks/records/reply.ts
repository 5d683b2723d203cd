import type { Result } from '../sink.js';

/**
 * A failure of the account or the vendor, whatever the request contained. `processed` says whether the request may have
 * taken effect nevertheless.
 */
export interface Failed {
  readonly kind: 'failed';
  readonly result: Result;
  readonly processed: 'no' | 'maybe';
}

/** The result of the write of one record. It says who is at fault if the record was not written. */
export type WriteReply =
  | {
      readonly kind: 'written';
      readonly id: string;
      /** Whether this write created the record; undefined if the vendor does not say. */
      readonly isNew: boolean | undefined;
      /** Time of the write, Unix time in ms. By the vendor's clock, if its answer has a time. */
      readonly atMs: number;
    }
  /** The record with this id does not exist any more. */
  | { readonly kind: 'missing' }
  /** The vendor refuses the record, in its present form or for the moment. */
  | { readonly kind: 'refused'; readonly result: Extract<Result, { readonly kind: 'rejected' | 'retry' }> }
  | Failed;
