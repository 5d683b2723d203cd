import fc from 'fast-check';
import { typeErrors } from '../../test/kit/type-errors.js';
import { itemMessage, redactedMessage, slackText, testMessage, threadMessage } from './blocks.js';

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

describe('the blocks of a message', () => {
  const link = { label: 'Open', url: 'https://app.example.com/q/1' };
  const bare = { text: 'Will the slides be shared?', session: null, author: null, votes: null };
  const full = { text: 'When?', session: 'Keynote', author: 'Ann Ray', votes: 2, mentions: ['S0123456789'] };
  const shown = [
    itemMessage({ ...bare, mentions: [], links: [], buttons: [] }),
    itemMessage({ ...full, links: [link, link], buttons: [link] }),
    threadMessage('Keynote'),
    redactedMessage(),
    testMessage('questions'),
  ].map(({ blocks }) => blocks);
  const published = { package: '@slack/types', type: 'vendor.KnownBlock[]' };

  it('have the types that Slack publishes', () => {
    const wrong = [{ ...shown[0]![0]!, unknown: true }];
    expect(typeErrors(published, [...shown, wrong])).toEqual([expect.stringContaining('"unknown"')]);
  });
});
