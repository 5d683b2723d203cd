import { cleanEmailAddress, withoutInvisible } from './email-address.js';

describe('an e-mail address', () => {
  const local = 'l'.repeat(64);
  const longest = `${local}@${'d'.repeat(63)}.${'e'.repeat(63)}.${'f'.repeat(57)}.com`;

  it.each([
    [' Ada@Example.com ', 'Ada@Example.com'],
    ['\u200bada@example.com', 'ada@example.com'], // zero-width space
    ['ada@exam\u00adple.com', 'ada@example.com'], // soft hyphen
    ['\u202aada@example.com\u202c', 'ada@example.com'], // direction marks of a copied cell
    ['\ufeffada@example.com', 'ada@example.com'], // byte order mark
    ['\u00a0ada@example.com\u00a0', 'ada@example.com'], // no-break space
    ['ada@example.com\u0000\r\n', 'ada@example.com'],
    ['mailto:ada@example.com', 'ada@example.com'],
    ['MailTo: ada@example.com?subject=Hi%20there', 'ada@example.com'],
    ['müller@exämple.de', 'müller@exämple.de'],
    ["o'brien+tag@example.co.uk", "o'brien+tag@example.co.uk"],
    [longest, longest],
  ])('is cleaned: %j', (text, address) => {
    expect(cleanEmailAddress(text)).toBe(address);
  });

  it.each([
    '',
    'n/a',
    'mailto:',
    'mailto:nobody',
    'ada@localhost',
    'ada @example.com',
    'ada\u00a0lovelace@example.com',
    'ada@@example.com',
    'ada@example..com',
    'ada@.example.com',
    'ada@example.com, bob@example.com',
    'Ada <ada@example.com>',
    `x${longest}`,
    `${longest}m`,
    `${'é'.repeat(33)}@example.com`, // 66 bytes before the @
  ])('is none: %j', (text) => {
    expect(cleanEmailAddress(text)).toBeUndefined();
  });
});

describe('a text without invisible characters', () => {
  it.each(['\u0007\u0000', '\u200b\u2060', ' \u00ad ', '\u3164', ''])('is empty: %j', (text) => {
    expect(withoutInvisible(text)).toBe('');
  });
});
