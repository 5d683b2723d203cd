import fc from 'fast-check';
import { queriesFor, soqlNumber, soqlText } from './query.js';

describe('a text in a query', () => {
  it.each([
    ['plain', "'plain'"],
    ["O'Neil", String.raw`'O\'Neil'`],
    ['a "b"', String.raw`'a \"b\"'`],
    ['back\\slash', String.raw`'back\\slash'`],
    ["\\' OR Id != '", String.raw`'\\\' OR Id != \''`],
    ['line\nbreak\r\ttab', String.raw`'line\nbreak\r\ttab'`],
    ['100%_sure', "'100%_sure'"],
    ['', "''"],
    ['half \ud83d, NUL \0', "'half \ufffd, NUL \0'"],
  ])('%j is quoted as %s', (text, literal) => {
    expect(soqlText(text)).toBe(literal);
  });

  it('cannot end its quotation, whatever it contains', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const inside = soqlText(text).slice(1, -1);
        expect(inside.replace(/\\[\\'"nrtbf]/g, '')).not.toMatch(/['\\\n\r]/);
        const back: Record<string, string> = { n: '\n', r: '\r', t: '\t', b: '\b', f: '\f' };
        expect(inside.replace(/\\(.)/g, (_, escaped: string) => back[escaped] ?? escaped)).toBe(text);
      }),
    );
  });
});

it('a query for a text with half a surrogate pair can be created', () => {
  expect(queriesFor([soqlText('\ud800')], (list) => `SELECT Id FROM Contact WHERE Email IN (${list})`)).toHaveLength(1);
});

describe('a number in a query', () => {
  it.each([
    ['42', '42'],
    ['-1.5', '-1.5'],
    ["1' OR '1", undefined],
    ['1e9', undefined],
    ['', undefined],
  ])('%j becomes %j', (text, literal) => {
    expect(soqlNumber(text)).toBe(literal);
  });
});

describe('queries for many values', () => {
  it('contain each value once, in URLs below the length limit', () => {
    const literals = Array.from({ length: 2_000 }, (_, n) => soqlText(`person.${n % 1_500}@events.example.com`));
    const queries = queriesFor(literals, (list) => `SELECT Id FROM Lead WHERE Email IN (${list})`);
    expect(Math.max(...queries.map((query) => encodeURIComponent(query).length))).toBeLessThan(8_000);
    const asked = queries.flatMap((query) => /\((.*)\)/.exec(query)![1]!.split(','));
    expect(asked).toEqual([...new Set(literals)]);
  });

  it('do not exist without values', () => {
    expect(queriesFor([], (list) => list)).toEqual([]);
  });
});
