import { cell, cutToWidth, keepEnd, widthOf } from './text-width.js';

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

describe('a text that is cut', () => {
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

  it('keeps its end where the end says most', () => {
    expect(keepEnd('/日本/東京', 6)).toBe('…/東京');
  });

  it('fills a cell to the same width, whatever its characters are', () => {
    expect(['Summit', '東京カンファレンス', 'e\u0301'].map((text) => widthOf(cell(text, 8)))).toEqual([8, 8, 8]);
  });
});
