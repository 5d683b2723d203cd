import { renderLine, span } from './text-line.js';
import { keepEnd, widthOf } from './text-width.js';

const plain = (columns: number) => ({ columns, colours: false });

describe('a line that is rendered', () => {
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

  it('shows that something follows where a piece ends at the edge', () => {
    expect(renderLine([span('one'), span('two')], plain(3))).toBe('on…');
  });

  it.each([[20], [11], [10], [9], [4]])('is never wider than %d columns, whatever its texts are', (columns) => {
    const line = [span('東京🎉'), span('\u001b[2J\u202egnp'), span(' e\u0301\ud83d end')];
    const rendered = renderLine(line, plain(columns));
    expect(widthOf(rendered)).toBeLessThanOrEqual(columns);
    expect(rendered).not.toMatch(/[\p{Cc}\p{Bidi_Control}\p{Cs}]/u);
  });

  it('is coloured piece by piece, and not where a piece is empty', () => {
    expect(renderLine([span('  ', 'red'), span('one', 'green'), span('two')], { columns: 80, colours: true })).toBe(
      '  \u001b[32mone\u001b[39mtwo',
    );
  });
});

describe('a text whose end is kept', () => {
  it('loses its beginning only when it is too long', () => {
    expect([keepEnd('abcdef', 6), keepEnd('abcdef', 5), keepEnd('abcdef', 1)]).toEqual(['abcdef', '…cdef', '…']);
  });
});
