const form = /^(\d{4}-\d\d-\d\d)[T ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,12}))?)? ?(?:Z|([+-])(\d\d)(?::?(\d\d))?)?$/i;

/**
 * Returns an instant in one spelling, whatever spelling of ISO 8601 it has: the seconds since 1970, with a fraction if
 * there is one (`1795248000.25`). `2026-11-21T08:00:00Z`, `…:00.000Z` and `…10:00:00+02:00` give the same text. A text
 * without an offset is in UTC, as the service writes its instants. Pure.
 * @returns undefined if the text is no instant
 */
export function spellInstant(text: string): string | undefined {
  const parts = partsOf(text);
  if (parts === undefined) return undefined;
  const digits = parts.fraction.replace(/0+$/, '');
  return digits === '' ? String(parts.secondsMs / 1000) : `${parts.secondsMs / 1000}.${digits}`;
}

/** The day of the last instant, because most instants of a page are of one day. */
let lastDay = { date: '', startMs: 0 };

/** Computes the instant itself, because reading a page parses thousands and Date.parse takes twice as long. */
function partsOf(text: string): { secondsMs: number; fraction: string } | undefined {
  const parts = form.exec(text);
  if (parts === null) return undefined;
  const [, date, hour, minute, second = '00', fraction = '', sign = '+', offsetHours = '00', offsetMinutes = '00'] =
    parts;
  const startMs = date === lastDay.date ? lastDay.startMs : dayStartMs(date!);
  if (startMs === undefined) return undefined;
  lastDay = { date: date!, startMs };
  const isMidnight = hour === '24' && minute === '00' && second === '00';
  const isTime = (hour! < '24' || isMidnight) && minute! < '60' && second < '60';
  if (!isTime || offsetHours > '23' || offsetMinutes > '59') return undefined;
  const offsetS = (Number(offsetHours) * 60 + Number(offsetMinutes)) * 60;
  const ofDayS = (Number(hour) * 60 + Number(minute)) * 60 + Number(second);
  return { secondsMs: startMs + (sign === '-' ? ofDayS + offsetS : ofDayS - offsetS) * 1000, fraction };
}

/**
 * Returns the start of a calendar day (`YYYY-MM-DD`) in UTC, Unix time in ms; undefined if the calendar has no such day.
 * Pure.
 */
export function dayStartMs(day: string): number | undefined {
  if (!/^\d{4}-\d\d-\d\d$/.test(day)) return undefined;
  const ms = Date.parse(`${day}T00:00:00Z`);
  // JavaScript reads 2026-02-30 as 2 March
  return new Date(ms).getUTCDate() === Number(day.slice(8)) ? ms : undefined;
}

/**
 * Parses an instant of the service or of a mapping, Unix time in ms: ISO 8601, in UTC if it has no offset. Undefined for
 * anything else: Date.parse alone also accepts 30 February, and texts such as "May 1", as a time in the machine's time
 * zone. Pure.
 */
export function instantMs(text: string): number | undefined {
  const parts = partsOf(text);
  return parts && parts.secondsMs + Number(parts.fraction.slice(0, 3).padEnd(3, '0'));
}
