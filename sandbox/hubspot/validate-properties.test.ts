import { property, type PropertyDefinition } from './object-type.js';
import { storedValue, validateProperties } from './validate-properties.js';

const DEFINITIONS = new Map<string, PropertyDefinition>(
  [
    property('email'),
    property('day', { type: 'date' }),
    property('moment', { type: 'datetime' }),
    property('count', { type: 'number' }),
    property('track', { options: ['main', 'side'] }),
    property('tracks', { options: ['main', 'side'], fieldType: 'checkbox' }),
    property('member', { type: 'bool' }),
    property('created', { readOnlyValue: true }),
    property('text'),
  ].map((definition) => [definition.name, definition]),
);

describe('a value', () => {
  it.each([
    ['email', 'ann@example.com'],
    ['email', 'ann.b+c@mail.example.co.uk'],
    ['day', '2026-11-20'],
    ['day', String(Date.UTC(2026, 10, 20))],
    ['moment', '2026-11-20T10:11:12.345Z'],
    ['moment', '2026-11-20T10:11:12+02:00'],
    ['moment', '1763633472345'],
    ['count', '-1.5'],
    ['track', 'main'],
    ['tracks', 'main;side'],
    ['member', 'true'],
    ['text', 'x'.repeat(65_536)],
    ['day', ''],
    ['track', ''],
  ])('of %s is accepted: %.40s', (name, value) => {
    expect(validateProperties(DEFINITIONS, { [name]: value })).toEqual([]);
  });

  it.each([
    ['email', 'ann', 'INVALID_EMAIL'],
    ['email', 'ann@example', 'INVALID_EMAIL'],
    ['email', 'ann@@example.com', 'INVALID_EMAIL'],
    ['email', 'ann..b@example.com', 'INVALID_EMAIL'],
    ['email', 'ann b@example.com', 'INVALID_EMAIL'],
    ['email', 'ann@-example.com', 'INVALID_EMAIL'],
    ['day', '2026-11-20T10:00:00Z', 'INVALID_DATE'],
    ['day', '2026-11-20T00:00:00+02:00', 'INVALID_DATE'],
    ['day', '1763633472345', 'INVALID_DATE'],
    ['day', '20/11/2026', 'INVALID_LONG'],
    ['day', '2026-13-01', 'INVALID_LONG'],
    ['moment', 'yesterday', 'INVALID_LONG'],
    ['moment', '2026-11-20T10:11:12', 'INVALID_LONG'],
    ['count', 'many', 'INVALID_NUMBER'],
    ['track', 'Main', 'INVALID_OPTION'],
    ['track', 'main;side', 'INVALID_OPTION'],
    ['tracks', 'main;middle', 'INVALID_OPTION'],
    ['member', 'yes', 'INVALID_OPTION'],
    ['created', '2026-11-20', 'READ_ONLY_VALUE'],
    ['nothing', 'x', 'PROPERTY_DOESNT_EXIST'],
    ['nothing', '', 'PROPERTY_DOESNT_EXIST'],
    ['text', 'x'.repeat(65_537), 'VALUE_TOO_LONG'],
  ])('of %s is refused: %.40s (%s)', (name, value, code) => {
    expect(validateProperties(DEFINITIONS, { [name]: value }).map((problem) => [problem.name, problem.code])).toEqual([
      [name, code],
    ]);
  });

  it.each([
    ['email', 'Ann@Example.com', 'ann@example.com'],
    ['day', String(Date.UTC(2026, 10, 20)), '2026-11-20'],
    ['moment', '2026-11-20T10:11:12+02:00', '2026-11-20T08:11:12.000Z'],
    ['text', 'As It Is', 'As It Is'],
  ])('of %s is stored in HubSpot’s form: %s as %s', (name, value, kept) => {
    expect(storedValue(DEFINITIONS.get(name)!, value)).toBe(kept);
  });
});
