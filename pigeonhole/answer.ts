import {
  type Quota,
  type ResponseHeaders,
  readQuota,
  readRetryAfterMs,
  headerOf,
  isJsonType,
  mediaTypeOf,
  requestIdOf,
  dataSpan,
  parseWithinDepth,
} from './response.js';
import { hash } from 'node:crypto';
import { ApiError, type ApiErrorKind, type Call, errorKinds, type FieldError } from './api-error.js';

/** A complete HTTP response, not yet interpreted. */
export interface RawAnswer {
  readonly status: number;
  readonly headers: ResponseHeaders;
  readonly body: Uint8Array;
  /** Time of the request and time of the complete response, in epoch milliseconds. */
  readonly requestedAt: number;
  readonly answeredAt: number;
}

/** A successful response. */
export interface ServiceAnswer {
  readonly status: number;
  /** Parsed JSON; undefined if the body was empty. */
  readonly body: unknown;
  readonly requestId: string | null;
  readonly requestedAt: number;
  readonly quota: Quota | null;
  readonly bytes: number;
  /**
   * SHA-256, in hex, of the bytes of `data` as received; of the whole body if it has no `data`. It is not keyed, so
   * anyone who has it can test guesses of the body against it.
   */
  readonly digest: string;
  /** SHA-256 of the whole body of a 200, if the caller knows pages. */
  readonly bodyHash?: string;
  /** The known page with the same body: `body` is then parsed only if it is used. */
  readonly frame?: PageFrame;
}

/** The parts of a page apart from its items. */
export interface PageFrame {
  readonly nextCursor: string | null;
  readonly hasMore: boolean;
  readonly perPage: number;
  readonly digest: string;
}

/** Pages that were received before, by the SHA-256 of their bodies. */
export type KnownFrames = Map<string, PageFrame>;

/**
 * The result of parsing a body. `unreadable` is declared as JSON or has no media type, but does not parse; `other` is
 * compressed, nested too deep, or not JSON.
 */
type Body =
  | { readonly kind: 'json'; readonly value: unknown }
  | { readonly kind: 'empty' }
  | { readonly kind: 'unreadable' }
  | { readonly kind: 'other'; readonly description: string };

/**
 * Distinguishes success from failure, and classifies the failure. The code in the body decides. The HTTP status decides
 * only if the body has no code, because the specification does not say which status goes with which code. Even a 2xx
 * answer can be an error. Source: docs/service-contract.md, "Errors".
 * @param known a body with one of these pages is not parsed before it is used, because it was parsed before
 * @throws {ApiError} for everything except a 2xx response without an error code
 */
export function readAnswer(call: Call, raw: RawAnswer, known?: KnownFrames): ServiceAnswer {
  if (known === undefined || raw.status !== 200) return readWhole(call, raw);
  const bodyHash = hash('sha256', raw.body, 'base64');
  const frame = known.get(bodyHash);
  if (frame === undefined) return { ...readWhole(call, raw), bodyHash };
  const { status, headers, requestedAt, answeredAt } = raw;
  let whole: ServiceAnswer | undefined;
  return {
    status,
    get body() {
      whole ??= readWhole(call, raw);
      return whole.body;
    },
    requestId: requestIdOf(headers),
    requestedAt,
    quota: readQuota(headers, answeredAt),
    bytes: raw.body.byteLength,
    digest: frame.digest,
    bodyHash,
    frame,
  };
}

function readWhole(call: Call, raw: RawAnswer): ServiceAnswer {
  const { status } = raw;
  const isSuccess = status >= 200 && status <= 299;
  const requestId = requestIdOf(raw.headers);
  const quota = readQuota(raw.headers, raw.answeredAt);
  const retryAfterMs = readRetryAfterMs(raw.headers, raw.answeredAt);
  const body = readBody(raw);
  const code = body.kind === 'json' ? errorCodeIn(body.value, isSuccess) : null;

  const failure = (kind: ApiErrorKind, problem: string, mayHaveTakenEffect: boolean): ApiError => {
    const fieldErrors = body.kind === 'json' ? fieldErrorsIn(body.value) : undefined;
    return new ApiError(call, {
      kind,
      problem,
      code,
      status,
      requestId,
      retryAfterMs,
      quota,
      fieldErrors,
      serviceMessage: body.kind === 'json' ? messageIn(body.value) : undefined,
      mayHaveTakenEffect,
    });
  };

  if (code !== null) {
    const kind = errorKinds.get(code);
    if (kind !== undefined) {
      const problem = kind === 'credential' ? 'the service refused the API key' : 'the service answered with an error';
      throw failure(kind, problem, kind === 'transient');
    }
    throw failure(
      kindOfUnknownCode(status),
      'the service answered with an unknown error code',
      status >= 500 || isSuccess,
    );
  }
  if (!isSuccess) {
    throw failure(kindOfStatus(status, body.kind), problemOfStatus(status), status >= 500 && status !== 503);
  }
  switch (body.kind) {
    case 'json':
    case 'empty':
      return {
        status,
        body: body.kind === 'json' ? body.value : undefined,
        requestId,
        requestedAt: raw.requestedAt,
        quota,
        bytes: raw.body.byteLength,
        digest: hash('sha256', dataSpan(raw.body) ?? raw.body, 'hex'),
      };
    case 'unreadable':
      throw failure('transient', 'the answer ends early or is not the JSON that it claims to be', true);
    case 'other':
      throw failure('protocol', `the answer is ${body.description}`, true);
  }
}

