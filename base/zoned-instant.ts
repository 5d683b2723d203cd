const hourMs = 3_600_000;

/** Whether this machine knows the IANA time-zone name. */
export function isTimezone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en-US', { timeZone: name }).format(0);
    return true;
  } catch {
    return false; // a RangeError
  }
}

/**
 * The instants, epoch ms, at which the clocks of a time zone show a local time: none where they were put forward over
 * it, two where they were put back over it. Pure.
 * @param local `YYYY-MM-DDTHH:mm:ss`, of a day that stands in the calendar
 * @param timezone one that `isTimezone` knows
 */
export function instantsOf(local: string, timezone: string): number[] {
  const shown = Date.parse(`${local}Z`);
  // No clock is changed twice within a day, and none by more than a few hours: the offsets before and after are all there are.
  const offsets = [shown - 30 * hourMs, shown + 30 * hourMs].map((at) => offsetMs(at, timezone));
  const instants = [...new Set(offsets)].map((offset) => shown - offset);
  return instants.filter((at) => at + offsetMs(at, timezone) === shown).toSorted((one, other) => one - other);
}

/** How far the clocks of a zone are ahead of UTC at an instant of whole seconds. */
function offsetMs(at: number, timezone: string): number {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone: timezone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  });
  const parts = Object.fromEntries(format.formatToParts(at).map(({ type, value }) => [type, Number(value)]));
  const { year, month, day, hour, minute, second } = parts;
  return Date.UTC(year!, month! - 1, day!, hour!, minute!, second!) - at;
}
