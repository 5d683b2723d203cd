import fc from 'fast-check';
import { instantOf, localTime, utcMidnightMs } from './event-time.js';

const zones = [
  'Asia/Tokyo',
  'Europe/Berlin',
  'America/New_York',
  'America/St_Johns',
  'Asia/Kathmandu',
  'Australia/Lord_Howe',
  'Pacific/Kiritimati',
  'Pacific/Pago_Pago',
  'Africa/Casablanca',
  'UTC',
];
const fewYears = { min: Date.UTC(1990, 0, 1), max: Date.UTC(2060, 0, 1) };
const hourMs = 3_600_000;

describe('the local time of an instant', () => {
  it.each([
    ['2026-11-21T23:30:00Z', 'Asia/Tokyo', '2026-11-22 08:30'],
    ['2026-11-21T04:59:00Z', 'America/New_York', '2026-11-20 23:59'],
    ['2026-11-21T05:00:00Z', 'America/New_York', '2026-11-21 00:00'],
    ['2026-03-29T00:59:59Z', 'Europe/Berlin', '2026-03-29 01:59'], // the hour from 2 to 3 does not exist
    ['2026-03-29T01:00:00Z', 'Europe/Berlin', '2026-03-29 03:00'],
    ['2026-10-25T00:30:00Z', 'Europe/Berlin', '2026-10-25 02:30'], // and occurs twice
    ['2026-10-25T01:30:00Z', 'Europe/Berlin', '2026-10-25 02:30'],
    ['2026-10-24T22:00:00Z', 'Europe/Berlin', '2026-10-25 00:00'],
    ['2026-01-01T10:00:00Z', 'Pacific/Kiritimati', '2026-01-02 00:00'],
    ['2026-01-01T10:59:00Z', 'Pacific/Pago_Pago', '2025-12-31 23:59'],
    ['2026-11-21T00:00:00Z', 'Asia/Kathmandu', '2026-11-21 05:45'],
    ['2011-12-30T09:59:00Z', 'Pacific/Apia', '2011-12-29 23:59'], // 30 December did not exist there
    ['2011-12-30T10:00:00Z', 'Pacific/Apia', '2011-12-31 00:00'],
  ])('%s in %s is %s', (instant, zone, expected) => {
    const { day, time } = localTime(Date.parse(instant), zone);
    expect(`${day} ${time}`).toBe(expected);
  });

  it('is at most 14 hours ahead of UTC and 12 hours behind, and always on a valid day', () => {
    fc.assert(
      fc.property(fc.integer(fewYears), fc.constantFrom(...zones), (atMs, zone) => {
        const { day, time } = localTime(atMs, zone);
        const midnightMs = utcMidnightMs(day)!;
        const [hours, minutes] = time.split(':').map(Number);
        const offsetMs = midnightMs + hours! * hourMs + minutes! * 60_000 - Math.floor(atMs / 60_000) * 60_000;
        expect(offsetMs).toBeGreaterThanOrEqual(-12 * hourMs);
        expect(offsetMs).toBeLessThanOrEqual(14 * hourMs);
        expect(Math.abs(offsetMs) % (15 * 60_000)).toBe(0);
      }),
    );
  });

  it('never returns an earlier day for a later instant', () => {
    fc.assert(
      fc.property(
        fc.integer(fewYears),
        fc.integer({ min: 0, max: 48 * hourMs }),
        fc.constantFrom(...zones),
        (atMs, laterMs, zone) => {
          expect(localTime(atMs + laterMs, zone).day >= localTime(atMs, zone).day).toBe(true);
        },
      ),
    );
  });

  it('rejects an unknown time zone', () => {
    expect(() => localTime(0, 'Europe/Atlantis')).toThrow(RangeError);
  });
});

describe('the instant of a value', () => {
  it.each([
    ['2026-11-21T09:30:00Z', '2026-11-21T09:30:00.000Z'],
    ['2026-11-21T09:30:00.123456Z', '2026-11-21T09:30:00.123Z'],
    ['2026-11-21T09:30:00+08:00', '2026-11-21T01:30:00.000Z'],
    ['2026-11-21T09:30+0530', '2026-11-21T04:00:00.000Z'],
    ['2026-11-21T09:30:00', '2026-11-21T09:30:00.000Z'], // UTC, regardless of the machine's time zone
    [' 2026-11-21t09:30:00z ', '2026-11-21T09:30:00.000Z'],
    [0, '1970-01-01T00:00:00.000Z'],
  ])('for %p is %s', (value, expected) => {
    expect(new Date(instantOf(value)!).toISOString()).toBe(expected);
  });

  it.each([
    '',
    'May 1',
    '2026-11-21',
    '21.11.2026',
    '2026-02-30T00:00:00Z',
    '2026-11-21T25:00:00Z',
    '1732181400',
    Number.NaN,
    Number.POSITIVE_INFINITY,
    9e15,
    null,
    true,
    {},
  ])('does not exist for %p', (value) => {
    expect(instantOf(value)).toBeUndefined();
  });

  it('can be read from JavaScript’s ISO format', () => {
    fc.assert(
      fc.property(fc.integer(fewYears), (atMs) => {
        expect(instantOf(new Date(atMs).toISOString())).toBe(atMs);
      }),
    );
  });
});
