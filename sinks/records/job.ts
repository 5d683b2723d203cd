import type { Result } from '../sink.js';

/** A step of an operation in progress: it writes one record of an item. */
export interface Job {
  /** Whether the step may continue: it has no result yet, and nothing that it waits for has failed. */
  readonly isOpen: boolean;
  /** Ends the step with this result. Only the first call has an effect. */
  end(result: Result): void;
}
