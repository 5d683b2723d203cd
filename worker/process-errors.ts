/** The local API token cannot be read or stored. The message says what to do. */
export class LocalTokenError extends Error {
  override readonly name = 'LocalTokenError';
}

/** Temporal cannot be reached or refuses the connection. The message is one sentence with the address. */
export class TemporalUnreachableError extends Error {
  override readonly name = 'TemporalUnreachableError';
}

/** The embedded server cannot run. The message is one sentence with the path of its log. */
export class EmbeddedTemporalError extends Error {
  override readonly name = 'EmbeddedTemporalError';
}
