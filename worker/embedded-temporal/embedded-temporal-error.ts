/** The embedded server cannot run. One sentence with the place of its log. */
export class EmbeddedTemporalError extends Error {
  override readonly name = 'EmbeddedTemporalError';
}
