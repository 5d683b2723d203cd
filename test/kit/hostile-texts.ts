import fc from 'fast-check';

/**
 * Texts that JSON can contain but that cause problems in programs: NUL and lone surrogates, which PostgreSQL cannot
 * store, texts that look like their escapes, control characters, and marks that change the direction of text.
 */
export const hostileTexts: readonly string[] = [
  '\0',
  'a\0\0b',
  '\ud800',
  '\udc00 first',
  'pair the wrong way \udc00\ud800',
  '\ud83d',
  '\ud83d\ud83d\ude00',
  '\\u0000 \\ud800 as they are written',
  'a backslash before it: \\\0 \\\\\0 \\\ud800',
  '\u0001\u001b[2J\u0007\u007f\u009b31m',
  '\u202egnp.exe \u2066\u2069\u200f',
  '\ufeff\ufffe\uffff\u2028\u2029\u00a0',
  '"\'`${}\\',
  "'; drop table items; --",
  '__proto__',
  '',
  '👩‍👩‍👧 e\u0301 漢字',
];

const piece = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...hostileTexts) },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 8 }) },
  // every UTF-16 code unit alone, halves of pairs included
  { weight: 1, arbitrary: fc.integer({ min: 0, max: 0xffff }).map((unit) => String.fromCharCode(unit)) },
);

export const hostileText: fc.Arbitrary<string> = fc
  .array(piece, { minLength: 1, maxLength: 4 })
  .map((pieces) => pieces.join(''));

/** Returns a text as PostgreSQL stores it, without NUL and lone surrogates. */
export function asStored(text: string): string {
  return text.replaceAll('\0', '\ufffd').replace(/\p{Surrogate}/gu, '\ufffd');
}

/** Converts every text in a value, including property names, to its stored form. The last of equal names wins. */
export function allAsStored(value: unknown): unknown {
  if (typeof value === 'string') return asStored(value);
  if (Array.isArray(value)) return value.map(allAsStored);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [asStored(name), allAsStored(member)]));
}
