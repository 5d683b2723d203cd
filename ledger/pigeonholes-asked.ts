import type { Queryable } from './drivers/database.js';

/**
 * Tells the readers of pigeonholes that something has changed from outside. Call it in the transaction that changes it;
 * a stay notices it with its next beat. Locks the rows of the pigeonholes.
 */
export async function raiseAsked(tx: Queryable, refs: readonly number[]): Promise<void> {
  if (refs.length === 0) return;
  await tx.query(
    `with locked as materialized (select ref from pigeonholes where ref = any($1::int4[]) order by ref for no key update)
     update pigeonholes p set asked = p.asked + 1 from locked where p.ref = locked.ref`,
    [refs],
  );
}

/** Tells the readers of all pigeonholes of a workspace, as `raiseAsked` does. */
export async function raiseAskedOfWorkspace(tx: Queryable, workspace: string): Promise<void> {
  const rows = await tx.query<{ ref: number }>('select ref from pigeonholes where workspace = $1', [workspace]);
  await raiseAsked(
    tx,
    rows.map(({ ref }) => ref),
  );
}

/** Assigns pigeonholes to readers. Their readers then hear of it. The caller holds the lock on their rows. */
export async function setReaders(
  tx: Queryable,
  readers: readonly { readonly ref: number; readonly reader: number | null }[],
): Promise<void> {
  if (readers.length === 0) return;
  await tx.query(
    `update pigeonholes p set reader = n.reader, asked = p.asked + 1
     from unnest($1::int4[], $2::int4[]) as n (ref, reader) where p.ref = n.ref`,
    [readers.map(({ ref }) => ref), readers.map(({ reader }) => reader)],
  );
}
