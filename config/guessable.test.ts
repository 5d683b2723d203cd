import { randomBytes } from 'node:crypto';
import { isGuessable } from './guessable.js';

describe('a token', () => {
  it.each([
    '1',
    'secret',
    '12345678901234567890123',
    'a'.repeat(40),
    'abcabcabcabcabcabcabcabcabc',
    'passwordpasswordpassword',
    '1234567890'.repeat(4),
  ])('%s can be guessed', (token) => {
    expect(isGuessable(token)).toBe(true);
  });

  it.each(['hex', 'base64url'] as const)('of random bytes as %s cannot', (form) => {
    for (let n = 0; n < 200; n += 1) expect(isGuessable(randomBytes(18).toString(form))).toBe(false);
  });
});
