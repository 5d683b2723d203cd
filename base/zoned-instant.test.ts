import { instantsOf, isTimezone } from './zoned-instant.js';

describe('the instants of a local time', () => {
  it.each([
    ['2026-11-21T09:00:00', 'Europe/Berlin', ['2026-11-21T08:00:00.000Z']],
    ['2026-07-01T09:00:00', 'Europe/Berlin', ['2026-07-01T07:00:00.000Z']],
    ['2026-11-21T09:00:00', 'Asia/Kathmandu', ['2026-11-21T03:15:00.000Z']],
    ['2026-11-21T00:30:00', 'Pacific/Kiritimati', ['2026-11-20T10:30:00.000Z']],
    ['2026-11-21T23:30:00', 'Pacific/Pago_Pago', ['2026-11-22T10:30:00.000Z']],
    ['2026-11-21T09:00:00', 'UTC', ['2026-11-21T09:00:00.000Z']],
    ['2026-03-29T02:30:00', 'Europe/Berlin', []],
    ['2026-10-25T02:30:00', 'Europe/Berlin', ['2026-10-25T00:30:00.000Z', '2026-10-25T01:30:00.000Z']],
    ['2026-03-29T03:00:00', 'Europe/Berlin', ['2026-03-29T01:00:00.000Z']],
    ['2026-04-05T01:45:00', 'Australia/Lord_Howe', ['2026-04-04T14:45:00.000Z', '2026-04-04T15:15:00.000Z']],
  ])('%s in %s are %j', (local, timezone, expected) => {
    expect(instantsOf(local, timezone).map((at) => new Date(at).toISOString())).toEqual(expected);
  });
});

it.each([
  ['Europe/Berlin', true],
  ['UTC', true],
  ['Mars/Base', false],
  ['', false],
])('the time zone "%s" is known: %s', (name, known) => {
  expect(isTimezone(name)).toBe(known);
});
