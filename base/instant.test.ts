import { spellInstant } from './instant.js';

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

  it.each(['', 'yesterday', '2026-11-21', '2026-13-01T08:00:00Z', '2026-11-21T25:00:00Z', '8', '1.5'])(
    'does not exist for %p',
    (text) => {
      expect(spellInstant(text)).toBeUndefined();
    },
  );
});
