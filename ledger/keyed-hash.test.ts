import { changeId, KeyedHash } from './keyed-hash.js';

const keysOf = (fill: number) => ({
  hash: Buffer.alloc(32, fill),
  subject: Buffer.alloc(32, fill + 1),
  fingerprint: Buffer.alloc(32, fill + 2),
});

describe('keyed hashes', () => {
  it('are the same for the same value and ledger, and others in another ledger', () => {
    const one = new KeyedHash(keysOf(1));
    expect(one.content('{}')).toEqual(new KeyedHash(keysOf(1)).content('{}'));
    expect(one.content('{}')).not.toEqual(new KeyedHash(keysOf(5)).content('{}'));
    expect(one.fingerprint('secret')).not.toBe(new KeyedHash(keysOf(5)).fingerprint('secret'));
  });

  it('of one value for two purposes never meet, even where all keys are one', () => {
    const same = Buffer.alloc(32, 9);
    const hash = new KeyedHash({ hash: same, subject: same, fingerprint: same });
    const text = 'acme\n42';
    const values = [
      hash.content(text).toString('base64url'),
      hash.rowKey(text),
      hash.subject('acme', 42, 'named').toString('base64url'),
      hash.subject('acme', 42, 'anonymous').toString('base64url'),
    ];
    expect(new Set(values).size).toBe(4);
    expect(values.some((value) => value.startsWith(hash.fingerprint(text)))).toBe(false);
  });

  it('of a person in two workspaces differ', () => {
    const hash = new KeyedHash(keysOf(1));
    expect(hash.subject('acme', 42, 'named')).not.toEqual(hash.subject('other', 42, 'named'));
  });
});

describe('the id of a change', () => {
  it('is a UUID of version 5 and of the variant of RFC 9562', () => {
    for (let n = 0; n < 200; n += 1) {
      expect(changeId(`change ${n}`)).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    }
  });

  it('follows from its name alone, for ever', () => {
    expect(changeId('acme\n101\nquestions\n9001\n1\ncreated\n00')).toBe('6880c64a-a0c4-54a4-bcb8-994d364606f3');
    expect(changeId('one')).not.toBe(changeId('two'));
  });
});
