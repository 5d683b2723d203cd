import fc from 'fast-check';
import { itemMessage, slackText } from './blocks.js';

const family = '👨‍👩‍👧‍👦';

describe('a text for Slack', () => {
  it.each([
    ['cannot mention anyone', '<@U1>', '&lt;@U1&gt;'],
    ['keeps an entity that a person typed as text', '&lt;', '&amp;lt;'],
    ['keeps line breaks of every kind', 'a\r\nb\rc\nd', 'a\nb\nc\nd'],
    ['loses control characters', 'a\u0000b\u001bc', 'abc'],
    ['has no half surrogate pairs', 'a\ud83d', 'a\ufffd'],
    ['is unchanged if it has the maximum length', 'abcdefghijkl', 'abcdefghijkl'],
    ['is cut with an ellipsis', 'abcdefghijklm', 'abcdefghijk…'],
    ['is not cut within an entity', 'abcde<<<', 'abcde&lt;…'],
    ['is not cut within a character of several code points', `abc${family}`, 'abc…'],
  ])('%s', (_, text, expected) => {
    expect(slackText(text, 12)).toBe(expected);
  });

  it('stays within the limit and contains no unescaped control character of Slack', () => {
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

describe('the text of a message, for notifications and screen readers,', () => {
  const bare = { text: 'When?', session: null, author: null, mentions: [], links: [], buttons: [] };

  it.each([
    [null, 'When?'],
    [0, 'When?\n0 votes'],
    [1, 'When?\n1 vote'],
  ])('has the number of votes if the message shows it: %s', (votes, text) => {
    expect(itemMessage({ ...bare, votes }).text).toBe(text);
  });

  it('has session, author and votes in the order of the blocks', () => {
    const { text } = itemMessage({ ...bare, session: 'Keynote', author: 'Ann Ray', votes: 3 });
    expect(text).toBe('When?\nKeynote · Ann Ray · 3 votes');
  });
});
