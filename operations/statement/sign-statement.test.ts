import fc from 'fast-check';
import { PublicKey, SigningKey } from '../../base/ed25519.js';
import { canonicalJson } from '../../ledger/canonical-json.js';
import { signPage, signStatement, statementFile, verifyFile } from './sign-statement.js';
import { statementOf } from './statement.test-kit.js';
import { statementPage } from './statement-page.js';

const key = new SigningKey(Buffer.alloc(32, 7));
const other = new SigningKey(Buffer.alloc(32, 8));
const { publicKey } = key;
const signed = signStatement(statementOf(), key);
const file = statementFile(signed);
const page = signPage(statementPage(signed), key);

/** Replaces one character of a text by another. */
const altered = (text: string) =>
  fc
    .tuple(
      fc.nat(text.length - 1),
      fc.integer({ min: 0x20, max: 0x7e }).map((code) => String.fromCharCode(code)),
    )
    .filter(([at, character]) => text[at] !== character)
    .map(([at, character]) => text.slice(0, at) + character + text.slice(at + 1));

describe('a signed statement', () => {
  it('is valid as it was written, and when it is formatted differently', () => {
    expect(verifyFile(file, publicKey)).toMatchObject({ result: 'valid', form: 'json', statement: { number: 7 } });
    expect(verifyFile(JSON.stringify(JSON.parse(file)), publicKey).result).toBe('valid');
    expect(verifyFile(file.replaceAll('\n', '\r\n'), publicKey).result).toBe('valid');
    const { signature, statement } = signed;
    expect(verifyFile(JSON.stringify({ signature, statement }), publicKey).result).toBe('valid');
  });

  it('is not valid after any character of its content was replaced', () => {
    const canonical = canonicalJson(signed.statement);
    const fileOf = (text: string): string => `{"statement":${text},"signature":${JSON.stringify(signed.signature)}}`;
    expect(verifyFile(fileOf(canonical), publicKey).result).toBe('valid');
    fc.assert(
      fc.property(altered(canonical), (text) => {
        expect(verifyFile(fileOf(text), publicKey).result).not.toBe('valid');
      }),
      { numRuns: 2000 },
    );
  });

  it('is not valid after any digit was replaced', () => {
    for (const { 0: digit, index: at } of file.matchAll(/\d/g)) {
      const text = file.slice(0, at) + String((Number(digit) + 1) % 10) + file.slice(at + 1);
      expect([at, verifyFile(text, publicKey).result]).not.toEqual([at, 'valid']);
    }
  });

  it.each([
    ['with a member that appears twice', file.replace('"agrees": true', '"agrees": false, "agrees": true')],
    ['with a digit as an escape', file.replace('"acme"', '"\\u0061cme"')],
    ['with an unsigned member', file.replace('"signature": {', '"note": "checked", "signature": {')],
    ['with an unsigned member in the signature', file.replace('"algorithm"', '"by": "me", "algorithm"')],
    ['with the fingerprint of another key', file.replace(publicKey.fingerprint, other.publicKey.fingerprint)],
    ['signed with another key', statementFile(signStatement(statementOf(), other))],
  ])('is not valid %s', (_, text) => {
    expect(text).not.toBe(file);
    expect(verifyFile(text, publicKey).result).toBe('altered');
  });

  it.each([
    '',
    '{}',
    'null',
    '[]',
    '"text"',
    'a,b\n1,2',
    '{"statement":{"format":"pigeonpost statement 2"},"signature":{"value":""}}',
  ])('is not %j', (text) => {
    expect(verifyFile(text, publicKey).result).toBe('unreadable');
  });
});

describe('a signed page', () => {
  it('is valid as it was written, and not after any character was replaced', () => {
    expect(verifyFile(page, publicKey)).toMatchObject({ result: 'valid', form: 'html' });
    fc.assert(
      fc.property(altered(page), (text) => {
        expect(verifyFile(text, publicKey).result).not.toBe('valid');
      }),
      { numRuns: 2000 },
    );
  });

  it('is not valid without its end, or with the signature of the figures', () => {
    expect(verifyFile(page.slice(0, -20), publicKey).result).toBe('altered');
    const forged = `${statementPage(signed)}\n<!-- pigeonpost signature ${signed.signature.value} -->\n`;
    expect(verifyFile(forged, publicKey).result).toBe('altered');
  });

  it('loads nothing, runs nothing, and shows texts as texts', () => {
    const { event } = statementOf();
    const hostile = statementOf({ event: { ...event, name: '<script>alert(1)</script>"&\'' } });
    const html = statementPage(signStatement(hostile, key));
    expect(html).not.toContain('<script');
    expect(html).toContain('&lt;script&gt;alert(1)&lt;/script&gt;&quot;&amp;&#39;');
    expect(html).not.toMatch(/(?:src|href|url)\s*[=(]/);
  });
});

describe('a public key', () => {
  it('is read from each form in which it is given', () => {
    const text = publicKey.toString();
    for (const form of [text, ` ${text}\n`, text.replace('ed25519:', ''), publicKey.pem]) {
      expect(PublicKey.parse(form)?.toString()).toBe(text);
    }
  });

  it.each([
    '',
    'ed25519:',
    'ed25519:abc',
    `${publicKey.toString()}x`,
    '-----BEGIN PUBLIC KEY-----\n-----END PUBLIC KEY-----',
  ])('is not %j', (text) => {
    expect(PublicKey.parse(text)).toBeUndefined();
  });

  it('checks a signature of RFC 8032, 7.1', () => {
    const seed = Buffer.from('4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb', 'hex');
    const signature = Buffer.from(
      '92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00',
      'hex',
    );
    expect(new SigningKey(seed).sign('r')).toBe(signature.toString('base64url'));
  });
});
