import { request, type Dispatcher } from 'undici';
import { Secret } from '../../config/secret.js';
import { fieldsOf, type Fields, type Result } from '../sink.js';
import { noAnswerSentence } from '../network/failure-sentence.js';
import { answeredAtMs, headerText, parsedJson, readText, retryAfterMs } from '../network/read-answer.js';
import { CutShort, withinDeadline } from '../network/within-deadline.js';
import { whileHeld } from '../../base/while-held.js';
import { createPrivateKey, type KeyObject, sign } from 'node:crypto';

/** The proof of identity for a token endpoint. */
export type Grant =
  /** RFC 6749, 4.4. */
  | {
      readonly kind: 'client-credentials';
      readonly clientId: string;
      readonly clientSecret: Secret;
      /** The place of the secret (RFC 6749, 2.3.1): the header `Authorization` or the form. */
      readonly authentication: 'client_secret_basic' | 'client_secret_post';
      readonly scope?: string | undefined;
      /** Names the API for servers such as Auth0. */
      readonly audience?: string | undefined;
      /** RFC 8707. */
      readonly resource?: string | undefined;
    }
  /** RFC 7523, 2.1: an assertion that the sink signs itself. */
  | {
      readonly kind: 'jwt-bearer';
      /** PEM, RSA or EC P-256; see `isSigningKey`. */
      readonly privateKey: Secret;
      /** `iss`, `sub`, `aud` and whatever else the server expects. `iat` and `exp` are added. */
      readonly claims: Fields;
      readonly keyId?: string | undefined;
      readonly scope?: string | undefined;
      /** Lifetime of an assertion in seconds; 120 by default, which is within what Salesforce accepts (3 minutes). */
      readonly validForSeconds?: number | undefined;
    };

export interface TokenSourceOptions {
  readonly tokenUrl: URL;
  readonly grant: Grant;
  /** Made by `createDispatcher` for `tokenUrl`, so that the sink's network policy holds for it. */
  readonly dispatcher: Dispatcher;
  /** The server's name in sentences for a person, such as `Salesforce`. */
  readonly name: string;
  /** The keys that a person checks after a refusal, such as `"clientId" and "clientSecret"`. */
  readonly keys: string;
  /**
   * Returns advice for a refusal with the vendor's own wording; undefined if there is none. The description is text
   * from the server: match it, but do not repeat it.
   */
  readonly advise?: (refusal: { readonly error: string; readonly description: string }) => string | undefined;
  /** Unix time in ms. */
  readonly now?: () => number;
  readonly timeoutMs?: number;
}

export interface Token {
  readonly secret: Secret;
  /** Other fields of the answer, such as Salesforce's `instance_url`; without any token. */
  readonly said: Fields;
}

/** There is no token: `pause` if only the operator can help, otherwise `retry`. The message contains no secret. */
export class TokenFailure extends Error {
  override readonly name = 'TokenFailure';

  constructor(readonly result: Extract<Result, { readonly kind: 'retry' | 'pause' }>) {
    super(result.detail);
  }
}

const TIMEOUT_MS = 30_000;
const MAX_ANSWER_BYTES = 256 * 1024;
/** After a failure no login is attempted for this long, so that a batch of 100 requests does not make 100 logins. */
const FAILURE_LASTS_MS = 5_000;

const noLease = (): undefined => undefined;

/**
 * Access tokens for one API, shared by all lanes of a sink.
 *
 * A token is kept until its lifetime (`expires_in`) is nearly over: 60 s before the end, or after four fifths of a
 * shorter lifetime, it is renewed. If the renewal fails then, the old token is used until it ends. A token without
 * lifetime is kept until `end`. At most one request is open at a time, and all callers wait for it.
 */
export class TokenSource {
  readonly #options: TokenSourceOptions;
  readonly #now: () => number;
  #current: { readonly token: Token; readonly renewAtMs: number; readonly endsAtMs: number } | undefined;
  #pending: Promise<Token> | undefined;
  #failed: { readonly failure: TokenFailure; readonly untilMs: number } | undefined;

  constructor(options: TokenSourceOptions) {
    this.#options = options;
    this.#now = options.now ?? Date.now;
  }

