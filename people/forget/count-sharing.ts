import type { Ledger } from '../../ledger/ledger.js';
import { findPerson, type PersonPlace } from './find-person.js';
import { addressesIn, personFields } from './person-fields.js';

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
  for (const address of addressesIn(await personFields(ledger, places))) {
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
