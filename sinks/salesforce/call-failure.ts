import type { Result } from '../sink.js';

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
