import type { Config } from '../config/config.js';
import type { Ledger } from '../ledger/ledger.js';
import { fieldNames, seenFields, type SeenFields } from '../ledger/seen-fields.js';
import { fieldNotes, mentionedLists, type SeenByList } from './field-notes.js';

/** The fields of nested objects are read from this number of items of each pigeonhole. */
const sample = 200;

/** Where stored items are looked at; null: everywhere. */
interface SeenPlace {
  readonly workspace: string | null;
  readonly pigeonholeId: number | null;
}

/**
 * Returns the fields that stored items have, of the lists that the mappings of these sinks read. A sample of each list is
 * read first. If the sample lacks a field that a mapping reads, the names of all stored items are read as well, so that a
 * field that few people have is not taken for a typo.
 * @param placeOf where the items of a list are; by default in every pigeonhole
 */
export async function fieldsSeen(
  ledger: Pick<Ledger, 'db'>,
  config: Pick<Config, 'syncs' | 'sinks'>,
  placeOf: (list: string) => SeenPlace = () => ({ workspace: null, pigeonholeId: null }),
): Promise<SeenByList> {
  const seen = new Map<string, readonly SeenFields[]>();
  for (const list of mentionedLists(config)) {
    // oxlint-disable-next-line no-await-in-loop -- a handful of lists
    seen.set(list, await seenFields(ledger, { list, ...placeOf(list), sample }));
  }
  if (fieldNotes(config, seen).length === 0) return seen;
  for (const [list, places] of seen) {
    // oxlint-disable-next-line no-await-in-loop -- each reads a whole list
    const names = await fieldNames(ledger, { list, ...placeOf(list) });
    seen.set(
      list,
      places.map((place) => withNames(place, names.get(`${place.workspace}/${place.pigeonholeId}`) ?? [])),
    );
  }
  return seen;
}

function withNames(place: SeenFields, names: readonly string[]): SeenFields {
  const known = new Set(place.fields.map(({ field }) => field));
  const added = names
    .filter((name) => !known.has(name))
    .map((field) => ({ field, member: null, types: {}, filled: 0, values: null }));
  return { ...place, fields: [...place.fields, ...added] };
}
