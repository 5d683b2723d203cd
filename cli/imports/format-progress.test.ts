import { formatProgress, progressInWords, standingInWords } from './follow-import.js';
import { countsOf, viewOf } from './import-views.test-kit.js';

const now = new Date('2026-11-21T18:00:00Z');
const sheet = { columns: 100, colours: false, now, timeZone: 'UTC' };
const waiting = { state: 'waiting', reason: 'quota used up', until: '2026-11-21T19:00:00Z' } as const;

describe('the progress of an import', () => {
  it('is a bar with the rate and the time left', () => {
    expect(formatProgress(viewOf(), 410, sheet)).toEqual([
      `${'█'.repeat(25)}${'░'.repeat(15)}  12,500 of 20,000 rows, 410 rows/s, 19 s left`,
    ]);
  });

  it.each([
    [
      'shortened to fit a narrow terminal',
      70,
      `${'█'.repeat(14)}${'░'.repeat(9)}  12,500 of 20,000 rows, 410 rows/s, 19 s left`,
    ],
    ['shown without a bar if there is no room for one', 50, '12,500 of 20,000 rows, 410 rows/s, 19 s left'],
    ['cut if there is no room for all words', 20, '12,500 of 20,000 ro…'],
  ])('is %s', (_, columns, line) => {
    const [only, ...more] = formatProgress(viewOf(), 410, { ...sheet, columns });
    expect([only, more]).toEqual([line, []]);
    expect(only!.length).toBeLessThanOrEqual(columns);
  });

  it('shows the reason and the end of a wait, and includes the wait in the time left', () => {
    const [bar, standing] = formatProgress(viewOf(waiting), 410, sheet);
    expect(bar).toMatch(/410 rows\/s, 60 min left$/);
    expect(standing).toBe('quota used up: continues at 19:00 (in 60 min)');
  });

  it.each([
    ['shows no rate while the rate is unknown', viewOf(), null, '12,500 of 20,000 rows'],
    [
      'shows no time left for a finished import',
      viewOf({ counts: countsOf({ created: 20_000 }) }),
      410,
      '20,000 of 20,000 rows',
    ],
    [
      'counts no row as settled that a canary leaves',
      viewOf({ state: 'done', canary: 1, counts: countsOf({ created: 1, cancelled: 19_999 }) }),
      410,
      '1 of 20,000 rows',
    ],
    ['shows no time left for a paused import', viewOf({ state: 'paused' }), 410, '12,500 of 20,000 rows, 410 rows/s'],
  ])('%s', (_, view, perSecond, words) => {
    expect(progressInWords(view, perSecond, { now })).toBe(words);
  });

  it('fills the bar only if no row is left', () => {
    const almost = viewOf({ counts: countsOf({ created: 19_999, waiting: 1 }) });
    expect(formatProgress(almost, null, sheet)[0]).toContain('█░ ');
    expect(formatProgress(viewOf({ rows: 0, counts: countsOf() }), null, sheet)[0]).toMatch(/^█{40} /);
  });
});

describe('the reason why an import waits', () => {
  it.each([
    ['', viewOf(), null],
    ['by a person', viewOf({ state: 'paused', reason: 'by ada: wrong list' }), 'paused: by ada: wrong list'],
    ['for the quota', viewOf(waiting), 'quota used up: continues at 19:00 (in 60 min)'],
    [
      'for another import',
      viewOf({ ...waiting, reason: 'another import has the rest of these codes', until: null }),
      'another import has the rest of these codes',
    ],
    ['for the file to be read', viewOf({ state: 'staging' }), 'pigeonpost is reading the file'],
  ])('is shown, waiting %s', (_, view, words) => {
    expect(standingInWords(view, { now, timeZone: 'UTC' })).toBe(words);
  });
});
