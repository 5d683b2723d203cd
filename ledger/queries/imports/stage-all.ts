import type { Ledger } from '../../ledger.js';
import { stageRows } from './stage-rows.js';
import type { StagedRow } from './staged-row.js';

/**
 * Stages a file's rows batch by batch; the next one is read while the store takes in the one before.
 * @returns how many rows were staged: `startImport` asks for it
 * @throws as `stageRows`, and as `batches`; nothing is under way any more then
 */
export async function stageAll(
  ledger: Ledger,
  number: number,
  batches: AsyncIterable<readonly StagedRow[]> | Iterable<readonly StagedRow[]>,
): Promise<number> {
  let staged = 0;
  let underWay = Promise.resolve();
  try {
    for await (const batch of batches) {
      await underWay;
      underWay = stageRows(ledger, number, batch);
      underWay.catch(() => undefined); // told at the next await, which may be a slow upload away
      staged += batch.length;
    }
    await underWay;
  } catch (error) {
    await Promise.allSettled([underWay]);
    throw error;
  }
  return staged;
}