  /**
   * @param signal ends the caller's wait, not the request, for which others may wait as well
   * @throws {TokenFailure} when there is no token
   * @throws {CutShort} when the signal was aborted
   */
  async get(signal: AbortSignal): Promise<Token> {
    if (signal.aborted) throw new CutShort('stopped');
    const now = this.#now();
    const current = this.#current;
    if (current !== undefined && now < current.renewAtMs) return current.token;
    try {
      this.#throwRecentFailure(now);
      this.#pending ??= this.#renew().finally(() => (this.#pending = undefined));
      return await unlessAborted(this.#pending, signal);
    } catch (error) {
      const isUsable = current !== undefined && current === this.#current && this.#now() < current.endsAtMs;
      if (error instanceof TokenFailure && isUsable) return current.token;
      throw error;
    }
  }

  /** Discards a token that the API refused: the next `get` requests another, unless that has happened already. */
  end(token: Token): void {
    if (this.#current?.token === token) this.#current = undefined;
  }

  /** Lifts the wait that the server requested. */
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
    const askedAtMs = this.#now();
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
        this.#failed = { failure: error, untilMs: this.#now() + lastsMs };
      }
      throw error;
    }
  }

  async #request(): Promise<{ token: Token; lifetimeMs: number }> {
    const { tokenUrl, grant, dispatcher, name, timeoutMs = TIMEOUT_MS } = this.#options;
    const { form, authorization } = grantRequest(grant, this.#now());
    try {
      // The signal and the lease of the first lane do not apply, because other lanes wait for this token as well.
      const exchange = async (own: AbortSignal) => {
        const answer = await request(tokenUrl, {
          method: 'POST',
          dispatcher,
          signal: own,
          headers: {
            'content-type': 'application/x-www-form-urlencoded',
            accept: 'application/json',
            'user-agent': 'pigeonpost',
            ...(authorization !== undefined && { authorization }),
          },
          body: form.toString(),
        });
        const text = await readText(answer.body, MAX_ANSWER_BYTES);
        return this.#read(answer.statusCode, answer.headers, fieldsOf(parsedJson(text)));
      };
      return await whileHeld(noLease, () => withinDeadline(new AbortController().signal, timeoutMs, exchange));
    } catch (error) {
      if (error instanceof TokenFailure) throw error;
      const detail = noAnswerSentence(error, { host: tokenUrl.host, name, timeoutMs, what: 'the request for a token' });
      throw new TokenFailure({ kind: 'retry', detail });
    }
  }

  /** @throws {TokenFailure} when the answer has no token */
  #read(status: number, headers: Record<string, string | string[] | undefined>, said: Fields) {
    const { name, keys, tokenUrl, advise } = this.#options;
    const error = typeof said.error === 'string' && /^[a-z_]{3,60}$/.test(said.error) ? said.error : '';
    const answer = `HTTP ${status}${error && ` ${error}`}${requestOf(headers)}`;
    const retry = (detail: string): TokenFailure => {
      const afterMs = retryAfterMs(headerText(headers['retry-after']), answeredAtMs(headers.date, this.#now));
      return new TokenFailure({ kind: 'retry', detail, ...(afterMs !== undefined && { afterMs }) });
    };
    const pause = (detail: string) => new TokenFailure({ kind: 'pause', cause: 'credential', detail });

    if (status === 200) {
      if (typeof said.access_token !== 'string' || said.access_token === '') {
        throw retry(`${name} answered the request for a token without one (${answer})`);
      }
      if (!isBearer(said.token_type)) {
        throw pause(`${name} issued a token that is no bearer token: check the app's settings at ${tokenUrl.host}`);
      }
      const token = { secret: new Secret(said.access_token), said: withoutTokens(said) };
      return { token, lifetimeMs: lifetimeOf(said.expires_in) };
    }
    const isTemporary = /^(?:temporarily_unavailable|server_error|slow_down)$/.test(error);
    if ((status === 400 || status === 401 || status === 403) && !isTemporary) {
      const description = typeof said.error_description === 'string' ? said.error_description : '';
      throw pause(`${name} refuses the login (${answer}): ${advise?.({ error, description }) ?? `check ${keys}`}`);
    }
    const isElsewhere = (status >= 300 && status < 400) || status === 404 || status === 405;
    throw retry(`${name} answered the request for a token with ${answer}${isElsewhere ? ': check its address' : ''}`);
  }
}

