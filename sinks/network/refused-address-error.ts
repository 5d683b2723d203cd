/**
 * A connection that was not made because its address is not allowed. The message is a sentence for a person, with
 * the host and what to do; it holds no path or query of a URL, since these may carry a token.
 */
export class RefusedAddressError extends Error {
  override readonly name = 'RefusedAddressError';
  readonly code = 'ERR_REFUSED_ADDRESS';
}
