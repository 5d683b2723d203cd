import type { Result } from '../sink.js';

/**
 * The kinds of results, worst first. `unknown` is first: the operation must be looked up before anything is sent again,
 * and if the account is refused, the look-up pauses the sink. `rejected` is better than all that lead to another attempt,
 * because a dead letter would end the attempts of the other parts.
 */
const worstFirst: readonly Result['kind'][] = ['unknown', 'pause', 'retry', 'unsent', 'rejected', 'delivered'];

/** Returns the result of an operation that has several parts: the first of its worst results. `unsent` if it has none. */
export function worstOf<R extends Result>(results: readonly R[]): R | { readonly kind: 'unsent' } {
  const [worst = { kind: 'unsent' }] = worstFirst.flatMap((kind) => results.filter((result) => result.kind === kind));
  return worst;
}
