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
  ])('of %j is %s', (text, literal) => {
    expect(soqlText(text)).toBe(literal);
  });

  it('has its wildcards escaped only for LIKE, because a backslash before them is an error elsewhere', () => {
    expect(soqlText('100%_sure', { forLike: true })).toBe(String.raw`'100\%\_sure'`);
  });

  it('never ends before its last character, whatever it is', () => {
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

it('a query with texts that are too long for a URL is sent anyway', () => {
  expect(queriesFor([soqlText('\ud800')], (list) => `SELECT Id FROM Contact WHERE Email IN (${list})`)).toHaveLength(1);
});

describe('a number in a query', () => {
  it.each([
    ['42', '42'],
    ['-1.5', '-1.5'],
    ["1' OR '1", undefined],
    ['1e9', undefined],
    ['', undefined],
  ])('of %j is %j', (text, literal) => {
    expect(soqlNumber(text)).toBe(literal);
  });
});

describe('queries for many values', () => {
  it('ask for each of them once, in URLs that are short enough', () => {
    const literals = Array.from({ length: 2_000 }, (_, n) => soqlText(`person.${n % 1_500}@events.example.com`));
    const queries = queriesFor(literals, (list) => `SELECT Id FROM Lead WHERE Email IN (${list})`);
    expect(Math.max(...queries.map((query) => encodeURIComponent(query).length))).toBeLessThan(8_000);
    const asked = queries.flatMap((query) => /\((.*)\)/.exec(query)![1]!.split(','));
    expect(asked).toEqual([...new Set(literals)]);
  });

  it('do not exist without people', () => {
    expect(queriesFor([], (list) => list)).toEqual([]);
  });
});
