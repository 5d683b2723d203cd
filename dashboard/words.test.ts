import { counted, formatDistance, formatSpan, grouped } from '../base/words.js';
import { capitalized, rowsInWords, splitAtInstants } from './words.js';

describe('formatted numbers and times', () => {
  it.each([
    [0, '0 s'],
    [119, '119 s'],
    [120, '2 min'],
    [7200, '2 h'],
    [172_800, '2 d'],
  ])('%d seconds are %s', (seconds, words) => {
    expect(formatSpan(seconds)).toBe(words);
  });

  it.each([
    [0, 'just now'],
    [-12_000, '12 s ago'],
    [180_000, 'in 3 min'],
  ])('%d ms from now is %s', (differenceMs, words) => {
    expect(formatDistance(1_000_000 + differenceMs, 1_000_000)).toBe(words);
  });

  it('group thousands, and have a plural', () => {
    expect([grouped(20_000), counted(1, 'change'), counted(2, 'change')]).toEqual(['20,000', '1 change', '2 changes']);
  });

  it('list the first rows', () => {
    expect([rowsInWords(1, [7]), rowsInWords(1250, [2, 3, 4])]).toEqual(['row 7', '1,250 rows (2, 3, 4, …)']);
  });

  it('capitalize a sentence, but not a command', () => {
    expect(capitalized('nothing is read')).toBe('Nothing is read');
    expect(capitalized('pigeonpost import FILE')).toBe('pigeonpost import FILE');
  });

  it('split a sentence into instants and text', () => {
    const at = '2026-11-21T09:30:00.000Z';
    expect(splitAtInstants(`waits since ${at}, and`)).toEqual([
      { text: 'waits since ', instant: false },
      { text: at, instant: true },
      { text: ', and', instant: false },
    ]);
    expect(splitAtInstants('paused since 2026-11-21 09:30 UTC.')).toEqual([
      { text: 'paused since ', instant: false },
      { text: '2026-11-21T09:30Z', instant: true },
      { text: '.', instant: false },
    ]);
  });
});
