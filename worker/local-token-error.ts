/** The token that an installation makes for itself can be neither read nor kept. The message says what to do. */
export class LocalTokenError extends Error {
  override readonly name = 'LocalTokenError';
}
