/** An instant in the words of the place where the event is. */
export interface LocalTime {
  /** YYYY-MM-DD. */
  readonly day: string;
  /** HH:MM, 00:00 to 23:59. */
  readonly time: string;
}

const formats = new Map<string, Intl.DateTimeFormat>();

/**
 * Date and time of day that a clock at a place shows at an instant, daylight saving included.
 * @param timeZone IANA name, such as `Europe/Berlin`
 * @throws {RangeError} when there is no such time zone
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

/** Making one costs a hundred times what using it does. */
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

/** Midnight UTC that begins a calendar day, Unix time in ms; undefined when the calendar has no such day. */
export function utcMidnightMs(day: string): number | undefined {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(day)) return undefined;
  const atMs = Date.parse(`${day}T00:00:00Z`);
  // JavaScript takes 2026-02-30 for 2 March
  return !Number.isNaN(atMs) && new Date(atMs).toISOString().startsWith(day) ? atMs : undefined;
}

/**
 * The instant that a value names, Unix time in ms: ISO 8601, or the number itself. A time without an offset is UTC, as
 * the service writes times (specification, "createdAt"). Undefined when it names none.
 */
export function instantOf(value: unknown): number | undefined {
  const atMs = typeof value === 'string' ? parseInstant(value.trim()) : value;
  return typeof atMs === 'number' && Math.abs(atMs) <= 8.64e15 ? atMs : undefined;
}

/**
 * The format is checked first, because Date.parse accepts "May 1" and many other texts as an instant in the machine's
 * time zone.
 */
function parseInstant(text: string): number {
  const form = /^(\d{4}-\d{2}-\d{2})T(\d{2}:\d{2})(:\d{2}(?:\.\d+)?)?(Z|[+-]\d{2}:?\d{2})?$/i.exec(text);
  if (form === null || utcMidnightMs(form[1]!) === undefined) return Number.NaN;
  const offset = form[4]?.toUpperCase() ?? 'Z';
  const colon = offset === 'Z' ? offset : offset.replace(/^(...):?/, '$1:');
  return Date.parse(`${form[1]}T${form[2]}${form[3] ?? ''}${colon}`);
}
