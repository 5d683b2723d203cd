const form =
  /^(?<date>\d{4}-\d\d-\d\d)[T ](?<minute>\d\d:\d\d)(?::(?<second>\d\d)(?:[.,](?<fraction>\d{1,12}))?)? ?(?<zone>Z|[+-]\d\d(?::?\d\d)?)?$/i;

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

function partsOf(text: string): { secondsMs: number; fraction: string } | undefined {
  const parts = form.exec(text)?.groups;
  if (parts === undefined || dayStartMs(parts.date!) === undefined) return undefined;
  const { date, minute, second = '00', fraction = '', zone = 'Z' } = parts;
  const [, sign, hours, minutes = '00'] = /^([+-])(\d\d):?(\d\d)?$/.exec(zone) ?? [null, '+', '00'];
  const secondsMs = Date.parse(`${date}T${minute}:${second}${sign}${hours}:${minutes}`);
  return Number.isNaN(secondsMs) ? undefined : { secondsMs, fraction };
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
