import {
  type TextLine,
  extraRows,
  wholeSpan,
  wrapFacts,
  renderLine,
  span,
  keepEnd,
  widthOf,
  cell,
  cutToWidth,
  shownText,
  wrapText,
} from './text-line.js';

const plain = (columns: number) => ({ columns, colours: false });

describe('a rendered line', () => {
  it.each([
    [8, 'one two'],
    [7, 'one two'],
    [6, 'one t…'],
    [4, 'one…'],
    [3, 'on…'],
    [1, '…'],
  ])('in %d columns reads "%s"', (columns, text) => {
    expect(renderLine([span('one '), span('two')], plain(columns))).toBe(text);
  });

  it('ends with an ellipsis if a piece ends at the edge and more follows', () => {
    expect(renderLine([span('one'), span('two')], plain(3))).toBe('on…');
  });

  it.each([[20], [11], [10], [9], [4]])('is never wider than %d columns, whatever its texts', (columns) => {
    const line = [span('東京🎉'), span('\u001b[2J\u202egnp'), span(' e\u0301\ud83d end')];
    const rendered = renderLine(line, plain(columns));
    expect(widthOf(rendered)).toBeLessThanOrEqual(columns);
    expect(rendered).not.toMatch(/[\p{Cc}\p{Bidi_Control}\p{Cs}]/u);
  });

  it('is coloured piece by piece, except empty pieces', () => {
    const line = renderLine([span('  ', 'red'), span('one', 'green'), span('two')], { columns: 80, colours: true });
    expect(shownText(line, { colours: true })).toBe('  \u001b[32mone\u001b[39mtwo');
  });
});

describe('a text cut at its beginning', () => {
  it('is cut only if it is too long', () => {
    expect([keepEnd('abcdef', 6), keepEnd('abcdef', 5), keepEnd('abcdef', 1)]).toEqual(['abcdef', '…cdef', '…']);
  });
});

describe('the width of a text on a terminal', () => {
  it.each([
    ['Summit', 6],
    ['東京', 4],
    ['한국어', 6],
    ['🎉', 2],
    ['e\u0301', 1],
    ['پ\u200cن', 2],
    ['Ａ', 2],
    ['', 0],
  ])('of %j is %d columns', (text, columns) => {
    expect(widthOf(text)).toBe(columns);
  });
});

describe('a text cut at its end', () => {
  it.each([
    ['東京カンファレンス', 6, '東京…'],
    ['東京カンファレンス', 5, '東京…'],
    ['東京', 4, '東京'],
    ['cafe\u0301 bar', 5, 'cafe\u0301…'],
    ['abc', 0, ''],
  ])('%j in %d columns reads %j', (text, columns, shown) => {
    expect(cutToWidth(text, columns)).toBe(shown);
  });

  it('never ends within a character', () => {
    expect(cutToWidth('🎉🎉🎉', 4)).toBe('🎉…');
  });

  it('is cut at its beginning on request', () => {
    expect(keepEnd('/日本/東京', 6)).toBe('…/東京');
  });

  it('fills a cell to the same width, whatever its characters', () => {
    expect(['Summit', '東京カンファレンス', 'e\u0301'].map((text) => widthOf(cell(text, 8)))).toEqual([8, 8, 8]);
  });
});

describe('a wrapped text', () => {
  it.each<[string, string, Parameters<typeof wrapText>[1], string[]]>([
    ['that fits is one line', 'one two', { columns: 7 }, ['one two']],
    ['is broken between words', 'one two three', { columns: 9 }, ['one two', 'three']],
    ['is indented below its beginning', 'one two', { columns: 8, lead: '  - ' }, ['  - one', '    two']],
    ['is indented as far as requested', 'one two', { columns: 8, lead: '  - ', indent: 2 }, ['  - one', '  two']],
    ['keeps a word that is too long whole', 'a incomprehensible b', { columns: 6 }, ['a', 'incomprehensible', 'b']],
    ['contains no control character', 'one\u001b[2J\ntwo', { columns: 20 }, ['one [2J two']],
    ['can be empty', '', { columns: 20, lead: '- ' }, ['-']],
  ])('%s', (_, text, options, lines) => {
    expect(wrapText(text, options)).toEqual(lines);
  });
});

describe('facts after a label', () => {
  const shown = (facts: string[], columns: number): string[] =>
    wrapFacts('  withheld: ', facts, columns).map((line) => renderLine(line, { columns, colours: false }));

  it('are never cut, not even one that is longer than a line', () => {
    expect(shown(['55 consent refused', '1 in a pigeonhole that no sync of this sink selects'], 50)).toEqual([
      '  withheld: 55 consent refused,',
      '            1 in a pigeonhole that no sync of this',
      '            sink selects',
    ]);
    expect(shown([], 50)).toEqual([]);
  });
});

describe('a link that is wider than the terminal', () => {
  const link: TextLine = [span('page  ', 'dim'), wholeSpan(`http://127.0.0.1:8088/?code=${'x'.repeat(40)}`)];

  it('is printed whole, and counts as the rows that it takes', () => {
    expect(renderLine(link, { columns: 60, colours: false })).toBe(
      `page  http://127.0.0.1:8088/?code=${'x'.repeat(40)}`,
    );
    expect([extraRows([link], 60), extraRows([link], 20), extraRows([link], 80)]).toEqual([1, 3, 0]);
  });
});
