import { checkValue, type ValueKind } from './check-value.js';
import { codesLostInText } from './checked-row.js';

/** Returns the value to send and its notes, or the problem. */
function judged(text: string, kind: ValueKind = 'code'): string {
  const { value, notes, problem } = checkValue(text, kind);
  return problem ?? [value, ...notes].join(' ');
}

describe('a value that a spreadsheet protects', () => {
  it.each<[string, ValueKind, string]>([
    ['="0300123"', 'code', '0300123 formula-removed'],
    ['="0170 55"', 'phone', '0170 55 formula-removed'],
    ['= "Ann ""A"" Ray"', 'name', 'Ann "A" Ray formula-removed'],
    ['="1-Mar"', 'code', '1-Mar formula-removed'],
    ['=""', 'other', ' formula-removed'],
    ["'1-Mar", 'code', '1-Mar apostrophe-removed'],
    ['\'=A2&"x"', 'name', '=A2&"x" apostrophe-removed'],
    ['100123.0', 'code', '100123 decimals-removed'],
    ['4917012345.00', 'phone', '4917012345 decimals-removed'],
    ['1.0', 'other', '1.0'],
  ])('%s in a %s becomes %s', (text, kind, expected) => {
    expect(judged(text, kind)).toBe(expected);
  });
});

describe('a code that a spreadsheet has destroyed', () => {
  const dates =
    '1-Mar Mar-01 01.03.2026 3/1/2026 3/1/26 2026-03-01 1-mars 01-mar-26 janv.-26 46347.3958 01.03.2026_08:00 2026-03-01_08:00:00';
  it.each<[string, readonly string[]]>([
    ['date-in-code', [...dates.split(' ').map((text) => text.replace('_', ' ')), '01. Mrz', '2026-03-01T08:00:00Z']],
    ['scientific-number', ['4,687E+17', '1.00E+05', '1E+05', '4.687e+17', '1E-05']],
    ['error-cell', ['#N/A', '#NV', '#N/D', '#REF!', '#WERT!', '#¡VALOR!', '#DIV/0!', '#NAME?', '#####', 'Err:502']],
    ['formula', ['=A2', '=A2&"-1"', '=CONCATENATE("A",B2)', '=$A$2', '="A"&B2', '=0300123+0']],
    ['digits-lost', ['468700000000000000', '400638133393100000']],
    ['placeholder', ['NaN', 'null', 'N/A', '-', '\u2014', '?', 'TBD']],
  ])('is refused as %s', (problem, codes) => {
    expect(codes.map((code) => `${code} ${judged(code)}`)).toEqual(codes.map((code) => `${code} ${problem}`));
  });

  it('stays refused in a report that is imported unchanged', () => {
    for (const code of ['date-in-code', 'scientific-number', 'error-cell', 'formula', 'digits-lost', 'placeholder'])
      expect(codesLostInText).toContain(code);
  });

  it.each([
    '0300123',
    '3-1',
    '12-05-03',
    '1E5',
    '12E4',
    'MAR-01',
    'DEC-2026',
    'Mar-001',
    'Marie-12',
    'A#N',
    '#12',
    '2026-0001',
    '32.13.2026',
    '=',
    '=)',
    'C46-1',
    '123456789012345678',
    '+491701234',
    'E+10',
    'NULL-1',
    'ab=c',
    '10:30',
    'May-2',
    '#VIP',
  ])('is not this one: %s', (code) => {
    expect(judged(code)).toBe(code);
  });

  it('has a twin in other fields, of which dates and placeholders may be meant', () => {
    expect(judged('#N/A', 'other')).toBe('error-cell');
    expect(judged('4,687E+17', 'phone')).toBe('scientific-number');
    expect(judged('=A2&B2', 'name')).toBe('formula');
    for (const text of ['1-Mar', '2026-03-01', '-', '=A2']) expect(judged(text, 'other')).toBe(text);
  });
});

describe('characters that cannot be seen', () => {
  const unseen = Array.from(
    '\u200b\u200c\u200d\u200e\u200f\u00ad\u2060\ufeff\u202a\u202c\u2066\u2069\u061c\u00a0\u202f\u2007\u034f\u3164',
  );

  it.each<[ValueKind, string, string]>([
    ['code', 'A', '1'],
    ['email', 'ada@', 'example.com'],
    ['phone', '+49', '170'],
  ])('are removed from a value of kind %s, with a note', (kind, before, after) => {
    for (const character of unseen) {
      expect(judged(`${before}${character}${after}`, kind)).toBe(`${before}${after} invisible-removed`);
      expect(judged(`${character}${before}${after}${character}`, kind)).toMatch(
        /^(A1|ada@example.com|\+49170) (trimmed|invisible-removed)$/,
      );
    }
  });

  it('stay in names, which may need them', () => {
    for (const text of ['می\u200cخواهم', '👩\u200d💻', 'Ann\u00a0Ray']) expect(judged(text, 'name')).toBe(text);
  });

  it('are a problem where they may separate values', () => {
    for (const text of ['A\n1', 'A\t1', 'A\u00071', 'A\u20281']) expect(judged(text)).toBe('control-character');
  });
});

describe('a remarkable value', () => {
  it.each<[string, ValueKind, string]>([
    ['C35\u20131', 'code', 'hard-to-type'],
    ['\uff23\uff13\uff15', 'code', 'hard-to-type'],
    ['C35\u20113', 'code', 'hard-to-type'],
    ['\u042135-4', 'code', 'hard-to-type'],
    ['\u0421AB', 'code', 'hard-to-type'],
    ['46347.39', 'code', 'decimal-code'],
    ['O&#039;Brien', 'name', 'html-codes'],
    ['Caf&eacute;', 'other', 'html-codes'],
  ])('%s in a %s gets the note %3$s and is sent', (text, kind, note) => {
    expect(checkValue(text, kind)).toEqual({ value: text, notes: [note], problem: undefined });
  });

  it.each<[string, ValueKind]>([
    ['ЖЩ-12', 'code'],
    ['参会-1', 'code'],
    ['Ü-12', 'code'],
    ['C35\u20131', 'name'],
    ['A & B; C', 'name'],
    ['R&D; more', 'other'],
  ])('is not %s in a %s', (text, kind) => {
    expect(checkValue(text, kind).notes).toEqual([]);
  });
});
