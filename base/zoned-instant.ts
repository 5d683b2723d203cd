const hourMs = 3_600_000;

/**
 * Formatters by time zone, kept because creating one takes far longer than using it. Null: this machine does not know
 * the zone.
 */
const formats = new Map<string, Intl.DateTimeFormat | null>();

/** Whether this machine knows the IANA time-zone name. */
export function isTimezone(name: string): boolean {
  return formatOf(name) !== null;
}

/**
 * Returns the instants (epoch ms) at which clocks in a time zone show a local time: none if the clocks were set forward
 * and skipped it, two if they were set back and showed it twice. Pure.
 * @param local `YYYY-MM-DDTHH:mm:ss`, of a day that exists
 * @param timezone a name that `isTimezone` accepts
 */
export function instantsOf(local: string, timezone: string): number[] {
  const shown = Date.parse(`${local}Z`);
  // Every instant in question lies within these 60 hours, because an offset is at most 14 hours. No zone changes its
  // offset twice in that time, so only these two offsets can apply.
  const offsets = [shown - 30 * hourMs, shown + 30 * hourMs].map((at) => zoneOffsetMs(at, timezone));
  const instants = [...new Set(offsets)].map((offset) => shown - offset);
  return instants.filter((at) => at + zoneOffsetMs(at, timezone) === shown).toSorted((one, other) => one - other);
}

/** Returns the day of an instant (epoch ms) in a time zone, as `YYYY-MM-DD`. Pure. */
export function dayIn(timezone: string, at: number): string {
  return new Date(at + zoneOffsetMs(at, timezone)).toISOString().slice(0, 10);
}

/** Returns how far a zone is ahead of UTC at an instant, in ms; 0 if this machine does not know the zone. */
export function zoneOffsetMs(at: number, timezone: string): number {
  const format = formatOf(timezone);
  if (format === null) return 0;
  const parts = Object.fromEntries(format.formatToParts(at).map(({ type, value }) => [type, Number(value)]));
  const { year, month, day, hour, minute, second } = parts;
  const shown = new Date(0);
  shown.setUTCFullYear(year!, month! - 1, day!); // unlike `Date.UTC`, it does not take the years 0 to 99 for 1900 to 1999
  shown.setUTCHours(hour!, minute!, second!);
  return shown.getTime() - Math.floor(at / 1000) * 1000;
}

function formatOf(timezone: string): Intl.DateTimeFormat | null {
  let format = formats.get(timezone);
  if (format !== undefined) return format;
  try {
    format = new Intl.DateTimeFormat('en-US', {
      timeZone: timezone,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    });
  } catch {
    format = null; // a RangeError
  }
  if (formats.size < 1000) formats.set(timezone, format);
  return format;
}
