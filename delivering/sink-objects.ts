import type { Ledger } from '../ledger/ledger.js';

const pageSize = 2000;

/** What a sink has made of items, over all its lanes, as it last said; in no order that means anything. A page at a time. */
export async function* objectsOfSink(
  ledger: Ledger,
  sinkId: number,
): AsyncGenerator<Readonly<Record<string, unknown>>, void> {
  let after: { ref: number; list: string; key: string } = { ref: 0, list: '', key: '' };
  for (;;) {
    // oxlint-disable-next-line no-await-in-loop -- each page begins where the one before ended
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
