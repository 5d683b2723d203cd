import { retryAfterMs } from '../../base/retry-after.js';
import { whileHeld } from '../../base/lease.js';
import { Secret } from '../../config/secret.js';
import { unrecorded } from '../network/exchange-log.js';
import { requestIdOf } from '../network/read-answer.js';
import { fieldsOf, type Fields, type Result } from '../sink.js';
import { type Grant, grantRequest } from './grants.js';
import type { RestAnswer, RestClient } from './rest-client.js';

/** The request for a token, and the words that explain its refusal. */
export interface TokenRequest {
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

interface IssuedToken {
  readonly token: Token;
  /** Infinity if the server does not report one. */
  readonly lifetimeMs: number;
}

const TIMEOUT_MS = 30_000;
const noLease = (): undefined => undefined;

/**
 * Requests a token. The request uses neither the signal nor the lease of the lane that started it, because other lanes
 * wait for the token as well.
 * @throws {TokenFailure} if the answer contains no token
 */
export async function requestToken(options: TokenRequest): Promise<IssuedToken> {
  const { tokenUrl, grant, rest, now } = options;
  const { form, authorization } = grantRequest(grant, now());
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
  const answer = await unrecorded(() => whileHeld(noLease, () => rest.call(call, new AbortController().signal)));
  if (answer.kind === 'answer') return readToken(options, answer);
  throw new TokenFailure({ kind: 'retry', detail: answer.detail });
}

/** Reads the token from an answer. @throws {TokenFailure} if the answer contains no token */
function readToken(
  { name, keys, tokenUrl, advise }: TokenRequest,
  { status, headers, body, retryAfter, answeredAtMs }: RestAnswer,
): IssuedToken {
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
