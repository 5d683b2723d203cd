import fc from 'fast-check';
import { LinearRegExp } from './linear-regexp.js';

/** Returns every match of an expression in a text, in the way JSONata iterates over them. */
function matchesOf(engine: Pick<RegExp, 'exec' | 'lastIndex'> | LinearRegExp, text: string): unknown[] {
  const found: unknown[] = [];
  for (let match = engine.exec(text); match !== null; match = engine.exec(text)) {
    found.push([match.index, engine.lastIndex, ...match]);
    if (match[0] === '') engine.lastIndex += 1; // an empty match would not advance
  }
  return found;
}

const patterns = [
  /a+b/g,
  /^a/g,
  /b$/g,
  /(a)|(b)/g,
  /(?:ab|a)(c?)/g,
  /[^a]+/g,
  /a{2,3}?/g,
  /\bA/gi,
  /^b/gm,
  /a.c/gs,
  /a.c/g,
  /\d+|\s+/g,
  /(?<name>b)c/g,
  /\u0061[\x62\-\]]/g,
  /é+/g,
];

describe('a regular expression in linear time', () => {
  it.each(patterns)('finds the same matches as JavaScript: %s', (pattern) => {
    const texts = fc.string({ unit: fc.constantFrom('a', 'b', 'c', 'A', 'é', ' ', '1', '\n', '-', ']', '😀') });
    fc.assert(
      fc.property(texts, (text) => {
        expect(matchesOf(new LinearRegExp(pattern), text)).toEqual(
          matchesOf(new RegExp(pattern.source, `${pattern.flags}u`), text),
        );
      }),
      { numRuns: 300 },
    );
  });

  it('starts at lastIndex, and at the beginning again after it found nothing', () => {
    const engine = new LinearRegExp(/a/g);
    engine.lastIndex = 1;
    expect(engine.exec('aba')?.index).toBe(2);
    expect(engine.exec('aba')).toBeNull();
    expect(engine.lastIndex).toBe(0);
    engine.lastIndex = 9;
    expect(engine.exec('aba')).toBeNull();
  });

  it.each([/a(?=b)/, /a(?!b)/, /(?<=a)b/, /(?<!a)b/, /(a)\1/, /(?<n>a)\k<n>/, /a{1001}/])(
    'rejects an unsupported pattern: %s',
    (pattern) => {
      expect(() => new LinearRegExp(pattern)).toThrow(SyntaxError);
    },
  );
});
