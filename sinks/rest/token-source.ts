import { CutShort } from '../network/within-deadline.js';
import { requestToken, type Token, TokenFailure, type TokenRequest } from './request-token.js';

/** After a failure, no login is tried for this time, so that a batch of 100 requests does not cause 100 logins. */
const FAILURE_LASTS_MS = 5_000;

/**
 * Provides access tokens for one API to all lanes of a sink.
 *
 * A token is renewed 60 s before the end of its lifetime (`expires_in`), or, if the lifetime is short, after four
 * fifths of it. If the renewal fails, the old token is used until it expires. A token without a lifetime is used until
 * `end` is called. At most one request for a token is in progress at a time, and all callers wait for it.
 */
export class TokenSource {
  readonly #options: TokenRequest;
  #current: { readonly token: Token; readonly renewAtMs: number; readonly endsAtMs: number } | undefined;
  #pending: Promise<Token> | undefined;
  #failed: { readonly failure: TokenFailure; readonly untilMs: number } | undefined;

  constructor(options: TokenRequest) {
    this.#options = options;
  }

  /**
   * Returns a valid token.
   * @param signal ends the wait of this caller, but not the request, because other callers may wait for it as well
   * @throws {TokenFailure} if there is no token
   * @throws {CutShort} if the signal was aborted
   */
  async get(signal: AbortSignal): Promise<Token> {
    if (signal.aborted) throw new CutShort('stopped');
    const now = this.#options.now();
    const current = this.#current;
    if (current !== undefined && now < current.renewAtMs) return current.token;
    try {
      this.#throwRecentFailure(now);
      this.#pending ??= this.#renew().finally(() => (this.#pending = undefined));
      return await unlessAborted(this.#pending, signal);
    } catch (error) {
      const isUsable = current !== undefined && current === this.#current && this.#options.now() < current.endsAtMs;
      if (error instanceof TokenFailure && isUsable) return current.token;
      throw error;
    }
  }

  /**
   * Discards a token that the API refused, so that the next `get` requests another. Does nothing if it was already
   * replaced.
   */
  end(token: Token): void {
    if (this.#current?.token === token) this.#current = undefined;
  }

  /** Ends the wait after a failure. */
  tryNow(): void {
    this.#failed = undefined;
  }

  #throwRecentFailure(now: number): void {
    if (this.#failed === undefined || now >= this.#failed.untilMs) return;
    const { failure, untilMs } = this.#failed;
    if (failure.result.kind === 'pause' || failure.result.afterMs === undefined) throw failure;
    throw new TokenFailure({ ...failure.result, afterMs: untilMs - now });
  }

  async #renew(): Promise<Token> {
    const askedAtMs = this.#options.now();
    try {
      const { token, lifetimeMs } = await requestToken(this.#options);
      const endsAtMs = askedAtMs + lifetimeMs;
      this.#current = { token, endsAtMs, renewAtMs: endsAtMs - Math.min(60_000, lifetimeMs / 5) };
      this.#failed = undefined;
      return token;
    } catch (error) {
      if (error instanceof TokenFailure) {
        const { result } = error;
        const lastsMs = result.kind === 'retry' ? (result.afterMs ?? FAILURE_LASTS_MS) : FAILURE_LASTS_MS;
        this.#failed = { failure: error, untilMs: this.#options.now() + lastsMs };
      }
      throw error;
    }
  }
}

async function unlessAborted<Value>(promise: Promise<Value>, signal: AbortSignal): Promise<Value> {
  let stop = (): void => undefined;
  const stopped = new Promise<never>((_, reject) => {
    stop = () => reject(new CutShort('stopped'));
    signal.addEventListener('abort', stop);
  });
  try {
    return await Promise.race([promise, stopped]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}
