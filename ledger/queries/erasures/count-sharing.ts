import type { Fields } from '../../item-form.js';
import type { Ledger } from '../../ledger.js';
import { findPerson, type PersonPlace } from './find-person.js';

/**
 * How many others have an e-mail address of somebody who is meant by their id or their code: families share one, and one
 * person may have signed in twice. Who is which only a person can tell. Reads whole lists.
 * @param workspace only there; null: in all
 */
export async function countSharing(
  ledger: Ledger,
  places: readonly PersonPlace[],
  workspace: string | null,
): Promise<number> {
  const meant = new Map(places.map(({ ref, attendeeIds, codes }) => [ref, new Set([...attendeeIds, ...codes])]));
  const others = new Set<string>();
  for (const address of await addressesOf(ledger, places)) {
    // oxlint-disable-next-line no-await-in-loop -- one, hardly ever two
    for (const { ref, attendeeIds, codes } of await findPerson(ledger, { by: 'email', text: address, workspace })) {
      const isOther = (name: number | string): boolean => !(meant.get(ref)?.has(name) ?? false);
      const [ids, own] = [attendeeIds.filter(isOther), codes.filter(isOther)];
      // Who has signed in has an id and, as a rule, a code: they count once.
      for (const name of ids.length >= own.length ? ids : own) others.add(`${ref} ${name}`);
    }
  }
  return others.size;
}

const looksLikeAddress = /^[^\s@]+@[^\s@]+$/;

async function addressesOf(ledger: Ledger, places: readonly PersonPlace[]): Promise<Set<string>> {
  const attendees = places.flatMap(({ ref, attendeeIds }) => attendeeIds.map((id) => ({ ref, key: String(id) })));
  const codes = places.flatMap(({ ref, codes: own }) =>
    own.map((code) => ({ ref, codeHash: ledger.hash.attendeeCode(code) })),
  );
  const rows = await ledger.db.query<{ text: string }>(
    `select i.payload::text as text from unnest($1::int4[], $2::text[]) as n (ref, key)
       join items i on i.ref = n.ref and i.list = 'attendees' and i.key = n.key and i.payload is not null
     union all
     select r.profile::text from unnest($3::int4[], $4::bytea[]) as n (ref, code_hash)
       join registrants r on r.ref = n.ref and r.code_hash = n.code_hash`,
    [
      attendees.map(({ ref }) => ref),
      attendees.map(({ key }) => key),
      codes.map(({ ref }) => ref),
      codes.map(({ codeHash }) => codeHash),
    ],
  );
  const values = rows.flatMap(({ text }) => Object.values(JSON.parse(text) as Fields));
  const addresses = values.flatMap((value) => (typeof value === 'string' ? [value.trim().toLowerCase()] : []));
  return new Set(addresses.filter((value) => looksLikeAddress.test(value)));
}
