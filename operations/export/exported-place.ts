import { isTimezone } from '../../base/zoned-instant.js';
import type { PigeonholeName } from '../../cycles/cycle-results.js';
import type { Ledger } from '../../ledger/ledger.js';
import { readableJson } from '../../ledger/sql-expressions.js';

/** A pigeonhole, or with the id 0 the lists of a workspace, whose tables are exported. */
export interface ExportedPlace extends PigeonholeName {
  readonly pigeonholeNumber: number;
  /** The time zone of the event; UTC for the lists of a workspace, and if the service names none. */
  readonly timezone: string;
}

/** Adds the time zone to a known pigeonhole. */
export async function exportedPlace(ledger: Ledger, place: Omit<ExportedPlace, 'timezone'>): Promise<ExportedPlace> {
  return { ...place, timezone: await timezoneOf(ledger, place) };
}

/** Returns the time zone of an event; UTC if none is known. */
export async function timezoneOf(ledger: Ledger, place: PigeonholeName): Promise<string> {
  const [row] = await ledger.db.query<{ timezone: string | null }>(
    `select ${readableJson('i.payload')} ->> 'timezone' as timezone
     from pigeonholes w join items i on i.pigeonhole_number = w.pigeonhole_number
     where w.workspace = $1 and w.pigeonhole_id = 0 and i.list = 'pigeonholes' and i.key = $2::text and i.payload is not null`,
    [place.workspace, String(place.pigeonholeId)],
  );
  const timezone = row?.timezone ?? 'UTC';
  return isTimezone(timezone) ? timezone : 'UTC';
}
