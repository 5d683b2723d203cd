import type { Ledger } from '../../ledger/ledger.js';
import { stageRows } from './stage-rows.js';
import type { StagedRow } from './staged-row.js';

/**
 * Batches under way at once. One keeps the store busy while the next is read and hashed here; the third covers the
 * moments in which either has to wait for the other (decision 0035).
 */
const batchesAtOnce = 3;

/**
 * Stages a file's rows batch by batch; the next ones are read while the store takes in those before.
 * @returns how many rows were staged: `startImport` asks for it
 * @throws as `stageRows`, and as `batches`; nothing is under way any more then
 */
export async function stageAll(
  ledger: Ledger,
  number: number,
  batches: AsyncIterable<readonly StagedRow[]> | Iterable<readonly StagedRow[]>,
): Promise<number> {
  let staged = 0;
  const underWay = new Set<Promise<void>>();
  const failures: unknown[] = [];
  try {
    for await (const batch of batches) {
      const one = stageRows(ledger, number, batch)
        .catch((error: unknown) => void failures.push(error))
        .finally(() => underWay.delete(one));
      underWay.add(one);
      staged += batch.length;
      if (underWay.size >= batchesAtOnce) await Promise.race(underWay);
      if (failures.length > 0) break; // told at once, and not at the end of what may be a slow upload
    }
  } finally {
    await Promise.all(underWay);
  }
  if (failures.length > 0) throw failures[0];
  return staged;
}
