import { positionFrom, positionText } from './live-changes.js';
import { byMinute } from './status.js';

const now = new Date('2026-11-21T10:00:00Z');
const ago = (ms: number): Date => new Date(now.getTime() - ms);

describe('the position of a client that follows changes', () => {
  it('can be parsed from its own text', () => {
    const position = new Map([
      [1, 5],
      [40_000, 2 ** 40],
    ]);
    expect(positionFrom(positionText(position)!)).toEqual(position);
    expect(positionFrom('')).toEqual(new Map());
  });

  it.each(['x', '1-', '-1', '1-2.', '1-2,3-4', '1-zzzzzzzzzzzz', `1-2${'.1-2'.repeat(4000)}`])(
    'cannot be parsed from %.20s',
    (text) => {
      expect(positionFrom(text)).toBeUndefined();
    },
  );

  it('has no text if the text would be too long for a header', () => {
    const many = new Map(Array.from({ length: 3000 }, (_, pigeonholeNumber) => [pigeonholeNumber, 100_000]));
    expect(positionText(many)).toBeUndefined();
  });
});

describe('the counts for a chart', () => {
  it('cover the last 60 minutes up to now, and ignore older counts', () => {
    const at = (ms: number, changes: number) => ({ minute: ago(ms), changes });
    const minutes = byMinute([at(0, 3), at(60_000, 2), at(59 * 60_000, 7), at(60 * 60_000, 100)], now);
    expect([minutes.length, minutes[59], minutes[58], minutes[0]]).toEqual([60, 3, 2, 7]);
    expect(minutes.reduce((sum, n) => sum + n)).toBe(12);
  });

  it('include counts that were read in the minute after now', () => {
    const later = { minute: ago(-60_000), changes: 3 };
    expect(byMinute([later], new Date(now.getTime() + 59_999)).at(-1)).toBe(3);
  });
});
