import fc from 'fast-check';
import { truncate } from './mapping-functions.js';

const family = '👩‍👩‍👧‍👦';
const graphemesOf = (text: string): string[] =>
  [...new Intl.Segmenter('und', { granularity: 'grapheme' }).segment(text)].map(({ segment }) => segment);

/** Texts whose characters are of many lengths. */
const texts = fc.string({ unit: fc.oneof(fc.constantFrom(family, '👍🏽', '🇸🇬', 'é', 'か\u3099', '\r\n'), fc.string()) });

describe('a text that is cut', () => {
  it.each([
    ['hello', 5, '', 'hello'],
    ['hello', 4, '', 'hell'],
    ['hello', 0, '', ''],
    ['hello world', 6, '…', 'hello…'],
    ['hello', 1, '…', '…'],
    ['hello', 1, '...', 'h'], // no room for the ending
    ['a😀b', 2, '', 'a'],
    ['a😀b', 3, '', 'a😀'],
    [`a${family}b`, 11, '', 'a'],
    [`a${family}b`, 12, '', `a${family}`],
    ['cafe\u0301!', 4, '', 'caf'],
    ['👍🏽👍🏽', 5, '', '👍🏽'],
    ['🇸🇬🇩🇪', 6, '', '🇸🇬'],
    ['a\r\nb', 2, '', 'a'],
  ])('%j at %d with %j is %j', (text, longest, ending, expected) => {
    expect(truncate(text, longest, ending)).toBe(expected);
  });

  it('is as long as it may be, and cut between two characters', () => {
    fc.assert(
      fc.property(texts, fc.nat({ max: 60 }), (text, longest) => {
        const cut = truncate(text, longest);
        const whole = graphemesOf(text);
        const kept = graphemesOf(cut);
        expect(cut.length).toBeLessThanOrEqual(longest);
        expect(text.startsWith(cut)).toBe(true);
        const next = whole[kept.length];
        // either the next character does not fit, or the first is too long alone: then its beginning is kept
        if (cut !== text && !(kept.length <= 1 && whole[0]!.length > longest)) {
          expect(kept).toEqual(whole.slice(0, kept.length));
          expect(cut.length + next!.length).toBeGreaterThan(longest);
        }
      }),
      { numRuns: 1000 },
    );
  });

  it('never holds half of a pair of surrogates that was whole', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.nat({ max: 40 }), (text, longest) => {
        fc.pre(!/\p{Surrogate}/u.test(text));
        expect(truncate(text, longest, '…')).not.toMatch(/\p{Surrogate}/u);
      }),
    );
  });

  it('keeps the beginning of a character that is longer than everything allowed', () => {
    const zalgo = `a${'\u0301'.repeat(5_000)}`;
    expect(truncate(zalgo, 3_000)).toHaveLength(3_000);
    expect(truncate(`${'x'.repeat(50)}${zalgo}`, 3_000)).toHaveLength(3_000);
    expect(truncate(`😀${'\u0301'.repeat(10)}`, 1)).toBe('');
  });

  it('is cut in the middle of a very long text as in a short one', () => {
    const text = `${'x'.repeat(100_000)}${family}${'y'.repeat(100_000)}`;
    expect(truncate(text, 100_005)).toHaveLength(100_000);
    expect(truncate(text, 100_011)).toHaveLength(100_011);
  });
});
