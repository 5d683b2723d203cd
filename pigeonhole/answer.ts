import {
  type Quota,
  type ResponseHeaders,
  readQuota,
  readRetryAfterMs,
  headerOf,
  isJsonType,
  mediaTypeOf,
  requestIdOf,
} from './response-headers.js';
import { hash } from 'node:crypto';
import { ApiError, type ApiErrorKind, type Call, type FieldError, kindOfCode } from './api-error.js';
import { dataSpan, parseWithinDepth } from './response-body.js';

/** A whole response, not yet understood. */
export interface RawAnswer {
  readonly status: number;
  readonly headers: ResponseHeaders;
  readonly body: Uint8Array;
  /** When the request was made and when its answer was complete, epoch ms. */
  readonly requestedAt: number;
  readonly answeredAt: number;
}

/** A success. */
export interface ServiceAnswer {
  readonly status: number;
  /** Parsed JSON; undefined when the body was empty. */
  readonly body: unknown;
  readonly requestId: string | null;
  readonly requestedAt: number;
  readonly quota: Quota | null;
  readonly bytes: number;
  /**
   * SHA-256, in hex, of the bytes of `data` as they came; of the whole body where it has none. Not keyed: whoever has it
   * can try bodies against it.
   */
  readonly digest: string;
}

/** What a body turned out to be. `unreadable` says JSON and is none; `other` is a page, a text, compressed, or nested without end. */
type Body =
  | { readonly kind: 'json'; readonly value: unknown }
  | { readonly kind: 'empty' }
  | { readonly kind: 'unreadable' }
  | { readonly kind: 'other'; readonly description: string };

/**
 * Tells success from failure, and names the failure. The code in the body decides; the HTTP status only where the body
 * has none, for the specification pairs no status with any code. An error code is believed under any status.
 * Source: docs/service-contract.md, "Errors".
 * @throws {ApiError} for everything but a 2xx answer without an error code
 */
export function readAnswer(call: Call, raw: RawAnswer): ServiceAnswer {
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
    const kind = kindOfCode(code);
    if (kind !== undefined) throw failure(kind, 'the service answered with an error', kind === 'transient');
    throw failure(
      kindOfUnknownCode(status),
      'the service answered with an unknown error code',
      status >= 500 || isSuccess,
    );
  }
  if (!isSuccess) {
    throw failure(kindOfStatus(status, body), problemOfStatus(status), status >= 500 && status !== 503);
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
  // Not asked for, so whatever sent it is not the service; and its bytes mean nothing to us.
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
    // The parser's error quotes the text around the fault, which may be anybody's data: it must not become a cause.
    return { kind: 'unreadable' };
  }
}

/** A four-digit code. Under a success status only where no `data` comes with it. */
function errorCodeIn(value: unknown, isSuccess: boolean): number | null {
  if (typeof value !== 'object' || value === null || !('code' in value)) return null;
  if (isSuccess && 'data' in value) return null;
  const { code } = value;
  return typeof code === 'number' && Number.isInteger(code) && code >= 1000 && code <= 9999 ? code : null;
}

function messageIn(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null || !('message' in value)) return undefined;
  return typeof value.message === 'string' ? value.message : undefined;
}

/** The refused fields of a validation error body (code 4500), where they have the documented form. */
export function fieldErrorsIn(value: unknown): FieldError[] | undefined {
  if (typeof value !== 'object' || value === null || !('errors' in value) || !Array.isArray(value.errors))
    return undefined;
  return value.errors.flatMap((entry: unknown) =>
    typeof entry === 'object' && entry !== null && 'field' in entry && 'message' in entry
      ? [{ field: String(entry.field), message: String(entry.message) }]
      : [],
  );
}

/**
 * The status alone, where the body has no code. A 404 may come from a proxy during a deployment, so without the
 * service's own word nothing is gone. A 403 is taken as a firewall's: were it the key, 401 would come as well, and
 * pausing a workspace needs better evidence.
 */
function kindOfStatus(status: number, body: Body): ApiErrorKind {
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
      return body.kind === 'json' ? 'transient' : 'throttled';
    default:
      return status < 400 ? 'protocol' : 'transient';
  }
}

/** A code beyond the listed ones is the service's own word, so its 404 counts; else the status decides as above. */
function kindOfUnknownCode(status: number): ApiErrorKind {
  if (status === 404) return 'notFound';
  return kindOfStatus(status, { kind: 'json', value: undefined });
}

function problemOfStatus(status: number): string {
  // Following a redirect would carry the key to wherever it points.
  if (status >= 300 && status <= 399) return 'the answer is a redirect, which is never followed';
  return 'the answer is an error without a code';
}
