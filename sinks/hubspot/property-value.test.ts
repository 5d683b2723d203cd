import { instantValue, noteText, LONGEST_TEXT, propertyValue } from './property-value.js';

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

describe('a time', () => {
  it.each([
    ['2026-11-20T09:00:00+01:00', '2026-11-20T08:00:00.000Z'],
    ['2026-11-20T09:00', '2026-11-20T09:00:00.000Z'], // in UTC, whatever the time zone of the machine is
    ['2026-11-20', '2026-11-20T00:00:00.000Z'],
    [null, undefined],
  ])('for %j is %j', (value, text) => expect(instantValue(value, 'x')).toBe(text));

  it.each(['May 1', '11/12/2026', '2026-02-30T09:00:00Z'])('cannot be %j', (value) =>
    expect(() => instantValue(value, 'x')).toThrow('returned no time in ISO 8601'),
  );
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
