import type { Ledger } from '../../ledger/ledger.js';
import { readableJson } from '../../ledger/readable-json.js';

/** So many of the latest are looked at: profile fields belong to a pigeonhole, and all its people have the same. */
const mostLooked = 1000;

/** Texts of an attendee that are no profile fields. Source: specification, "Attendee". */
const ownFields = ['attendeeCode', 'signInTime'];

/**
 * The profile fields of a pigeonhole that were ever seen: texts of stored attendees, and fields of earlier imports.
 * Without the attendee's code. Empty: nothing is known of it.
 */
export async function knownProfileFields(ledger: Ledger, ref: number): Promise<string[]> {
  const rows = await ledger.db.query<{ field: string }>(
    `select distinct e.field from (
       select payload as json from (select payload from items where ref = $1 and list = 'attendees' and payload is not null
         order by last_sequence desc limit ${mostLooked}) as a
       union all
       select profile from (select profile from registrants where ref = $1 limit ${mostLooked}) as r
     ) as known
       cross join lateral (select ${readableJson('known.json')} as json) c
       cross join lateral (select key as field from json_each(c.json) where json_typeof(value) = 'string') e
     where e.field <> all($2::text[]) order by 1`,
    [ref, ownFields],
  );
  return rows.map(({ field }) => field);
}
