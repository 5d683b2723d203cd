import { emailAddress } from './crm-records.js';

describe('an e-mail address', () => {
  it.each([
    [' Ada@Example.COM ', 'ada@example.com'],
    ['a.b+c@sub.example.co', 'a.b+c@sub.example.co'],
    ["o'hara@example.ie", "o'hara@example.ie"],
    ['ü@bücher.example', 'ü@bücher.example'],
  ])('can be "%s", and is compared without case and surrounding space', (value, email) =>
    expect(emailAddress(value)).toBe(email),
  );

  it.each([
    'n/a',
    '',
    '-',
    'ada@',
    '@example.com',
    'ada@example',
    'a b@example.com',
    'a@b@example.com',
    'ada@example.',
  ])('cannot be "%s"', (value) => expect(emailAddress(value)).toBeNull());
});
