import { MAX_RETRY_AFTER_MS, MIN_RETRY_AFTER_MS, retryAfterMs } from './retry-after.js';

const nowMs = Date.parse('2026-11-21T09:30:00Z');

describe('Retry-After', () => {
  it.each([
    ['120', 120_000],
    [' 7 ', 7_000],
    ['Sat, 21 Nov 2026 09:31:30 GMT', 90_000],
    ['Saturday, 21-Nov-26 09:31:30 GMT', 90_000],
    ['Sat Nov 21 09:31:30 2026', 90_000],
    ['0', MIN_RETRY_AFTER_MS],
    ['00', MIN_RETRY_AFTER_MS],
    ['Fri, 20 Nov 2026 09:31:30 GMT', MIN_RETRY_AFTER_MS],
    ['999999999999', MAX_RETRY_AFTER_MS],
    ['Sat, 21 Nov 2099 09:31:30 GMT', MAX_RETRY_AFTER_MS],
  ])('"%s" means %d ms', (header, expected) => expect(retryAfterMs(header, nowMs)).toBe(expected));

  it.each([
    undefined,
    '',
    'soon',
    '-3',
    '+3',
    '1.5',
    '1e3',
    '0x10',
    '5s',
    '5, 5',
    'Infinity',
    '2026-11-21',
    '2026-11-21T09:31:30Z',
    '12 minutes',
    'Xyz, 99 Foo 2026 99:99:99 GMT',
  ])('"%s" is ignored', (header) => expect(retryAfterMs(header, nowMs)).toBeUndefined());
});