function grantRequest(grant: Grant, nowMs: number): { form: URLSearchParams; authorization?: string } {
  const form = new URLSearchParams();
  if (grant.scope !== undefined) form.set('scope', grant.scope);
  if (grant.kind === 'jwt-bearer') {
    const { claims, privateKey, keyId, validForSeconds = 120 } = grant;
    const iat = Math.floor(nowMs / 1000);
    form.set('grant_type', 'urn:ietf:params:oauth:grant-type:jwt-bearer');
    form.set('assertion', signJwt({ iat, exp: iat + validForSeconds, ...claims }, privateKey.reveal(), keyId));
    return { form };
  }
  const { clientId, clientSecret, authentication, audience, resource } = grant;
  form.set('grant_type', 'client_credentials');
  if (audience !== undefined) form.set('audience', audience);
  if (resource !== undefined) form.set('resource', resource);
  if (authentication === 'client_secret_post') {
    form.set('client_id', clientId);
    form.set('client_secret', clientSecret.reveal());
    return { form };
  }
  // RFC 6749, 2.3.1: both are encoded as in a form before they become user and password.
  const user = [clientId, clientSecret.reveal()].map((text) => new URLSearchParams({ '': text }).toString().slice(1));
  return { form, authorization: `Basic ${Buffer.from(user.join(':')).toString('base64')}` };
}

/** RFC 6749, 7.1: a token of a type that we do not know must not be used. Some servers leave the type out. */
function isBearer(type: unknown): boolean {
  return type === undefined || (typeof type === 'string' && type.toLowerCase() === 'bearer');
}

/** Infinity: the server does not say, so the token is used until the API refuses it. Some servers send a text. */
function lifetimeOf(expiresIn: unknown): number {
  const seconds = typeof expiresIn === 'string' && expiresIn !== '' ? Number(expiresIn) : expiresIn;
  return typeof seconds === 'number' && seconds > 0 ? seconds * 1000 : Number.POSITIVE_INFINITY;
}

function withoutTokens(said: Fields): Fields {
  return Object.fromEntries(Object.entries(said).filter(([name]) => !name.endsWith('_token')));
}

const requestIdHeaders = ['x-request-id', 'x-ms-request-id', 'x-sfdc-request-id', 'x-amzn-requestid'];

/** Anything that does not look like an id could be a value of a record, and is not shown. */
function requestOf(headers: Record<string, string | string[] | undefined>): string {
  const id = requestIdHeaders.map((name) => headerText(headers[name])).find((found) => found !== undefined);
  return id !== undefined && /^[\w.:=-]{1,128}$/.test(id) ? `, request ${id}` : '';
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

/**
 * Signs claims as a JSON Web Token in compact form (RFC 7515). The key decides the algorithm: RS256 for an RSA key of
 * at least 2048 bits, ES256 for an EC key on P-256 (RFC 7518, 3.1).
 * @throws if the key is of another kind: check it with `isSigningKey` when the configuration is read
 */
function signJwt(claims: object, privateKeyPem: string, keyId?: string): string {
  const key = createPrivateKey(privateKeyPem);
  const algorithm = algorithmOf(key);
  if (algorithm === undefined) throw new TypeError('the private key signs neither RS256 nor ES256');
  const header = { alg: algorithm, typ: 'JWT', ...(keyId !== undefined && { kid: keyId }) };
  const content = [header, claims].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.');
  // JWS takes the two numbers of an ECDSA signature side by side, not in DER, which is Node's default (RFC 7518, 3.4).
  const signature = sign('sha256', Buffer.from(content), { key, dsaEncoding: 'ieee-p1363' });
  return `${content}.${signature.toString('base64url')}`;
}

/** Whether a text is a private key (PEM, without passphrase) that `signJwt` accepts. */
export function isSigningKey(privateKeyPem: string): boolean {
  try {
    return algorithmOf(createPrivateKey(privateKeyPem)) !== undefined;
  } catch {
    return false;
  }
}

function algorithmOf({ asymmetricKeyType, asymmetricKeyDetails }: KeyObject): 'RS256' | 'ES256' | undefined {
  if (asymmetricKeyType === 'rsa' && (asymmetricKeyDetails?.modulusLength ?? 0) >= 2048) return 'RS256';
  if (asymmetricKeyType === 'ec' && asymmetricKeyDetails?.namedCurve === 'prime256v1') return 'ES256';
  return undefined;
}
