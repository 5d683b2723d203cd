/** Temporal cannot be reached, or refuses us. One sentence with the address. */
export class TemporalUnreachableError extends Error {
  override readonly name = 'TemporalUnreachableError';
}
