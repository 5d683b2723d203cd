import type { DoubleRequest } from '../serve/double-request.js';
import { verifySignature } from './verify-signature.js';

/** The example "GET Object" of "Signature Calculations for the Authorization Header" in the Amazon S3 API Reference. */
const example: DoubleRequest = {
  number: 1,
  atMs: 0,
  method: 'GET',
  path: '/test.txt',
  query: new URLSearchParams(),
  body: '',
  headers: {
    host: 'examplebucket.s3.amazonaws.com',
    range: 'bytes=0-9',
    'x-amz-content-sha256': 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
    'x-amz-date': '20130524T000000Z',
    authorization:
      'AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request,' +
      'SignedHeaders=host;range;x-amz-content-sha256;x-amz-date,' +
      'Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41',
  },
};
const keys = [{ id: 'AKIAIOSFODNN7EXAMPLE', secret: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY' }];
const at = { region: 'us-east-1', nowMs: Date.parse('2013-05-24T00:00:00Z') };

describe('the S3 double', () => {
  it('verifies the signature of the published example', () => {
    expect(verifySignature(example, keys, at)).toBeUndefined();
  });

  it.each<[string, Partial<DoubleRequest>, typeof at, string]>([
    ['another path', { path: '/test2.txt' }, at, 'SignatureDoesNotMatch'],
    ['a body', { bytes: Buffer.from('x') }, at, 'XAmzContentSHA256Mismatch'],
    ['a header that is not signed', { headers: { ...example.headers, 'x-amz-acl': 'private' } }, at, 'AccessDenied'],
    ['a clock that is 16 minutes ahead', {}, { ...at, nowMs: at.nowMs + 16 * 60_000 }, 'RequestTimeTooSkewed'],
    ['another region', {}, { ...at, region: 'eu-west-1' }, 'AuthorizationHeaderMalformed'],
    ['no signature', { headers: { host: 'examplebucket.s3.amazonaws.com' } }, at, 'AccessDenied'],
  ])('refuses %s', (_, change, place, code) => {
    expect(verifySignature({ ...example, ...change }, keys, place)).toMatchObject({ code });
  });
});
