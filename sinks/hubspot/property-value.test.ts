import { noteText, LONGEST_TEXT, looksLikeEmail, normalEmail, propertyValue } from './property-value.js';

describe('a property value', () => {
  it.each([
    ['a text', 'a text'],
    [7, '7'],
    [0, '0'],
    [false, 'false'],
    [['a', 'b', 3], 'a;b;3'],
    [null, null],
    ['', undefined],
    [undefined, undefined],
  ])('for %j is %j', (value, text) => expect(propertyValue(value, 'x')).toBe(text));

  it('cannot be an object', () => expect(() => propertyValue({ a: 1 }, 'x')).toThrow('returned an object'));

  it('is cut between two characters', () => {
    const cut = propertyValue(`${'x'.repeat(LONGEST_TEXT - 1)}🎈🎈`, 'x');
    expect(cut).toBe('x'.repeat(LONGEST_TEXT - 1));
    expect(propertyValue('🎈'.repeat(LONGEST_TEXT), 'x')).toHaveLength(LONGEST_TEXT);
  });
});

describe('an e-mail address', () => {
  it('is compared without case and surrounding space', () =>
    expect(normalEmail(' Ada@Example.COM ')).toBe('ada@example.com'));
  it.each(['ada@example.com', 'a.b+c@sub.example.co', "o'hara@example.ie", 'ü@bücher.example'])('can be %s', (email) =>
    expect(looksLikeEmail(email)).toBe(true),
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
  ])('cannot be "%s"', (email) => expect(looksLikeEmail(email)).toBe(false));
});

describe("a note's text", () => {
  it('shows the text as written, and contains no HTML of the author', () => {
    expect(noteText('1 < 2 & "3"\r\n<script>', '[m]')).toBe(
      '<p>1 &lt; 2 &amp; &quot;3&quot;<br>&lt;script&gt;</p><p>[m]</p>',
    );
  });

  it('is cut between two characters, and keeps its mark', () => {
    const text = noteText('🎈&'.repeat(LONGEST_TEXT), '[mark]');
    expect(text.length).toBeLessThanOrEqual(LONGEST_TEXT);
    expect(text.length).toBeGreaterThan(LONGEST_TEXT * 0.99);
    expect(text).toMatch(/(🎈|&amp;)<\/p><p>\[mark\]<\/p>$/u);
  });
});
