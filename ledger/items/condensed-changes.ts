import type { Queryable } from '../drivers/database.js';

/** Maximum number of an item's earlier changes that one pass reads. The next change of the item reads on. */
const maxHistory = 50;

/** A change of an item's history, with the change of the same item from which the history was read. */
interface ReadChange {
  readonly last: number;
  readonly sequence: number;
  readonly previous: number | null;
  readonly hasSnapshot: boolean;
}

/** Returns these changes and the earlier changes of their items, at most 50 of each. Looks each up by its key. */
export async function historiesOf(
  tx: Queryable,
  pigeonholeNumber: number,
  sequences: readonly number[],
): Promise<ReadChange[]> {
  return await tx.query<ReadChange>(
    `with recursive past (last, sequence, previous, has_snapshot, depth) as (
       select n.sequence, n.sequence, c.previous_sequence, c.snapshot is not null, 0
       from unnest($2::int8[]) as n (sequence)
         cross join lateral (select * from changes where pigeonhole_number = $1 and sequence = n.sequence limit 1) c
       union all
       select p.last, c.sequence, c.previous_sequence, c.snapshot is not null, p.depth + 1
       from past p cross join lateral (select * from changes where pigeonhole_number = $1 and sequence = p.previous
         limit 1) c
       where p.depth < ${maxHistory})
     select last, sequence, previous, has_snapshot as "hasSnapshot" from past order by last, sequence`,
    [pigeonholeNumber, sequences],
  );
}

/** Deletes changes, and links the remaining ones of their items. The caller has locked the pigeonhole's row. */
export async function dropChanges(
  tx: Queryable,
  pigeonholeNumber: number,
  sequences: readonly number[],
  links: readonly { readonly sequence: number; readonly previous: number | null }[],
): Promise<void> {
  await tx.query(
    `delete from changes where ctid = any(array(select c.place from unnest($2::int8[]) as n (sequence)
       cross join lateral (select ctid as place from changes where pigeonhole_number = $1 and sequence = n.sequence
         limit 1) c))`,
    [pigeonholeNumber, sequences],
  );
  await tx.query(
    `insert into changes (pigeonhole_number, sequence, id, list, key, revision, kind, found_at, previous_sequence)
     select c.pigeonhole_number, c.sequence, c.id, c.list, c.key, c.revision, c.kind, c.found_at, n.previous
     from unnest($2::int8[], $3::int8[]) as n (sequence, previous)
       cross join lateral (select * from changes where pigeonhole_number = $1 and sequence = n.sequence limit 1) c
     on conflict (pigeonhole_number, sequence) do update set previous_sequence = excluded.previous_sequence`,
    [pigeonholeNumber, links.map(({ sequence }) => sequence), links.map(({ previous }) => previous)],
  );
}
