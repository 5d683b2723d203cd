import { classifyFailure } from './classify.js';

describe('a refusal of an object store', () => {
  const answer = (status: number, code: string) =>
    classifyFailure(
      { kind: 'answer', status, code, headers: {}, body: Buffer.alloc(0), atMs: 0 },
      'writing an object',
      { isWrite: true },
    );

  it.each([
    [403, 'InvalidAccessKeyId'], // Amazon, MinIO, Ceph
    [400, 'InvalidAccessKeyId'],
    [404, 'InvalidAccessKey'],
    [404, 'NoSuchAccessKey'],
    [403, 'NotSignedUp'], // s3s
    [501, 'NotSignedUp'],
    [400, 'InvalidClientTokenId'],
  ])('means that it does not know the key (HTTP %i %s)', (status, code) => {
    expect(answer(status, code)).toEqual({
      kind: 'pause',
      cause: 'credential',
      detail: expect.stringContaining('the store does not know the access key: check "accessKeyId"') as string,
    });
  });

  it.each([
    [403, 'AccessDenied', 'allow s3:PutObject'],
    [403, 'AccessDenied', 'some stores also answer this to an unknown "accessKeyId"'],
    [403, '', 'allow s3:PutObject'],
    [401, '', 'check "accessKeyId" and "secretAccessKey"'],
    [403, 'SignatureDoesNotMatch', 'check "secretAccessKey" and "region"'],
  ])('says what to do (HTTP %i %s)', (status, code, advice) => {
    expect(answer(status, code)).toMatchObject({
      cause: 'credential',
      detail: expect.stringContaining(advice) as string,
    });
  });

  it.each([
    [404, 'NoSuchKey'],
    [404, 'NoSuchBucket'],
    [501, 'NotImplemented'],
  ])('is no matter of the key (HTTP %i %s)', (status, code) => {
    expect(answer(status, code)).toMatchObject({ cause: 'destination' });
  });
});
