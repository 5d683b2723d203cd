/** The port is taken, or the host is not this machine's. */
export class ListenError extends Error {
  override readonly name = 'ListenError';
}
