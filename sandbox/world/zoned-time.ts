const formatters = new Map<string, Intl.DateTimeFormat>();

function formatterOf(timezone: string): Intl.DateTimeFormat {
  let formatter = formatters.get(timezone);
  if (formatter === undefined) {
    formatter = new Intl.DateTimeFormat('en-CA', {
      timeZone: timezone,
      hourCycle: 'h23',
      year: 'numeric',
      month: '2-digit',
      day: '2-digit',
      hour: '2-digit',
      minute: '2-digit',
      second: '2-digit',
      timeZoneName: 'longOffset',
    });
    formatters.set(timezone, formatter);
  }
  return formatter;
}

function partsOf(atMs: number, timezone: string): Record<string, string> {
  return Object.fromEntries(
    formatterOf(timezone)
      .formatToParts(atMs)
      .map((part) => [part.type, part.value]),
  );
}

/** Whether the runtime knows the IANA time-zone name. */
export function isTimezone(name: string): boolean {
  try {
    formatterOf(name);
    return true;
  } catch {
    return false;
  }
}

/** Formats an instant like the service's session times: local time with UTC offset, `2026-11-21T09:00:00+08:00`. */
export function zonedDateTime(atMs: number, timezone: string): string {
  const part = partsOf(atMs, timezone);
  const offset = part['timeZoneName'] === 'GMT' ? '+00:00' : (part['timeZoneName'] ?? '').replace('GMT', '');
  return `${part['year']}-${part['month']}-${part['day']}T${part['hour']}:${part['minute']}:${part['second']}${offset}`;
}

/** Returns the calendar day of an instant in a time zone, `2026-11-21`. */
export function zonedDate(atMs: number, timezone: string): string {
  const part = partsOf(atMs, timezone);
  return `${part['year']}-${part['month']}-${part['day']}`;
}
