import { serialDate } from './serial-date.js';

const date = { date: true, time: false };
const both = { date: true, time: true };
const time = { date: false, time: true };

describe('a date number of a spreadsheet', () => {
  it.each([
    [1, date, false, '1900-01-01'],
    [59, date, false, '1900-02-28'],
    [60, date, false, '1900-02-29'], // never was; Excel shows it
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
    [1.5, time, false, '36:00:00'],
    [2958466, date, false, undefined],
    [-1, date, false, undefined],
  ])('%d is shown as %j from 1904 %s: %s', (serial, shows, from1904, text) => {
    expect(serialDate(serial, shows, from1904)).toBe(text);
  });
});
