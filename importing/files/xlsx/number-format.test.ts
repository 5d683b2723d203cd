import { builtInForm, formOf, pictured, serialDate } from './number-format.js';

describe('a number format', () => {
  it.each([
    ['yyyy-mm-dd', { date: true, time: false }],
    ['d. mmm', { date: true, time: false }],
    ['mmmm', { date: true, time: false }],
    ['dd/mm/yy hh:mm', { date: true, time: true }],
    ['h:mm AM/PM', { date: false, time: true }],
    ['[h]:mm:ss', { date: false, time: true, elapsed: true }],
    ['[mm]', { date: false, time: true, elapsed: true }],
    ['[Red][$-409]dd.mm.yyyy;@', { date: true, time: false }],
  ])('shows dates: %s', (code, shows) => {
    expect(formOf(code)).toEqual({ kind: 'date', ...shows });
  });

  it.each([
    'General',
    '@',
    '0.00',
    '#,##0',
    '0%',
    '# ?/?',
    '0.00E+00',
    '###',
    '[>999]000-000;000',
    '"days"',
    '[Red]General',
    '€ 0',
    '',
  ])('does not change the digits: %j', (code) => {
    expect(formOf(code)).toEqual({ kind: 'plain' });
  });

  it.each([
    ['00000', 123, '00123'],
    ['00000', 1234567, '1234567'],
    ['0', 0, '0'],
    ['#0', 5, '5'],
    ['000-00-0000', 12345678, '012-34-5678'],
    ['(000) 000-0000', 5551234567, '(555) 123-4567'],
    ['"EMP-"0000', 7, 'EMP-0007'],
    ['\\A000', 7, 'A007'],
    ['[Blue]000_);[Red]-000', 7, '007'],
    ['00-00', 123456, '1234-56'],
  ])('applies the pattern %s to the whole number %d: %s', (code, value, shown) => {
    const form = formOf(code);
    expect(form.kind === 'picture' && pictured(value, form.picture)).toBe(shown);
  });

  it.each([
    [0, { kind: 'plain' }],
    [1, { kind: 'plain' }],
    [14, { kind: 'date', date: true, time: false }],
    [20, { kind: 'date', date: false, time: true }],
    [22, { kind: 'date', date: true, time: true }],
    [49, { kind: 'plain' }],
    [57, { kind: 'date', date: true, time: false }],
  ])('can be identified by its built-in number: %d', (id, form) => {
    expect(builtInForm(id)).toEqual(form);
  });
});

const date = { date: true, time: false };
const both = { date: true, time: true };
const time = { date: false, time: true };
const elapsed = { ...time, elapsed: true };

describe('a date serial number', () => {
  it.each([
    [1, date, false, '1900-01-01'],
    [0, date, false, '00:00:00'], // no day has the number 0
    [0.395833333, both, false, '09:30:00'],
    [59, date, false, '1900-02-28'],
    [60, date, false, '1900-02-29'], // Excel shows this day, which never existed
    [61, date, false, '1900-03-01'],
    [36526, date, false, '2000-01-01'],
    [46347.5, date, false, '2026-11-21'],
    [46347, both, false, '2026-11-21T00:00:00'],
    [46347.999999, both, false, '2026-11-22T00:00:00'],
    [2958465, date, false, '9999-12-31'],
    [0, date, true, '1904-01-01'],
    [44885, date, true, '2026-11-21'],
    [0, time, false, '00:00:00'],
    [0.75, time, false, '18:00:00'],
    [1.5, time, false, '12:00:00'],
    [1.5, elapsed, false, '36:00:00'],
    [416.666, elapsed, false, '9999:59:02'],
    [416.667, elapsed, false, '1901-02-19T16:00:29'],
    [2958466, date, false, undefined],
    [-1, date, false, undefined],
  ])('%d is shown as %j (1904 date system: %s): %s', (serial, shows, from1904, text) => {
    expect(serialDate(serial, shows, from1904)).toBe(text);
  });
});
