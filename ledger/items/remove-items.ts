import type { Queryable } from '../drivers/database.js';
import type { NextChange } from './next-changes.js';
import { expiredPayload } from './compare-items.js';
import type { PageScope } from './write-changes.js';
import { dropEntries } from '../search/entries.js';

/*
 * What is removed from stored items: by a deletion, an erasure or the end of retention. The caller's transaction holds
 * the lock on the pigeonhole's row.
 */

type ListScope = Pick<PageScope, 'pigeonholeNumber' | 'list'>;

/**
 * Turns items into tombstones, with the revisions and sequences of their deletions.
 * @param at instant of the request that proved the deletion; a page requested earlier does not restore the items
 */
export async function storeTombstones(
  tx: Queryable,
  { pigeonholeNumber, list }: ListScope,
  deletions: readonly NextChange[],
  at: Date,
): Promise<void> {
  await tx.query(
    `insert into items (pigeonhole_number, list, key, stream_id, content_hash, rules, seen_at, revision, last_sequence)
     select $1, $2, n.key, i.stream_id, i.content_hash, i.rules, least($3, clock_timestamp()), n.revision, n.sequence
     from unnest($4::text[], $5::int4[], $6::int8[]) as n (key, revision, sequence)
       cross join lateral (select stream_id, content_hash, rules from items
         where pigeonhole_number = $1 and list = $2 and key = n.key limit 1) i
     on conflict (pigeonhole_number, list, key) do update set payload = null, expired = false, copies_hash = null,
       revision = excluded.revision, last_sequence = excluded.last_sequence, seen_at = excluded.seen_at`,
    [
      pigeonholeNumber,
      list,
      at,
      deletions.map(({ key }) => key),
      deletions.map(({ revision }) => revision),
      deletions.map(({ sequence }) => sequence),
    ],
  );
}

/** Removes the data of items, and stores their new revisions and sequences. */
export async function eraseItemData(
  tx: Queryable,
  pigeonholeNumber: number,
  removals: readonly NextChange[],
): Promise<void> {
  await tx.query(
    `update items i set erased = true, expired = false, payload = null, copies_hash = null, attendee_id = null, consent = null, origin = null, names = null,
       revision = n.revision, last_sequence = n.sequence, seen_at = clock_timestamp()
     from unnest($2::text[], $3::text[], $4::int4[], $5::int8[]) as n (list, key, revision, sequence)
       cross join lateral (select ctid as place from items where pigeonhole_number = $1 and list = n.list
         and key = n.key limit 1) k
     where i.ctid = k.place`,
    [
      pigeonholeNumber,
      removals.map(({ list }) => list),
      removals.map(({ key }) => key),
      removals.map(({ revision }) => revision),
      removals.map(({ sequence }) => sequence),
    ],
  );
  await dropEntries(tx, pigeonholeNumber, removals);
}

/** An item's new revision without a copied text. */
type WithoutCopies = Pick<NextChange, 'list' | 'key' | 'revision' | 'sequence'> & {
  /** The new payload, canonical JSON. */
  readonly stored: string;
  readonly copiesHash: Buffer | null;
};

/** Stores items without texts that were copied from an erased item. */
export async function storeWithoutCopies(
  tx: Queryable,
  pigeonholeNumber: number,
  changed: readonly WithoutCopies[],
): Promise<void> {
  await tx.query(
    `update items i set payload = n.payload, copies_hash = n.copies_hash, revision = n.revision,
       last_sequence = n.sequence
     from unnest($2::text[], $3::text[], $4::json[], $5::bytea[], $6::int4[], $7::int8[])
       as n (list, key, payload, copies_hash, revision, sequence)
       cross join lateral (select ctid as place from items where pigeonhole_number = $1 and list = n.list
         and key = n.key limit 1) k
     where i.ctid = k.place`,
    [
      pigeonholeNumber,
      changed.map(({ list }) => list),
      changed.map(({ key }) => key),
      changed.map(({ stored }) => stored),
      changed.map(({ copiesHash }) => copiesHash),
      changed.map(({ revision }) => revision),
      changed.map(({ sequence }) => sequence),
    ],
  );
}

/** Stores the keys of erased items that the ledger never held, with the subject hashes of their authors. */
export async function storeErased(
  tx: Queryable,
  { pigeonholeNumber, list, streamId }: Pick<PageScope, 'pigeonholeNumber' | 'list' | 'streamId'>,
  erased: readonly { readonly key: string; readonly subject: Buffer }[],
): Promise<void> {
  await tx.query(
    `insert into items (pigeonhole_number, list, key, stream_id, subject, revision, content_hash, rules, seen_at,
       last_sequence, erased)
     select $1, $2, n.key, $3, n.subject, 0, '', '', clock_timestamp(), 0, true
     from unnest($4::text[], $5::bytea[]) as n (key, subject) on conflict (pigeonhole_number, list, key) do nothing`,
    [pigeonholeNumber, list, streamId, erased.map(({ key }) => key), erased.map(({ subject }) => subject)],
  );
}

/** Deletes the subject hashes of the tombstones that an erasure left. */
export async function unlinkTombstones(tx: Queryable, erasure: number): Promise<void> {
  await tx.query(
    `update items set subject = null
     where erased and subject = any(array(select subject from forgotten where erasure = $1))`,
    [erasure],
  );
}

/** Deletes the subject hashes of these tombstones, if the erasure of their person has ended. */
export async function unlinkTombstonesOf(
  tx: Queryable,
  { pigeonholeNumber, list }: ListScope,
  keys: readonly string[],
): Promise<void> {
  await tx.query(
    `update items set subject = null
     where pigeonhole_number = $1 and list = $2 and key = any($3::text[]) and erased and subject in (
       select f.subject from forgotten f join erasures e on e.number = f.erasure and e.ended_at is not null)`,
    [pigeonholeNumber, list, keys],
  );
}

/** Deletes the payloads of items whose retention has ended, and the hashes by which a code or an address finds them. */
export async function expireItems(
  tx: Queryable,
  { pigeonholeNumber, list }: ListScope,
  keys: readonly string[],
): Promise<void> {
  await tx.query(
    `update items set payload = $4::json, expired = true
     where pigeonhole_number = $1 and list = $2 and key = any($3::text[]) and payload is not null and not expired`,
    [pigeonholeNumber, list, keys, expiredPayload],
  );
  await tx.query(
    `update items set names = null where pigeonhole_number = $1 and list = $2 and key = any($3::text[])
       and names is not null`,
    [pigeonholeNumber, list, keys],
  );
  await dropEntries(
    tx,
    pigeonholeNumber,
    keys.map((key) => ({ list, key })),
  );
}
