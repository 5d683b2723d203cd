import { failureSentence } from '../network/failure-sentence.js';
import type { Outcome } from '../sink.js';

/**
 * What it means that no answer came: always `retry`, since a change that did arrive is recognised by its id when it
 * comes again.
 */
export function classifyFailure(error: unknown, host: string): Outcome {
  return { kind: 'retry', detail: failureSentence(error, host) };
}
