interface TimedSession {
  readonly startsAt: string | null;
  readonly endsAt: string | null;
}

/** A session on the axis of its day; positions are shares of the axis, from 0 to 1. */
export interface PlacedSession<Session> {
  readonly session: Session;
  readonly from: number;
  readonly to: number;
}

export interface SessionDay<Session> {
  /** In the event's zone, such as `Sat, Nov 21`. */
  readonly label: string;
  readonly startMs: number;
  readonly endMs: number;
  readonly sessions: readonly PlacedSession<Session>[];
  /** Times of day in the event's zone, at equal distances, the last at the end of the axis. */
  readonly ticks: readonly { readonly at: number; readonly label: string }[];
}

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
/** Maximum number of times of day on an axis. */
const maxTicks = 6;

/**
 * Divides the sessions of an event into the days of its zone on which they start, each with an axis of whole hours. Sessions
 * without a start are left out, and a session that is longer than a day ends with the axis. Pure.
 * @param timezone IANA name; null or unknown: UTC
 */
export function daysOfSessions<Session extends TimedSession>(
  sessions: readonly Session[],
  timezone: string | null,
): SessionDay<Session>[] {
  const zone = knownZone(timezone);
  const dayOf = new Intl.DateTimeFormat([], { weekday: 'short', day: 'numeric', month: 'short', timeZone: zone });
  const clock = new Intl.DateTimeFormat([], { hour: '2-digit', minute: '2-digit', timeZone: zone });
  const byDay = new Map<string, { readonly session: Session; readonly start: number; readonly end: number }[]>();
  for (const session of sessions) {
    if (session.startsAt === null) continue;
    const start = Date.parse(session.startsAt);
    const planned = session.endsAt === null ? start + hourMs : Date.parse(session.endsAt);
    const end = Math.max(start + 60_000, Math.min(planned, start + dayMs));
    const label = dayOf.format(start);
    byDay.set(label, [...(byDay.get(label) ?? []), { session, start, end }]);
  }
  return [...byDay].map(([label, own]) => {
    const startMs = Math.floor(Math.min(...own.map(({ start }) => start)) / hourMs) * hourMs;
    const hours = Math.ceil((Math.max(...own.map(({ end }) => end)) - startMs) / hourMs);
    const step = Math.ceil(hours / maxTicks);
    const steps = Math.ceil(hours / step); // the axis ends at a tick
    const endMs = startMs + steps * step * hourMs;
    const share = (ms: number): number => (ms - startMs) / (endMs - startMs);
    return {
      label,
      startMs,
      endMs,
      sessions: own.map(({ session, start, end }) => ({ session, from: share(start), to: share(end) })),
      ticks: Array.from({ length: steps + 1 }, (_, n) => {
        const ms = startMs + n * step * hourMs;
        return { at: share(ms), label: clock.format(ms) };
      }),
    };
  });
}

/** Returns the zone if this browser knows it; else UTC. */
export function knownZone(timezone: string | null): string {
  try {
    return new Intl.DateTimeFormat([], { timeZone: timezone ?? 'UTC' }).resolvedOptions().timeZone;
  } catch {
    return 'UTC';
  }
}
