const secondsADay = 86_400;
/** 9999-12-31, the last day that Excel shows. */
const lastDay = 2_958_465;

/**
 * A spreadsheet's date number as ISO text, as much of it as the cell shows: `2026-11-21`, `2026-11-21T09:30:00`, or `09:30:00`
 * (a duration may have more than 24 hours). Without an offset: a spreadsheet knows none. Undefined: no date that Excel shows.
 *
 * Day 1 is 1900-01-01, and day 60 the 29th of February 1900, which never was: Excel keeps an error of Lotus 1-2-3.
 */
export function serialDate(
  serial: number,
  shows: { readonly date: boolean; readonly time: boolean },
  from1904: boolean,
): string | undefined {
  const seconds = Math.round(serial * secondsADay);
  if (seconds < 0 || seconds >= (lastDay + 1) * secondsADay) return undefined;
  if (!shows.date) return clock(seconds);
  const day = Math.floor(seconds / secondsADay);
  const date = from1904 ? calendar(Date.UTC(1904, 0, 1), day) : dateFrom1900(day);
  return shows.time ? `${date}T${clock(seconds % secondsADay)}` : date;
}

function dateFrom1900(day: number): string {
  if (day === 60) return '1900-02-29';
  return calendar(Date.UTC(1899, 11, day < 60 ? 31 : 30), day);
}

function calendar(start: number, days: number): string {
  return new Date(start + days * secondsADay * 1000).toISOString().slice(0, 10);
}

function clock(seconds: number): string {
  const two = (number: number) => String(number).padStart(2, '0');
  return `${two(Math.floor(seconds / 3600))}:${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}`;
}
