import { LONGEST_RETRY_AFTER_MS, retryAfterMs, SHORTEST_RETRY_AFTER_MS } from './retry-after.js';

const nowMs = Date.parse('2026-11-21T09:30:00Z');

describe('Retry-After', () => {
  it.each([
    ['120', 120_000],
    [' 7 ', 7_000],
    ['Sat, 21 Nov 2026 09:31:30 GMT', 90_000],
    ['Saturday, 21-Nov-26 09:31:30 GMT', 90_000],
    ['0', SHORTEST_RETRY_AFTER_MS],
    ['Fri, 20 Nov 2026 09:31:30 GMT', SHORTEST_RETRY_AFTER_MS],
    ['999999999999', LONGEST_RETRY_AFTER_MS],
    ['Sat, 21 Nov 2099 09:31:30 GMT', LONGEST_RETRY_AFTER_MS],
  ])('of "%s" is %d ms', (header, expected) => expect(retryAfterMs(header, nowMs)).toBe(expected));

  it.each([undefined, '', 'soon', '-3', '1.5', '2026-11-21', '12 minutes', 'Xyz, 99 Foo 2026 99:99:99 GMT'])(
    'of "%s" says nothing',
    (header) => expect(retryAfterMs(header, nowMs)).toBeUndefined(),
  );
});
