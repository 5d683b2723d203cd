import type { Queryable } from './drivers/database.js';

/**
 * Tells the readers of pigeonholes that something has changed from outside. Call it in the transaction that changes it;
 * a stay notices it with its next beat. Locks the rows of the pigeonholes.
 */
export async function raiseAsked(tx: Queryable, pigeonholeNumbers: readonly number[]): Promise<void> {
  if (pigeonholeNumbers.length === 0) return;
  await tx.query(
    `with locked as materialized (select pigeonhole_number from pigeonholes where pigeonhole_number = any($1::int4[])
       order by pigeonhole_number for no key update)
     update pigeonholes p set asked = p.asked + 1 from locked where p.pigeonhole_number = locked.pigeonhole_number`,
    [pigeonholeNumbers],
  );
}

/** Tells the readers of all pigeonholes of a workspace, as `raiseAsked` does. */
export async function raiseAskedOfWorkspace(tx: Queryable, workspace: string): Promise<void> {
  const rows = await tx.query<{ pigeonholeNumber: number }>(
    'select pigeonhole_number as "pigeonholeNumber" from pigeonholes where workspace = $1',
    [workspace],
  );
  await raiseAsked(
    tx,
    rows.map(({ pigeonholeNumber }) => pigeonholeNumber),
  );
}

/** Assigns pigeonholes to readers. Their readers then hear of it. The caller holds the lock on their rows. */
export async function setReaders(
  tx: Queryable,
  readers: readonly { readonly pigeonholeNumber: number; readonly reader: number | null }[],
): Promise<void> {
  if (readers.length === 0) return;
  await tx.query(
    `update pigeonholes p set reader = n.reader, asked = p.asked + 1
     from unnest($1::int4[], $2::int4[]) as n (pigeonhole_number, reader)
       where p.pigeonhole_number = n.pigeonhole_number`,
    [readers.map(({ pigeonholeNumber }) => pigeonholeNumber), readers.map(({ reader }) => reader)],
  );
}
