import { Secret } from '../../config/secret.js';
import { fieldsOf, type Fields, type Result } from '../sink.js';
import { requestIdOf } from '../network/read-answer.js';
import { retryAfterMs } from '../../base/retry-after.js';
import { CutShort } from '../network/within-deadline.js';
import type { RestAnswer, RestClient } from './rest-client.js';
import { whileHeld } from '../../base/lease.js';
import { type Grant, grantRequest } from './grants.js';

export interface TokenSourceOptions {
  readonly tokenUrl: URL;
  readonly grant: Grant;
  /** A client for `tokenUrl`, so that the connection follows the sink's network policy. */
  readonly rest: RestClient;
  /** The server's name in messages, such as `Salesforce`. */
  readonly name: string;
  /** The configuration keys to check after a refusal, such as `"clientId" and "clientSecret"`. */
  readonly keys: string;
  /**
   * Returns advice for a refusal, depending on the vendor's text; undefined if there is none. The description comes
   * from the server, so the advice must not repeat it.
   */
  readonly advise?: (refusal: { readonly error: string; readonly description: string }) => string | undefined;
  /** Unix time in ms. */
  readonly now: () => number;
}

export interface Token {
  readonly secret: Secret;
  /** The other fields of the answer, such as Salesforce's `instance_url`, but no tokens. */
  readonly otherFields: Fields;
}

/**
 * Thrown if there is no token. The result is `pause` if only the operator can solve the problem, otherwise `retry`. The
 * message contains no secret.
 */
export class TokenFailure extends Error {
  override readonly name = 'TokenFailure';

  constructor(readonly result: Extract<Result, { readonly kind: 'retry' | 'pause' }>) {
    super(result.detail);
  }
}

const TIMEOUT_MS = 30_000;
/** After a failure, no login is tried for this time, so that a batch of 100 requests does not cause 100 logins. */
const FAILURE_LASTS_MS = 5_000;

const noLease = (): undefined => undefined;

/**
 * Provides access tokens for one API to all lanes of a sink.
 *
 * A token is renewed 60 s before the end of its lifetime (`expires_in`), or, if the lifetime is short, after four
 * fifths of it. If the renewal fails, the old token is used until it expires. A token without a lifetime is used until
 * `end` is called. At most one request for a token is in progress at a time, and all callers wait for it.
 */
export class TokenSource {
  readonly #options: TokenSourceOptions;
  #current: { readonly token: Token; readonly renewAtMs: number; readonly endsAtMs: number } | undefined;
  #pending: Promise<Token> | undefined;
  #failed: { readonly failure: TokenFailure; readonly untilMs: number } | undefined;

  constructor(options: TokenSourceOptions) {
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
      const { token, lifetimeMs } = await this.#request();
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

  async #request(): Promise<{ token: Token; lifetimeMs: number }> {
    const { tokenUrl, grant, rest } = this.#options;
    const { form, authorization } = grantRequest(grant, this.#options.now());
    const call = {
      method: 'POST',
      url: tokenUrl,
      headers: {
        'content-type': 'application/x-www-form-urlencoded',
        ...(authorization !== undefined && { authorization }),
      },
      body: form.toString(),
      what: 'the request for a token',
      timeoutMs: TIMEOUT_MS,
    } as const;
    // The request uses neither the signal nor the lease of the lane that started it, because other lanes wait for the
    // token as well.
    const answer = await whileHeld(noLease, () => rest.call(call, new AbortController().signal));
    if (answer.kind === 'answer') return this.#read(answer);
    throw new TokenFailure({ kind: 'retry', detail: answer.detail });
  }

  /** Reads the token from an answer. @throws {TokenFailure} if the answer contains no token */
  #read({ status, headers, body, retryAfter, answeredAtMs }: RestAnswer) {
    const { name, keys, tokenUrl, advise } = this.#options;
    const fields = fieldsOf(body);
    const error = typeof fields.error === 'string' && /^[a-z_]{3,60}$/.test(fields.error) ? fields.error : '';
    const requestId = requestIdOf(headers, requestIdHeaders);
    const answer = `HTTP ${status}${error && ` ${error}`}${requestId === undefined ? '' : `, request ${requestId}`}`;
    const retry = (detail: string): TokenFailure => {
      const afterMs = retryAfterMs(retryAfter, answeredAtMs);
      return new TokenFailure({ kind: 'retry', detail, ...(afterMs !== undefined && { afterMs }) });
    };
    const pause = (detail: string) => new TokenFailure({ kind: 'pause', cause: 'credential', detail });

    if (status === 200) {
      if (typeof fields.access_token !== 'string' || fields.access_token === '') {
        throw retry(`${name} answered the request for a token without one (${answer})`);
      }
      if (!isBearer(fields.token_type)) {
        throw pause(`${name} issued a token that is no bearer token: check the app's settings at ${tokenUrl.host}`);
      }
      const token = { secret: new Secret(fields.access_token), otherFields: withoutTokens(fields) };
      return { token, lifetimeMs: lifetimeOf(fields.expires_in) };
    }
    const isTemporary = /^(?:temporarily_unavailable|server_error|slow_down)$/.test(error);
    if ((status === 400 || status === 401 || status === 403) && !isTemporary) {
      const description = typeof fields.error_description === 'string' ? fields.error_description : '';
      throw pause(`${name} refuses the login (${answer}): ${advise?.({ error, description }) ?? `check ${keys}`}`);
    }
    const isElsewhere = (status >= 300 && status < 400) || status === 404 || status === 405;
    throw retry(`${name} answered the request for a token with ${answer}${isElsewhere ? ': check its address' : ''}`);
  }
}

/**
 * Whether a token is a bearer token. Tokens of unknown types must not be used (RFC 6749, 7.1). Some servers leave out
 * the type.
 */
function isBearer(type: unknown): boolean {
  return type === undefined || (typeof type === 'string' && type.toLowerCase() === 'bearer');
}

/**
 * Returns the lifetime of a token in ms. Infinity if the server does not report one: the token is then used until the
 * API refuses it. Some servers send the number as a text.
 */
function lifetimeOf(expiresIn: unknown): number {
  const seconds = typeof expiresIn === 'string' && expiresIn !== '' ? Number(expiresIn) : expiresIn;
  return typeof seconds === 'number' && seconds > 0 ? seconds * 1000 : Number.POSITIVE_INFINITY;
}

function withoutTokens(fields: Fields): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !name.endsWith('_token')));
}

const requestIdHeaders = ['x-request-id', 'x-ms-request-id', 'x-sfdc-request-id', 'x-amzn-requestid'];

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
