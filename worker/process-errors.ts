/** The token that an installation makes for itself can be neither read nor kept. The message says what to do. */
export class LocalTokenError extends Error {
  override readonly name = 'LocalTokenError';
}

/** Temporal cannot be reached, or refuses us. One sentence with the address. */
export class TemporalUnreachableError extends Error {
  override readonly name = 'TemporalUnreachableError';
}

/** The embedded server cannot run. One sentence with the place of its log. */
export class EmbeddedTemporalError extends Error {
  override readonly name = 'EmbeddedTemporalError';
}
