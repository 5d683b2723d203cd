import { diffLines } from './line-diff.js';

const marks = { same: ' ', added: '+', removed: '-', skipped: '…' };
const diff = (before: readonly string[], after: readonly string[]): string[] =>
  diffLines(`${before.join('\n')}\n`, `${after.join('\n')}\n`).map(({ kind, text }) => `${marks[kind]}${text}`);

describe('the lines that differ between two texts', () => {
  it('are none if the texts are equal, whatever ends their lines', () => {
    expect(diff(['a', 'b'], ['a', 'b'])).toEqual([]);
    expect(diffLines('a\r\nb', 'a\nb\n')).toEqual([]);
  });

  it('keep as many equal lines as possible', () => {
    expect(diff(['a', 'b', 'c', 'd'], ['a', 'c', 'x', 'd', 'e'])).toEqual([' a', '-b', ' c', '+x', ' d', '+e']);
  });

  it('are shown with three equal lines around them, and the number of the others', () => {
    const lines = Array.from({ length: 20 }, (_, n) => `line ${n}`);
    expect(diff(lines, lines.with(10, 'other'))).toEqual([
      '…7 equal lines',
      ' line 7',
      ' line 8',
      ' line 9',
      '-line 10',
      '+other',
      ' line 11',
      ' line 12',
      ' line 13',
      '…6 equal lines',
    ]);
  });

  it('are all lines of both texts if these are too long to compare', () => {
    const many = (name: string): string[] => Array.from({ length: 2001 }, (_, n) => `${name} ${n}`);
    const found = diff(many('a'), many('b'));
    expect([found.length, found[0], found.at(-1)]).toEqual([4002, '-a 0', '+b 2000']);
  });
});
