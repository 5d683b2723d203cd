import type { Ledger } from '../../ledger/ledger.js';
import { addRepair } from '../replays.js';
import { markRepair, type RepairScope } from './parity-store.js';

/**
 * Requests that findings be repaired. The holder of each lane sends exactly these items again, marked as a replay, and
 * removes what is extra. A request with the same id is the same repair.
 * @returns the number of findings that the repair contains; 0 if the id is known already, or nothing is left
 */
export async function requestRepair(
  ledger: Ledger,
  repair: { readonly id: string; readonly by: string | null; readonly reason: string | null },
  of: RepairScope,
): Promise<number> {
  return await ledger.db.transaction(async (tx) => {
    const number = await addRepair(tx, repair);
    return number === undefined ? 0 : await markRepair(tx, number, of);
  });
}
