import type { TimeWindow } from './cadence.js';

/** A session's type and times. */
export interface SessionTimes extends TimeWindow {
  /** Undefined if the service reports none. */
  readonly type: string | undefined;
}

/** Parses a session's type and times; an unreadable value counts as not known. Pure. */
export function sessionTimes(session: unknown): SessionTimes {
  const { type, startDate, endDate } = fieldsOf(session);
  return {
    type: typeof type === 'string' ? type : undefined,
    startsAt: instantOf(startDate),
    endsAt: instantOf(endDate),
  };
}

/** Returns the start of a pigeonhole's first day and the end of its last day, in its time zone. */
export function eventTimes(pigeonhole: unknown): TimeWindow {
  const { startDate, endDate, timezone } = fieldsOf(pigeonhole);
  const zone = typeof timezone === 'string' ? timezone : 'UTC';
  return { startsAt: startOfDay(startDate, zone, 0), endsAt: startOfDay(endDate, zone, 1) };
}

function fieldsOf(item: unknown): Record<string, unknown> {
  return typeof item === 'object' && item !== null ? (item as Record<string, unknown>) : {};
}

function instantOf(text: unknown): number | null {
  const at = typeof text === 'string' ? Date.parse(text) : Number.NaN;
  return Number.isNaN(at) ? null : at;
}

const dayMs = 24 * 3_600_000;

/** Returns the start of a day (YYYY-MM-DD) plus `daysLater` in a time zone, epoch ms. An unknown zone counts as UTC. */
function startOfDay(day: unknown, zone: string, daysLater: number): number | null {
  if (typeof day !== 'string' || !/^\d{4}-\d{2}-\d{2}$/.test(day)) return null;
  const inUtc = Date.parse(`${day}T00:00:00Z`);
  if (Number.isNaN(inUtc)) return null;
  const wanted = inUtc + daysLater * dayMs;
  const guess = wanted - offsetMs(wanted, zone);
  return wanted - offsetMs(guess, zone); // the offset at that instant, in case a clock change lies in between
}

const formats = new Map<string, Intl.DateTimeFormat | null>();

/** Returns a zone's offset from UTC at an instant, in ms. */
function offsetMs(at: number, zone: string): number {
  const format = formatOf(zone);
  if (format === null) return 0;
  const parts = Object.fromEntries(format.formatToParts(at).map(({ type, value }) => [type, Number(value)]));
  const shown = Date.UTC(
    parts['year']!,
    parts['month']! - 1,
    parts['day']!,
    parts['hour']!,
    parts['minute']!,
    parts['second']!,
  );
  return shown - Math.floor(at / 1000) * 1000;
}

function formatOf(zone: string): Intl.DateTimeFormat | null {
  let format = formats.get(zone);
  if (format !== undefined) return format;
  try {
    format = new Intl.DateTimeFormat('en-US', {
      timeZone: zone,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    });
  } catch {
    format = null; // RangeError: this machine does not know the zone
  }
  if (formats.size < 1000) formats.set(zone, format);
  return format;
}
