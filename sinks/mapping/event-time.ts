/** A point in time as local date and time. */
export interface LocalTime {
  /** YYYY-MM-DD. */
  readonly day: string;
  /** HH:MM, 00:00 to 23:59. */
  readonly time: string;
}

const formats = new Map<string, Intl.DateTimeFormat>();

/**
 * Returns the local date and time in a time zone, including daylight saving time.
 * @param timeZone IANA name, such as `Europe/Berlin`
 * @throws {RangeError} if there is no such time zone
 */
export function localTime(atMs: number, timeZone: string): LocalTime {
  const parts = Object.fromEntries(
    formatFor(timeZone)
      .formatToParts(atMs)
      .map(({ type, value }) => [type, value]),
  );
  const { year, month, day, hour, minute } = parts;
  return { day: `${year!.padStart(4, '0')}-${month}-${day}`, time: `${hour}:${minute}` };
}

/**
 * Returns the formatter of a time zone, and caches it, because creating one takes a hundred times as long as using it.
 */
function formatFor(timeZone: string): Intl.DateTimeFormat {
  const known = formats.get(timeZone);
  if (known !== undefined) return known;
  const made = new Intl.DateTimeFormat('en-US', {
    timeZone,
    calendar: 'gregory',
    numberingSystem: 'latn',
    hourCycle: 'h23',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
  });
  formats.set(timeZone, made);
  return made;
}

/** Returns the start of a calendar day in UTC, Unix time in ms; undefined if the calendar has no such day. */
export function utcMidnightMs(day: string): number | undefined {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(day)) return undefined;
  const atMs = Date.parse(`${day}T00:00:00Z`);
  // JavaScript parses 2026-02-30 as 2 March
  return !Number.isNaN(atMs) && new Date(atMs).toISOString().startsWith(day) ? atMs : undefined;
}

/**
 * Returns the time that a value represents, Unix time in ms. The value is a text in ISO 8601 or a number in ms. A text
 * without an offset is in UTC, as the service writes times (specification, "createdAt"). Undefined for any other value.
 */
export function instantOf(value: unknown): number | undefined {
  const atMs = typeof value === 'string' ? parseInstant(value.trim()) : value;
  return typeof atMs === 'number' && Math.abs(atMs) <= 8.64e15 ? atMs : undefined;
}

/**
 * Parses a text in ISO 8601; NaN for anything else. It checks the format first, because Date.parse also accepts texts
 * such as "May 1", as a time in the machine's time zone.
 */
function parseInstant(text: string): number {
  const form = /^(\d{4}-\d{2}-\d{2})T(\d{2}:\d{2})(:\d{2}(?:\.\d+)?)?(Z|[+-]\d{2}:?\d{2})?$/i.exec(text);
  if (form === null || utcMidnightMs(form[1]!) === undefined) return Number.NaN;
  const offset = form[4]?.toUpperCase() ?? 'Z';
  const colon = offset === 'Z' ? offset : offset.replace(/^(...):?/, '$1:');
  return Date.parse(`${form[1]}T${form[2]}${form[3] ?? ''}${colon}`);
}
