import { createHmac } from 'node:crypto';
import * as fc from 'fast-check';
import { Hmac } from './hmac.js';

describe('an HMAC', () => {
  it('matches the first two test cases of RFC 4231', () => {
    expect(new Hmac(Buffer.alloc(20, 0x0b)).of('Hi There').toString('hex')).toBe(
      'b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7',
    );
    expect(new Hmac(Buffer.from('Jefe')).of('what do ya want for nothing?').toString('hex')).toBe(
      '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843',
    );
  });

  it('equals the HMAC of node:crypto for any text and key', () => {
    const keys = fc.uint8Array({ maxLength: 64 });
    fc.assert(
      fc.property(keys, fc.string({ unit: 'binary', maxLength: 300 }), (key, text) => {
        expect(new Hmac(key).of(text)).toEqual(createHmac('sha256', key).update(text).digest());
      }),
    );
  });

  it.each([0, 1, 5439, 5440, 5441, 70_000])('of %i characters of three bytes equals the HMAC of node:crypto', (n) => {
    const key = Buffer.alloc(32, 7);
    const text = '漢'.repeat(n);
    expect(new Hmac(key).of(text)).toEqual(createHmac('sha256', key).update(text).digest());
  });

  it('does not depend on what was hashed before', () => {
    const hmac = new Hmac(Buffer.alloc(32, 7));
    const short = hmac.of('short');
    hmac.of('a text that is longer than the one before it and the one behind it');
    expect(hmac.of('short')).toEqual(short);
  });

  it('rejects a key that is longer than a block', () => {
    expect(() => new Hmac(Buffer.alloc(65))).toThrow(RangeError);
  });
});
