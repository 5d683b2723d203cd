import type { Ledger } from '../ledger/ledger.js';

const pageSize = 2000;

/** Yields the objects of a sink's last outcomes over all its lanes, in no particular order. Reads page by page. */
export async function* objectsOfSink(
  ledger: Ledger,
  sinkId: number,
): AsyncGenerator<Readonly<Record<string, unknown>>, void> {
  let after: { ref: number; list: string; key: string } = { ref: 0, list: '', key: '' };
  for (;;) {
    const rows = await ledger.db.query<{ ref: number; list: string; key: string; object: string }>(
      `select ref, list, key, object from sink_objects where sink_id = $1 and (ref, list, key) > ($2, $3, $4)
       order by ref, list, key limit $5`,
      [sinkId, after.ref, after.list, after.key, pageSize],
    );
    for (const { object } of rows) yield JSON.parse(object) as Record<string, unknown>;
    if (rows.length < pageSize) return;
    after = rows.at(-1)!;
  }
}
