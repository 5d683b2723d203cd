import { changeId } from '../../ledger/keyed-hash.js';
import type { Ledger } from '../../ledger/ledger.js';

/**
 * Deletes an item in the ledger as reading does when the source no longer has it: the payload is deleted with its
 * change, the row stays as a tombstone, and the deletion is a change with the next revision.
 */
export async function deleteItem(
  ledger: Ledger,
  { pigeonholeId, list, key }: { pigeonholeId: number; list: string; key: string },
): Promise<void> {
  await ledger.db.transaction(async (tx) => {
    const [place] = await tx.query<{ pigeonholeNumber: number; next_sequence: number }>(
      `select pigeonhole_number as "pigeonholeNumber", next_sequence from pigeonholes where pigeonhole_id = $1
         for no key update`,
      [pigeonholeId],
    );
    const { pigeonholeNumber, next_sequence: sequence } = place!;
    const [item] = await tx.query<{ revision: number; last_sequence: number; session_id: number | null }>(
      'select revision, last_sequence, session_id from items where pigeonhole_number = $1 and list = $2 and key = $3',
      [pigeonholeNumber, list, key],
    );
    await tx.query(
      `update changes c set snapshot = i.payload from items i
       where c.pigeonhole_number = $1 and c.sequence = $2 and i.pigeonhole_number = $1 and i.list = $3 and i.key = $4
         and c.snapshot is null`,
      [pigeonholeNumber, item!.last_sequence, list, key],
    );
    await tx.query(
      `update items set payload = null, revision = revision + 1, last_sequence = $4
       where pigeonhole_number = $1 and list = $2 and key = $3`,
      [pigeonholeNumber, list, key, sequence],
    );
    await tx.query(
      `insert into changes (pigeonhole_number, sequence, id, list, key, revision, kind, session_id, found_at,
         previous_sequence)
       values ($1, $2, $3, $4, $5, $6, 'deleted', $7, clock_timestamp(), $8)`,
      [
        pigeonholeNumber,
        sequence,
        changeId(`deleted ${list} ${key} ${sequence}`),
        list,
        key,
        item!.revision + 1,
        item!.session_id,
        item!.last_sequence,
      ],
    );
    await tx.query('update pigeonholes set next_sequence = $2 where pigeonhole_number = $1', [
      pigeonholeNumber,
      sequence + 1,
    ]);
  });
}
