import { beginningsOf, lookedUpBy, matchOf, searchedWords, wordsIn } from './search-words.js';

/** Whether a search finds a text: by the index, and then by comparing it. */
function finds(search: string, text: string): boolean {
  const words = searchedWords(search);
  const found = wordsIn([text]);
  const index = beginningsOf(found);
  const isIndexed = words.every((word) => index.has(lookedUpBy(word)));
  const { matches } = matchOf(words, found);
  expect(isIndexed || !matches).toBe(true); // the index misses nothing that matches
  return words.length > 0 && matches;
}

describe('a search by words', () => {
  it.each([
    ['keynote', 'Opening keynote: what comes next?'],
    ['KEY', 'Opening keynote'],
    ['open key', 'Opening keynote'],
    ['next opening', 'Opening keynote: what comes next?'],
    ['zoe', 'Zoë Müller'],
    ['müller', 'ZOE MULLER'],
    ['strasse', 'Straße 12'],
    ['ada@exam', 'ada@example.com'],
    ['12', 'Room 12'],
    ['internationalisation', 'Internationalisation matters'],
    ['昼食', '今日の昼食はいつですか'],
    ['昼', '今日の昼食はいつですか'],
    ['はいつで', '今日の昼食はいつですか'],
    ['점심', '점심은 언제입니까'],
  ])('finds %j in %j', (search, text) => {
    expect(finds(search, text)).toBe(true);
  });

  it.each([
    ['note', 'Opening keynote'],
    ['keynotes', 'Opening keynote'],
    ['open lunch', 'Opening keynote'],
    ['k', 'Opening keynote'],
    ['食昼', '今日の昼食はいつですか'],
    ['?!', 'What?!'],
  ])('does not find %j in %j', (search, text) => {
    expect(finds(search, text)).toBe(false);
  });

  it('tells whole words from beginnings', () => {
    const found = wordsIn(['When is lunch?']);
    expect([matchOf(['lunch'], found).whole, matchOf(['lun'], found).whole]).toEqual([1, 0]);
  });

  it('limits what one item adds to the index', () => {
    const text = Array.from({ length: 5000 }, (_, n) => `word${n}`).join(' ');
    expect(wordsIn([text, text]).size).toBe(120);
    expect(wordsIn(['漢'.repeat(5000)]).size).toBeLessThanOrEqual(120);
  });
});
