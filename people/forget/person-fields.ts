import type { Fields } from '../../ledger/item-form.js';
import type { Ledger } from '../../ledger/ledger.js';
import type { PersonPlace } from './find-person.js';

/** Returns the stored records of people: as attendees, and as registrants of imports. One look-up by primary key each. */
export async function personFields(ledger: Ledger, places: readonly PersonPlace[]): Promise<Fields[]> {
  const attendees = places.flatMap(({ ref, attendeeIds }) => attendeeIds.map((id) => ({ ref, key: String(id) })));
  const codes = places.flatMap(({ ref, codes: own }) =>
    own.map((code) => ({ ref, codeHash: ledger.hash.attendeeCode(code) })),
  );
  const rows = await ledger.db.query<{ text: string }>(
    `select i.text from unnest($1::int4[], $2::text[]) as n (ref, key)
       cross join lateral (select payload::text as text from items
         where ref = n.ref and list = 'attendees' and key = n.key and payload is not null limit 1) i
     union all
     select r.text from unnest($3::int4[], $4::bytea[]) as n (ref, code_hash)
       cross join lateral (select profile::text as text from registrants
         where ref = n.ref and code_hash = n.code_hash limit 1) r`,
    [
      attendees.map(({ ref }) => ref),
      attendees.map(({ key }) => key),
      codes.map(({ ref }) => ref),
      codes.map(({ codeHash }) => codeHash),
    ],
  );
  return rows.map(({ text }) => JSON.parse(text) as Fields);
}

const looksLikeAddress = /^[^\s@]+@[^\s@]+$/;

/** Returns the e-mail addresses in records, in lower case. Pure. */
export function addressesIn(records: readonly Fields[]): Set<string> {
  const values = records.flatMap((fields) => Object.values(fields));
  const addresses = values.flatMap((value) => (typeof value === 'string' ? [value.trim().toLowerCase()] : []));
  return new Set(addresses.filter((value) => looksLikeAddress.test(value)));
}
