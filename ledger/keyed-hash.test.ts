import { createHash } from 'node:crypto';
import { changeId, KeyedHash, replayedChangeId } from './keyed-hash.js';

const keysOf = (fill: number) => ({
  hash: Buffer.alloc(32, fill),
  subject: Buffer.alloc(32, fill + 1),
  fingerprint: Buffer.alloc(32, fill + 2),
});

describe('keyed hashes', () => {
  it('are the same for the same value in one ledger, and differ in another ledger', () => {
    const one = new KeyedHash(keysOf(1));
    expect(one.content('{}')).toEqual(new KeyedHash(keysOf(1)).content('{}'));
    expect(one.content('{}')).not.toEqual(new KeyedHash(keysOf(5)).content('{}'));
    expect(one.fingerprint('secret')).not.toBe(new KeyedHash(keysOf(5)).fingerprint('secret'));
  });

  it('of one value for different purposes differ, even if all keys are equal', () => {
    const same = Buffer.alloc(32, 9);
    const hash = new KeyedHash({ hash: same, subject: same, fingerprint: same });
    const text = 'acme\n42';
    const values = [
      hash.content(text).toString('base64url'),
      hash.rowKey(text),
      hash.subject('acme', 42, 'named').toString('base64url'),
      hash.subject('acme', 42, 'anonymous').toString('base64url'),
      hash.attendeeCode(text).toString('base64url'),
      hash.address(text).toString('base64url'),
    ];
    expect(new Set(values).size).toBe(6);
    expect(values.some((value) => value.startsWith(hash.fingerprint(text)))).toBe(false);
  });

  it('of a person in two workspaces differ', () => {
    const hash = new KeyedHash(keysOf(1));
    expect(hash.subject('acme', 42, 'named')).not.toEqual(hash.subject('other', 42, 'named'));
  });
});

describe('the id of a change', () => {
  it('is a UUID of version 5 and of the variant of RFC 9562', () => {
    for (let n = 0; n < 200; n += 1)
      expect(changeId(`change ${n}`)).toMatch(/^[0-9a-f]{12}5[0-9a-f]{3}[89ab][0-9a-f]{15}$/);
  });

  it('depends only on its name and never changes', () => {
    expect(changeId('acme\n101\nquestions\n9001\n1\ncreated\n00')).toBe('6880c64aa0c454a4bcb8994d364606f3');
    expect(changeId('one')).not.toBe(changeId('two'));
  });

  it.each([1365, 1366, 9000])('of %i characters of three bytes matches RFC 9562', (n) => {
    const name = '漢'.repeat(n);
    const namespace = Buffer.from('8b0c6f3e5d5b4c0f9a76f1c7d2b3e410', 'hex');
    const digest = createHash('sha1').update(namespace).update(name).digest();
    digest[6] = (digest[6]! & 0x0f) | 0x50;
    digest[8] = (digest[8]! & 0x3f) | 0x80;
    expect(changeId(name)).toBe(digest.toString('hex', 0, 16));
  });
});

describe('the id of a replayed change', () => {
  const change = '6880c64a-a0c4-54a4-bcb8-994d364606f3';
  const replay = '3f1d2c4b-5a69-4788-9a6b-7c8d9e0f1a2b';

  it('is a UUID in the form that the store writes, and the same for the same replay and change', () => {
    const id = replayedChangeId(replay, change);
    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(replayedChangeId(replay, change)).toBe(id);
  });

  it('differs from the change’s own id, and for another replay or change', () => {
    const ids = [
      change,
      replayedChangeId(replay, change),
      replayedChangeId(change, replay),
      replayedChangeId(replay, replay),
    ];
    expect(new Set(ids).size).toBe(ids.length);
  });
});
