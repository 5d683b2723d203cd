import { StoreError } from '../../ledger/drivers/store-error.js';
import type { Ledger } from '../../ledger/ledger.js';
import { LedgerError } from '../../ledger/ledger-error.js';
import { forgottenCodes } from '../../people/forget/erase-registrants.js';
import { claimHeldCodes, givenRows, type HashedRow, rowParameters } from './claim-rows.js';
import { hashRows, inClaimingOrder } from './hash-rows.js';
import type { InvalidRow, SendableRow, StagedRow } from './staged-row.js';

/**
 * Stores a batch of a file's rows, at most some thousands, and claims their codes. Rows of a code that another import
 * holds are told what stands of it; see `claimHeldCodes`. Row numbers may not repeat within an import. Several batches
 * of one import may be under way at once.
 *
 * Its commits do not wait for the disk: should the store lose its last moments, `startImport` misses the rows.
 * @throws {LedgerError} kind `stale` when the import is no longer being staged
 */
export async function stageRows(ledger: Ledger, number: number, rows: readonly StagedRow[]): Promise<void> {
  const sendable = rows.filter((row): row is SendableRow => 'profile' in row);
  const invalid = rows.filter((row): row is InvalidRow => !('profile' in row));
  const hashed = inClaimingOrder(hashRows(ledger.hash, sendable));
  const { ref, held } = await untilDecided(() => claimFree(ledger, number, hashed));
  if (held.length > 0) invalid.push(...(await untilDecided(() => stageHeld(ledger, { ref, number }, held))));
  if (invalid.length > 0) await stageInvalid(ledger, number, invalid);
}

/** Two that take over the same codes at once can lock them in different orders; one of them then begins anew. */
const mostTries = 5;

async function untilDecided<T>(work: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      // oxlint-disable-next-line no-await-in-loop -- again only where the store has rolled it back for another's sake
      return await work();
    } catch (error) {
      if (!(error instanceof StoreError) || error.kind !== 'conflict' || tries === mostTries) throw error;
    }
  }
}

/**
 * The import, held against whoever would discard it, as a row `held`; none when it is no longer being staged. Batches
 * beside each other do not wait for one another, so when it was last touched is written once a minute and not by each.
 */
const whileStaging = `held as materialized (
    select i.ref from imports i
    where i.number = $1 and i.state = 'staging' and set_config('synchronous_commit', 'off', true) = 'off' for key share
  ), touched as (
    update imports set touched_at = now() where number = $1 and state = 'staging' and touched_at < now() - interval '1 minute'
  )`;

/** Claims the codes that nobody has, in one statement. @returns the rows whose codes somebody has, or had and is forgotten */
async function claimFree(
  ledger: Ledger,
  number: number,
  rows: readonly HashedRow[],
): Promise<{ ref: number; held: HashedRow[] }> {
  const [staged] = await ledger.db.query<{ ref: number | null; claimed: number; numbers: number[] | null }>(
    `with ${whileStaging}, claimed as (
       insert into registrants (ref, code_hash, import, round, row_number, data_hash, profile)
       select h.ref, n.code_hash, $1, 0, n.row_number, n.data_hash, n.profile from held h cross join ${givenRows}
       where not exists (select from forgotten_codes f where f.ref = h.ref and f.code_hash = n.code_hash)
       on conflict (ref, code_hash) do nothing returning row_number
     ) select (select h.ref from held h) as ref, count(*) as claimed,
         case when count(*) < $2::int4 then array_agg(row_number) end as numbers from claimed`,
    [number, rows.length, ...rowParameters(rows)],
  );
  const { ref, claimed, numbers } = staged!;
  if (ref === null) throw noLongerStaged();
  if (claimed === rows.length) return { ref, held: [] };
  const own = new Set(numbers);
  return { ref, held: rows.filter(({ row }) => !own.has(row)) };
}

/** @returns those that are refused: whoever had the code is forgotten */
async function stageHeld(
  ledger: Ledger,
  { ref, number }: { ref: number; number: number },
  rows: readonly HashedRow[],
): Promise<InvalidRow[]> {
  return await ledger.db.transaction(async (tx) => {
    const held = await tx.query(`with ${whileStaging} select ref from held`, [number]);
    if (held.length === 0) throw noLongerStaged();
    const codeHashes = rows.map(({ codeHash }) => codeHash);
    const forgotten = await forgottenCodes(tx, ref, codeHashes);
    const isForgotten = ({ codeHash }: HashedRow): boolean => forgotten.has(codeHash.toString('hex'));
    const others = rows.filter((row) => !isForgotten(row));
    if (others.length > 0) await claimHeldCodes(tx, { ref, number, round: 0 }, others);
    return rows.filter(isForgotten).map(refusedRow);
  });
}

/** Nothing of the row is kept: who was forgotten does not come back by the next file. */
function refusedRow({ row }: HashedRow): InvalidRow {
  const message =
    'this person was forgotten on request: take the row out of the file, or lift that with "pigeonpost erasures lift"';
  return { row, values: {}, problems: [{ row, column: null, code: 'forgotten', message }] };
}

async function stageInvalid(ledger: Ledger, number: number, rows: readonly InvalidRow[]): Promise<void> {
  const held = await ledger.db.query(
    `with ${whileStaging}, kept as (
       insert into import_rows (import, row_number, profile, outcome, problems)
       select $1, n.row_number, n.profile, 'invalid', n.problems
       from held cross join unnest($2::int4[], $3::json[], $4::json[]) as n (row_number, profile, problems)
     ) select ref from held`,
    [
      number,
      rows.map(({ row }) => row),
      rows.map(({ values }) => JSON.stringify(values)),
      rows.map(({ problems }) => JSON.stringify(problems)),
    ],
  );
  if (held.length === 0) throw noLongerStaged();
}

function noLongerStaged(): LedgerError {
  return new LedgerError('stale', 'the import is no longer being staged: import the file again');
}
