import { StoreError } from '../../drivers/store-error.js';
import type { Ledger } from '../../ledger.js';
import { LedgerError } from '../../ledger-error.js';
import { forgottenCodes } from '../erasures/erase-registrants.js';
import { claimFreeCodes, claimHeldCodes, type HashedRow } from './claim-rows.js';
import { hashRows } from './hash-rows.js';
import type { InvalidRow, SendableRow, StagedRow } from './staged-row.js';

/**
 * Stores a batch of a file's rows, at most some thousands, and claims their codes. Rows of a code that another import
 * holds are told what stands of it; see `claimHeldCodes`. Row numbers may not repeat within an import.
 *
 * Its commit does not wait for the disk: should the store lose its last moments, `startImport` misses the rows.
 * @throws {LedgerError} kind `stale` when the import is no longer being staged
 */
export async function stageRows(ledger: Ledger, number: number, rows: readonly StagedRow[]): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      // oxlint-disable-next-line no-await-in-loop -- again only where the store has rolled it back for another's sake
      return await stageOnce(ledger, number, rows);
    } catch (error) {
      if (!(error instanceof StoreError) || error.kind !== 'conflict' || tries === mostTries) throw error;
    }
  }
}

/** Two that take over the same codes at once can lock them in different orders; one of them then begins anew. */
const mostTries = 5;

async function stageOnce(ledger: Ledger, number: number, rows: readonly StagedRow[]): Promise<void> {
  const sendable = rows.filter((row): row is SendableRow => 'profile' in row);
  const invalid = rows.filter((row): row is InvalidRow => !('profile' in row));
  const hashedAll = hashRows(ledger.hash, sendable);
  // In one order for everybody: two stagings that claim the same codes at once would else wait for each other.
  hashedAll.sort((a, b) => Buffer.compare(a.codeHash, b.codeHash));
  await ledger.db.transaction(async (tx) => {
    const [held] = await tx.query<{ ref: number }>(
      `update imports set touched_at = now(), last_row = greatest(last_row, $2::int)
       where number = $1 and state = 'staging' and set_config('synchronous_commit', 'off', true) = 'off' returning ref`,
      [number, rows.reduce((highest, { row }) => Math.max(highest, row), 0)],
    );
    if (held === undefined)
      throw new LedgerError('stale', 'the import is no longer being staged: import the file again');
    const forgotten = await forgottenCodes(
      tx,
      held.ref,
      hashedAll.map(({ codeHash }) => codeHash),
    );
    const isForgotten = ({ codeHash }: HashedRow): boolean =>
      forgotten.size > 0 && forgotten.has(Buffer.from(codeHash).toString('hex'));
    const hashed = forgotten.size === 0 ? hashedAll : hashedAll.filter((row) => !isForgotten(row));
    invalid.push(...hashedAll.filter(isForgotten).map(refusedRow));
    const claimer = { ref: held.ref, number, round: 0 };
    const claimed = await claimFreeCodes(tx, claimer, hashed);
    const rest = claimed.size === hashed.length ? [] : hashed.filter(({ row }) => !claimed.has(row));
    if (rest.length > 0) await claimHeldCodes(tx, claimer, rest);
    if (invalid.length === 0) return;
    await tx.query(
      `insert into import_rows (import, row_number, profile, outcome, problems)
       select $1, n.row_number, n.profile, 'invalid', n.problems
       from unnest($2::int4[], $3::json[], $4::json[]) as n (row_number, profile, problems)`,
      [
        number,
        invalid.map(({ row }) => row),
        invalid.map(({ values }) => JSON.stringify(values)),
        invalid.map(({ problems }) => JSON.stringify(problems)),
      ],
    );
  });
}

/** Nothing of the row is kept: who was forgotten does not come back by the next file. */
function refusedRow({ row }: HashedRow): InvalidRow {
  const message =
    'this person was forgotten on request: take the row out of the file, or lift that with "pigeonpost erasures lift"';
  return { row, values: {}, problems: [{ row, column: null, code: 'forgotten', message }] };
}
