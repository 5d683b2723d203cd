import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { decodedBody } from './decoded-body.js';

const text = JSON.stringify({ data: ['é', 1] });
const plain = Buffer.from(text);

describe('a body that its server encoded', () => {
  it.each([
    [undefined, plain],
    ['', plain],
    ['identity', plain],
    ['gzip', gzipSync(plain)],
    ['x-gzip', gzipSync(plain)],
    ['GZip', gzipSync(plain)],
    ['deflate', deflateSync(plain)],
    ['deflate', deflateRawSync(plain)],
    ['br', brotliCompressSync(plain)],
    ['gzip, br', brotliCompressSync(gzipSync(plain))],
  ])('is read: %s', async (encoding, body) => {
    expect((await decodedBody(body, encoding, 1000))?.toString()).toBe(text);
  });

  it.each([
    ['unknown', 'compress', plain],
    ['named like a member of every object', 'constructor', plain],
    ['not what it claims', 'gzip', plain],
    ['cut short', 'gzip', gzipSync(plain).subarray(0, 20)],
    ['encoded many times', 'gzip, gzip, gzip', gzipSync(gzipSync(gzipSync(plain)))],
    ['too long when it is decoded', 'gzip', gzipSync(Buffer.alloc(1001))],
  ])('is discarded if its encoding is %s', async (_why, encoding, body) => {
    expect(await decodedBody(body, encoding, 1000)).toBeUndefined();
  });

  it('may be empty', async () => {
    expect(await decodedBody(Buffer.alloc(0), 'gzip', 1000)).toHaveLength(0);
  });
});
