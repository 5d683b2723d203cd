import fc from 'fast-check';
import { slackText } from './blocks.js';

const family = '👨‍👩‍👧‍👦';

describe('a text for Slack', () => {
  it.each([
    ['mentions nobody', '<@U1>', '&lt;@U1&gt;'],
    ['keeps a person from writing an entity', '&lt;', '&amp;lt;'],
    ['keeps line breaks, of any kind', 'a\r\nb\rc\nd', 'a\nb\nc\nd'],
    ['loses control characters', 'a\u0000b\u001bc', 'abc'],
    ['has no half characters', 'a\ud83d', 'a\ufffd'],
    ['is left alone when it is as long as may be', 'abcdefghijkl', 'abcdefghijkl'],
    ['is cut with an ellipsis', 'abcdefghijklm', 'abcdefghijk…'],
    ['is not cut within an entity', 'abcde<<<', 'abcde&lt;…'],
    ['is not cut within a grapheme of several characters', `abc${family}`, 'abc…'],
  ])('%s', (_, text, expected) => {
    expect(slackText(text, 12)).toBe(expected);
  });

  it('holds the limit and has no bare control character of Slack, whatever it is', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 300 }), fc.integer({ min: 1, max: 200 }), (text, limit) => {
        const shown = slackText(text, limit);
        expect(shown.length).toBeLessThanOrEqual(limit);
        expect(shown).not.toMatch(/[<>]|&(?!amp;|lt;|gt;)/);
        expect(Buffer.from(shown).toString()).toBe(shown);
      }),
    );
  });
});
