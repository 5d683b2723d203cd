import { eraseItemData } from '../ledger/items/remove-items.js';
import { dropSnapshots } from '../ledger/items/snapshots.js';
import { eraseAttempts } from '../ledger/attempts.js';
import type { Queryable } from '../ledger/drivers/database.js';
import { insertNextChanges, nextChanges, type StoredItem, storedItemColumns } from '../ledger/items/next-changes.js';
import type { Ledger } from '../ledger/ledger.js';
import { registrantKey } from '../ledger/registrant-key.js';
import { registrantsList } from '../base/lists.js';
import { lockPlaceWithLanes } from '../ledger/lock-order.js';
import { noteNoLongerMissing } from '../ledger/missing.js';
import { namesOfSinksInUse } from '../ledger/sinks.js';
import { supersedeErased } from '../ledger/deliveries.js';
import { reopenLaneReceipts } from './erasure-states.js';
import { type PastChange, recordHolders } from './held-items.js';

/**
 * Maximum number of items that one transaction erases. No page of the pigeonhole can be stored during the transaction.
 */
const itemsAtOnce = 200;

interface ErasableItem {
  readonly pigeonholeNumber: number;
  readonly list: string;
  readonly key: string;
}

/**
 * Returns the items that an erasure still has to erase. Finds a person's named and anonymous items by their subject (a
 * keyed hash of the attendee id). Registrants who have not signed in have no subject, and are found by the hash of
 * their code. Includes tombstones, because sinks may still hold the data of a deleted item. Reads only these items:
 * `lateral` forces one look-up in the index `items_of_subject` for each subject.
 */
export async function itemsToErase(ledger: Ledger, erasure: number): Promise<ErasableItem[]> {
  const own = await ledger.db.query<ErasableItem>(
    `select i.pigeonhole_number as "pigeonholeNumber", i.list, i.key from forgotten f
       cross join lateral (select pigeonhole_number, list, key from items where subject = f.subject
         and not erased offset 0) i
       join pigeonholes p on p.pigeonhole_number = i.pigeonhole_number and p.workspace = f.workspace
     where f.erasure = $1 order by i.pigeonhole_number, i.list, i.key`,
    [erasure],
  );
  const codes = await ledger.db.query<{ pigeonholeNumber: number; code_hash: Buffer }>(
    'select pigeonhole_number as "pigeonholeNumber", code_hash from forgotten_codes where erasure = $1',
    [erasure],
  );
  const registered = await ledger.db.query<ErasableItem>(
    `select i.pigeonhole_number as "pigeonholeNumber", i.list, i.key from unnest($1::int4[], $2::text[])
       as n (pigeonhole_number, key)
       join items i on i.pigeonhole_number = n.pigeonhole_number and i.list = $3 and i.key = n.key where not i.erased`,
    [
      codes.map(({ pigeonholeNumber }) => pigeonholeNumber),
      codes.map(({ pigeonholeNumber, code_hash: codeHash }) => registrantKey(ledger.hash, pigeonholeNumber, codeHash)),
      registrantsList,
    ],
  );
  return [
    ...new Map(
      [...own, ...registered].map((item) => [JSON.stringify([item.pigeonholeNumber, item.list, item.key]), item]),
    ).values(),
  ];
}

/** Splits items into slices, each of one pigeonhole and small enough for one transaction. Pure. */
export function slicesOf(items: readonly ErasableItem[]): ErasableItem[][] {
  const slices: ErasableItem[][] = [];
  for (const item of items) {
    const last = slices.at(-1);
    if (last?.[0]!.pigeonholeNumber === item.pigeonholeNumber && last.length < itemsAtOnce) last.push(item);
    else slices.push([item]);
  }
  return slices;
}

/**
 * Erases items of one pigeonhole in one transaction: payload, attendee id, earlier revisions, and the responses of
 * destinations. Keeps the key and the content hash. Writes a `deleted` change for each item. Every sink that received
 * the item receives this change, even if consent or the configuration would withhold other changes. A second run finds
 * nothing to do.
 * @returns the names of the sinks that need a wake signal
 */
export async function eraseItems(
  ledger: Ledger,
  erasure: number,
  items: readonly ErasableItem[],
): Promise<readonly string[]> {
  const [first] = items;
  if (first === undefined) return [];
  const { pigeonholeNumber } = first;
  return await ledger.db.transaction(async (tx) => {
    const place = await lockPlaceWithLanes(tx, pigeonholeNumber);
    const rows = await tx.query<StoredItem>(
      `select i.* from unnest($2::text[], $3::text[]) as n (list, key)
         cross join lateral (select ${storedItemColumns} from items
           where pigeonhole_number = $1 and list = n.list and key = n.key and not erased limit 1) i
       order by i.list, i.key`,
      [pigeonholeNumber, items.map(({ list }) => list), items.map(({ key }) => key)],
    );
    if (place === undefined || rows.length === 0) return [];
    const removals = nextChanges(place, 'deleted', rows);
    const history = await sequencesOf(tx, pigeonholeNumber, rows);
    await recordHolders(tx, { erasure, pigeonholeNumber, history, removals });
    await reopenLaneReceipts(tx, { erasure, pigeonholeNumber });
    const sequences = history.map(({ sequence }) => sequence);
    await supersedeErased(tx, pigeonholeNumber, sequences);
    await dropSnapshots(tx, pigeonholeNumber, sequences);
    await eraseAttempts(tx, pigeonholeNumber, rows);
    await eraseItemData(tx, pigeonholeNumber, removals);
    await insertNextChanges(tx, pigeonholeNumber, removals);
    await noteNoLongerMissing(tx, pigeonholeNumber, rows);
    return await namesOfSinksInUse(tx);
  });
}

/** Returns the sequence numbers of all changes of the items. */
export async function sequencesOf(
  tx: Queryable,
  pigeonholeNumber: number,
  rows: readonly Pick<StoredItem, 'list' | 'key' | 'lastSequence'>[],
): Promise<PastChange[]> {
  return await tx.query<PastChange>(
    `with recursive own (list, key, sequence) as (
       select * from unnest($2::text[], $3::text[], $4::int8[]) as n (list, key, sequence)
       union all
       select o.list, o.key, c.previous_sequence from own o cross join lateral (select previous_sequence from changes
         where pigeonhole_number = $1 and sequence = o.sequence and previous_sequence is not null limit 1) c)
     select list, key, sequence from own`,
    [
      pigeonholeNumber,
      rows.map(({ list }) => list),
      rows.map(({ key }) => key),
      rows.map(({ lastSequence }) => lastSequence),
    ],
  );
}
