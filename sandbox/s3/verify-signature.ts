import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { DoubleRequest } from '../serve/double-request.js';

export interface AccessKey {
  readonly id: string;
  readonly secret: string;
  readonly sessionToken?: string;
}

interface SignatureProblem {
  readonly status: number;
  readonly code: string;
}

const allowedSkewMs = 15 * 60_000;

/**
 * Verifies an AWS Signature Version 4 of S3, computed here from the documentation and not by a library: "Authenticating
 * Requests: Using the Authorization Header (AWS Signature Version 4)" and "Signature Calculations for the Authorization
 * Header: Transferring Payload in a Single Chunk".
 * @returns undefined if the signature is valid
 */
export function verifySignature(
  request: DoubleRequest,
  keys: readonly AccessKey[],
  { region, nowMs }: { readonly region: string; readonly nowMs: number },
): SignatureProblem | undefined {
  const { headers } = request;
  const found =
    /^AWS4-HMAC-SHA256 Credential=([^/,\s]+)\/(\d{8})\/([^/]+)\/([^/]+)\/aws4_request, ?SignedHeaders=([a-z0-9;-]+), ?Signature=([0-9a-f]{64})$/.exec(
      headers['authorization'] ?? '',
    );
  if (found === null)
    return { status: 403, code: headers['authorization'] ? 'AuthorizationHeaderMalformed' : 'AccessDenied' };
  const [, id, day, scopeRegion, service, signedNames, signature] = found as unknown as string[];
  const date = headers['x-amz-date'] ?? '';
  if (!/^\d{8}T\d{6}Z$/.test(date) || !date.startsWith(day!)) return { status: 403, code: 'AccessDenied' };
  if (scopeRegion !== region || service !== 's3') return { status: 400, code: 'AuthorizationHeaderMalformed' };
  const key = keys.find((each) => each.id === id);
  if (key === undefined) return { status: 403, code: 'InvalidAccessKeyId' };
  const sentMs = Date.parse(date.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z'));
  if (Math.abs(sentMs - nowMs) > allowedSkewMs) return { status: 403, code: 'RequestTimeTooSkewed' };
  if (headers['x-amz-security-token'] !== key.sessionToken) return { status: 400, code: 'InvalidToken' };

  const payloadHash = sha256(request.bytes ?? Buffer.alloc(0));
  if (headers['x-amz-content-sha256'] !== payloadHash) return { status: 400, code: 'XAmzContentSHA256Mismatch' };
  const signed = signedNames!.split(';');
  const mustBeSigned = ['host', ...Object.keys(headers).filter((name) => name.startsWith('x-amz-'))];
  if (mustBeSigned.some((name) => !signed.includes(name))) return { status: 403, code: 'AccessDenied' };
  if (signed.join(';') !== signed.toSorted().join(';')) return { status: 403, code: 'SignatureDoesNotMatch' };

  const canonical = [
    request.method,
    canonicalPath(request.path),
    canonicalQuery(request.query),
    ...signed.map((name) => `${name}:${(headers[name] ?? '').trim().replace(/ +/g, ' ')}`),
    '',
    signed.join(';'),
    payloadHash,
  ].join('\n');
  const scope = `${day}/${region}/s3/aws4_request`;
  const toSign = ['AWS4-HMAC-SHA256', date, scope, sha256(Buffer.from(canonical))].join('\n');
  const signingKey = [day!, region, 's3', 'aws4_request'].reduce<Buffer | string>(
    (secret, part) => createHmac('sha256', secret).update(part).digest(),
    `AWS4${key.secret}`,
  );
  const expected = createHmac('sha256', signingKey).update(toSign).digest();
  return timingSafeEqual(expected, Buffer.from(signature!, 'hex'))
    ? undefined
    : { status: 403, code: 'SignatureDoesNotMatch' };
}

/**
 * Percent-encodes every character except the unreserved ones and the slash, regardless of how the client encoded them.
 */
function canonicalPath(path: string): string {
  return path
    .split('/')
    .map((part) => uriEncode(decodeURIComponent(part)))
    .join('/');
}

function canonicalQuery(query: URLSearchParams): string {
  return [...query]
    .map(([name, value]) => `${uriEncode(name)}=${uriEncode(value)}`)
    .toSorted()
    .join('&');
}

function uriEncode(text: string): string {
  return [...Buffer.from(text)]
    .map((byte) => {
      const character = String.fromCharCode(byte);
      return /[A-Za-z0-9\-._~]/.test(character) ? character : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
    })
    .join('');
}

function sha256(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}