function readBody({ headers, body }: RawAnswer): Body {
  // An encoding that is left is one that could not be decoded.
  const encoding = headerOf(headers, 'content-encoding')?.trim().toLowerCase() ?? 'identity';
  if (encoding !== 'identity' && encoding !== '') return { kind: 'other', description: 'compressed and not JSON' };
  const text = Buffer.from(body.buffer, body.byteOffset, body.byteLength)
    .toString('utf8')
    .replace(/^\uFEFF/, '');
  if (text.trim() === '') return { kind: 'empty' };
  const mediaType = mediaTypeOf(headers);
  if (mediaType !== undefined && !isJsonType(mediaType))
    return { kind: 'other', description: `of type ${mediaType} and not JSON` };
  try {
    const parsed = parseWithinDepth(text);
    return parsed === 'too deep'
      ? { kind: 'other', description: 'nested far deeper than any documented one' }
      : { kind: 'json', value: parsed.value };
  } catch {
    // The parser's error quotes the text around the fault, which may be personal data. It must not become the cause of an
    // ApiError, because loggers print causes.
    return { kind: 'unreadable' };
  }
}

/** Returns the four-digit code of a body. Under a success status, a code counts only if the body has no `data`. */
function errorCodeIn(value: unknown, isSuccess: boolean): number | null {
  if (isSuccess && memberOf(value, 'data') !== undefined) return null;
  const code = memberOf(value, 'code');
  return typeof code === 'number' && Number.isInteger(code) && code >= 1000 && code <= 9999 ? code : null;
}

function messageIn(value: unknown): string | undefined {
  const message = memberOf(value, 'message');
  return typeof message === 'string' ? message : undefined;
}

/** Returns the rejected fields of a validation error (code 4500), if the body has the documented form. */
export function fieldErrorsIn(value: unknown): FieldError[] | undefined {
  const errors = memberOf(value, 'errors');
  if (!Array.isArray(errors)) return undefined;
  return errors.flatMap((entry: unknown) =>
    typeof entry === 'object' && entry !== null && 'field' in entry && 'message' in entry
      ? [{ field: String(entry.field), message: String(entry.message) }]
      : [],
  );
}

/** Returns a member of a parsed JSON object; undefined if there is none. */
export function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined;
}

/** Returns what an error about the content of a successful answer reports of it. */
export function factsOf({ status, requestId, quota }: ServiceAnswer) {
  return { status, requestId, quota };
}

/**
 * Classifies an error without a code by its status. A 404 may come from a proxy during a deployment, so it does not
 * prove that anything was deleted. A 403 counts as transient, because it may come from a firewall. The service answers
 * an invalid key with 401 or code 4501, and only these pause a workspace.
 */
function kindOfStatus(status: number, body: Body['kind']): ApiErrorKind {
  switch (status) {
    case 400:
      return 'malformed';
    case 401:
      return 'credential';
    case 405:
    case 406:
    case 415:
    case 501:
      return 'unsupported';
    case 409:
    case 413:
    case 422:
      return 'invalid';
    case 429:
      return 'quota';
    case 503:
      return body === 'json' ? 'transient' : 'throttled';
    default:
      return status < 400 ? 'protocol' : 'transient';
  }
}

/**
 * Classifies an error with a code that is not in the specification. The code proves that the service itself answered,
 * so a 404 means not found. Other statuses are classified by `kindOfStatus`.
 */
function kindOfUnknownCode(status: number): ApiErrorKind {
  return status === 404 ? 'notFound' : kindOfStatus(status, 'json');
}

function problemOfStatus(status: number): string {
  // Following a redirect would send the key to another address.
  if (status >= 300 && status <= 399) return 'the answer is a redirect, which is never followed';
  return 'the answer is an error without a code';
}
