import type { Ledger } from '../../ledger/ledger.js';

/** The id of the import that people know by this number. */
export async function importIdOf(ledger: Ledger, number: number): Promise<string | undefined> {
  const [row] = await ledger.db.query<{ id: string }>('select id from imports where number = $1', [number]);
  return row?.id;
}
