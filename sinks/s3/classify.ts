import { retryAfterMs } from '../../base/retry-after.js';
import type { Result } from '../sink.js';
import type { S3Answer } from './client.js';

export type Failure = Extract<Result, { readonly kind: 'retry' | 'pause' | 'unknown' }>;

/** Advice if the store refuses the credentials, by the store's code. */
const credentialAdvice: Readonly<Record<string, string>> = {
  SignatureDoesNotMatch: 'the signature does not match: check "secretAccessKey" and "region"',
  ExpiredToken: 'the session token has expired: renew the temporary credentials',
  InvalidToken: 'the store does not accept the session token: renew the temporary credentials',
  TokenRefreshRequired: 'the session token must be renewed: renew the temporary credentials',
  AccessDenied:
    'allow s3:PutObject, s3:GetObject and s3:DeleteObject on the prefix, and s3:ListBucket on the bucket; some stores also answer this to an unknown "accessKeyId"',
  AllAccessDisabled: 'access to the bucket is disabled',
  AccountProblem: 'the account has a problem: contact the support of the store',
};

/**
 * Codes of stores that do not know the access key: Amazon's and those of other stores, whose status may be 400, 404 or
 * 501. `NoSuchKey` is not among them, because it is about an object.
 */
const unknownKey =
  /AccessKey|KeyId|^(NotSignedUp|NoSuchUser|UserNotFound|InvalidClientTokenId|UnrecognizedClientException|AuthFailure)$/;

function adviceOn(code: string, status: number): string | undefined {
  if (unknownKey.test(code)) return 'the store does not know the access key: check "accessKeyId"';
  if (credentialAdvice[code] !== undefined) return credentialAdvice[code];
  if (status === 401) return 'check "accessKeyId" and "secretAccessKey"';
  return status === 403 ? credentialAdvice['AccessDenied'] : undefined;
}

const passingCodes = new Set([
  'RequestTimeout',
  'BadDigest',
  'IncompleteBody',
  'OperationAborted',
  'ConditionalRequestConflict',
]);

/**
 * Returns the meaning of an answer other than success. Pure. Sources: README.md.
 * @param what the action that failed, such as `writing an object`
 */
export function classifyFailure(answer: S3Answer, what: string, { isWrite }: { readonly isWrite: boolean }): Failure {
  if (answer.kind === 'silence')
    return { kind: isWrite && answer.mayHaveArrived ? 'unknown' : 'retry', detail: answer.detail };
  const { status, code, headers } = answer;
  const id = headers['x-amz-request-id'] ?? '';
  const request = /^[\w-]{1,80}$/.test(id) ? `, request ${id}` : '';
  const said = `${what} in the object store failed (HTTP ${status}${code === '' ? '' : ` ${code}`}${request})`;
  const region = regionOf(headers['x-amz-bucket-region']);
  const misplaced = (advice: string): Failure => ({
    kind: 'pause',
    cause: 'destination',
    detail: `${said}: ${advice}`,
  });
  if (code === 'RequestTimeTooSkewed') {
    const advice = "the clock of this machine differs from the store's by more than 15 minutes: correct it";
    return { kind: 'retry', detail: `${said}: ${advice}` };
  }
  if ((status >= 300 && status < 400) || code === 'AuthorizationHeaderMalformed') {
    return misplaced(
      region === '' ? 'check "region" and "endpoint"' : `the bucket is in ${region}: set "region: ${region}"`,
    );
  }
  const advice = adviceOn(code, status);
  if (advice !== undefined) return { kind: 'pause', cause: 'credential', detail: `${said}: ${advice}` };
  if (code === 'NoSuchBucket') return misplaced('create the bucket, or check "bucket"');
  if (status === 501) return misplaced('set "conditionalWrites: false" if the store does not support them');
  const afterMs = retryAfterMs(headers['retry-after'], answer.atMs);
  const wait = afterMs === undefined ? {} : { afterMs };
  if (passingCodes.has(code) || status === 408 || status === 429 || status === 503 || status === 507)
    return { kind: 'retry', detail: said, ...wait };
  // The store failed, but may have stored the object.
  if (status >= 500) return isWrite ? { kind: 'unknown', detail: said } : { kind: 'retry', detail: said, ...wait };
  return { kind: 'pause', cause: 'destination', detail: said };
}

function regionOf(header: string | undefined): string {
  return header !== undefined && /^[a-z0-9-]{2,40}$/.test(header) ? header : '';
}
