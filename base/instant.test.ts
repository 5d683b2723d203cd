import { dayStartMs, instantMs, spellInstant } from './instant.js';

describe('the one spelling of an instant', () => {
  it.each([
    '2026-11-21T08:00:00Z',
    '2026-11-21T08:00:00.000Z',
    '2026-11-21T08:00:00.000000z',
    '2026-11-21T08:00:00+00:00',
    '2026-11-21T08:00:00-00:00',
    '2026-11-21T08:00:00+0000',
    '2026-11-21T08:00:00+00',
    '2026-11-21T10:30:00+02:30',
    '2026-11-20T22:00:00.0-10:00',
    '2026-11-21 08:00:00Z',
    '2026-11-21 08:00:00 +00:00',
    '2026-11-21T08:00:00',
    '2026-11-21T08:00Z',
  ])('is the same for %s', (text) => {
    expect(spellInstant(text)).toBe('1795248000');
  });

  it('keeps every digit of a fraction, except zeros at its end', () => {
    expect(spellInstant('2026-11-21T08:00:00.250Z')).toBe('1795248000.25');
    expect(spellInstant('2026-11-21T08:00:00.25+00:00')).toBe('1795248000.25');
    expect(spellInstant('2026-11-21T08:00:00.250001Z')).toBe('1795248000.250001');
  });

  it.each([
    '',
    'yesterday',
    '2026-11-21',
    '2026-13-01T08:00:00Z',
    '2026-11-21T25:00:00Z',
    '2026-02-30T08:00:00Z',
    '2026-04-31T08:00:00+02:00',
    '8',
    '1.5',
    'May 1',
  ])('does not exist for %p', (text) => {
    expect(spellInstant(text)).toBeUndefined();
    expect(instantMs(text)).toBeUndefined();
  });

  it.each(['2026-11-21T08:00:00Z', '2026-11-21T08:00:00.001+09:30', '2024-02-29T23:59:59.999999Z'])(
    'is the instant that JavaScript reads: %s',
    (text) => {
      expect(instantMs(text)).toBe(Date.parse(text));
    },
  );
});

describe('a calendar day', () => {
  it('starts in UTC, if the calendar has it', () => {
    expect(dayStartMs('2024-02-29')).toBe(Date.UTC(2024, 1, 29));
    expect(['2026-02-29', '2026-02-30', '2026-04-31', '2026-13-01', '2026-00-10', '26-01-01'].map(dayStartMs)).toEqual(
      Array(6).fill(undefined),
    );
  });
});
