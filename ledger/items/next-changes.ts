import { storeNextSequence } from '../pigeonholes.js';
import type { Queryable } from '../drivers/database.js';
import type { LockedPlace } from '../lock-order.js';
import { idOfChange } from '../keyed-hash.js';
import { effective, type Visibility } from '../visibility.js';

/*
 * The next changes of stored items that were not read from the service: a deletion, an erasure, or the removal of a
 * copied text. `write-changes.ts` writes the changes that a page shows.
 */

/** The columns of an item from which its next change follows. */
export interface StoredItem {
  readonly list: string;
  readonly key: string;
  readonly sessionId: number | null;
  readonly revision: number;
  readonly contentHash: Buffer;
  readonly visibility: Visibility | null;
  readonly lastSequence: number;
}

/** SQL for the columns of a `StoredItem`. */
export const storedItemColumns = `list, key, session_id as "sessionId", revision, content_hash as "contentHash",
  visibility, last_sequence as "lastSequence"`;

/** An item's next change. `revision` is the new one, `lastSequence` the sequence of the previous change. */
export type NextChange<Item extends StoredItem = StoredItem> = Item & {
  readonly kind: 'updated' | 'deleted';
  readonly sequence: number;
  readonly id: string;
};

/** Assigns the next revision and sequence to each item. Pure. @param place a pigeonhole whose row is locked */
export function nextChanges<Item extends StoredItem>(
  place: Omit<LockedPlace, 'pigeonholeNumber'>,
  kind: NextChange['kind'],
  items: readonly Item[],
): NextChange<Item>[] {
  return items.map((item, index) => {
    const { list, key, contentHash: hash } = item;
    const revision = item.revision + 1;
    const id = idOfChange({ ...place, list }, { key, revision, kind, hash });
    return { ...item, revision, kind, sequence: place.nextSequence + index, id };
  });
}

/**
 * Inserts the changes, and stores which sequence the pigeonhole assigns next.
 * @param changes at least one, by sequence
 */
export async function insertNextChanges(
  tx: Queryable,
  pigeonholeNumber: number,
  changes: readonly NextChange[],
): Promise<void> {
  await Promise.all([
    tx.query(
      `insert into changes (pigeonhole_number, found_at, list, key, revision, kind, sequence, id, session_id,
         visibility, previous_sequence)
       select $1, clock_timestamp(), n.* from unnest($2::text[], $3::text[], $4::int4[], $5::text[], $6::int8[],
         $7::uuid[], $8::int8[], $9::text[], $10::int8[]) as n`,
      [
        pigeonholeNumber,
        changes.map(({ list }) => list),
        changes.map(({ key }) => key),
        changes.map(({ revision }) => revision),
        changes.map(({ kind }) => kind),
        changes.map(({ sequence }) => sequence),
        changes.map(({ id }) => id),
        changes.map(({ sessionId }) => sessionId),
        changes.map(({ visibility }) => (visibility === null ? null : effective(visibility))),
        changes.map(({ lastSequence }) => lastSequence),
      ],
    ),
    storeNextSequence(tx, pigeonholeNumber, changes.at(-1)!.sequence + 1),
  ]);
}
