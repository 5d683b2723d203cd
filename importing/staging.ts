import type { InvalidRow, SendableRow } from './files/checked-row.js';
import { StoreError } from '../ledger/drivers/store-error.js';
import type { Ledger } from '../ledger/ledger.js';
import { LedgerError } from '../ledger/ledger-error.js';
import { forgottenCodes } from '../people/erase-registrants.js';
import {
  claimHeldCodes,
  lockHolders,
  claimWhileStaging,
  type HashedRow,
  storeInvalidRows,
  whileStaging,
} from '../ledger/imports/rows.js';
import { canonicalJson } from '../ledger/canonical-json.js';
import type { KeyedHash } from '../ledger/keyed-hash.js';
import { namesOf } from '../ledger/person-names.js';
import type { ImportProblem } from './desk/import-views.js';

export type RowToSend = Pick<SendableRow, 'row' | 'profile'>;
/** A row with problems: stored for the report, never sent. */
type RowToReport = Pick<InvalidRow, 'row' | 'values'> & { readonly problems: readonly object[] };

/** A row as it is staged in the ledger. */
export type StagedRow = RowToSend | RowToReport;

/**
 * Stores a portion of at most a few thousand rows and claims their codes. If another import holds the code of a row, the
 * row receives the outcome known for that code; see `claimHeldCodes`. Row numbers must be unique within an import.
 * Several portions of one import may run at the same time.
 *
 * For speed, the commits do not wait for the disk. If the store loses the last transactions in a crash, `startImport`
 * notices the missing rows.
 * @throws {LedgerError} kind `stale` if the import is no longer being staged
 */
export async function stageRows(ledger: Ledger, number: number, rows: readonly StagedRow[]): Promise<void> {
  const sendable = rows.filter((row): row is RowToSend => 'profile' in row);
  const invalid = rows.filter((row): row is RowToReport => !('profile' in row));
  const hashed = inClaimingOrder(hashRows(ledger.hash, sendable));
  const { pigeonholeNumber, held } = await untilDecided(() => claimFree(ledger, number, hashed));
  if (held.length > 0)
    invalid.push(...(await untilDecided(() => stageHeld(ledger, { pigeonholeNumber, number }, held))));
  if (invalid.length > 0 && !(await storeInvalidRows(ledger, number, invalid))) throw noLongerStaged();
}

/**
 * Maximum number of tries for one portion. The store may insert the codes of two imports in different orders; it then rolls
 * one of them back, which tries again.
 */
const maxTries = 5;

async function untilDecided<T>(work: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      // Only a transaction that the store rolled back because of a conflict is repeated.
      return await work();
    } catch (error) {
      if (!(error instanceof StoreError) || error.kind !== 'conflict' || tries === maxTries) throw error;
    }
  }
}

/**
 * Claims unclaimed codes in one statement.
 * @returns the other rows: their codes were already claimed, or belong to a forgotten person
 */
async function claimFree(
  ledger: Ledger,
  number: number,
  rows: readonly HashedRow[],
): Promise<{ pigeonholeNumber: number; held: HashedRow[] }> {
  const { pigeonholeNumber, claimed, numbers } = await claimWhileStaging(ledger.db, number, rows);
  if (pigeonholeNumber === null) throw noLongerStaged();
  if (claimed === rows.length) return { pigeonholeNumber, held: [] };
  const own = new Set(numbers);
  return { pigeonholeNumber, held: rows.filter(({ row }) => !own.has(row)) };
}

/** @returns the refused rows, whose codes belong to forgotten people */
async function stageHeld(
  ledger: Ledger,
  { pigeonholeNumber, number }: { pigeonholeNumber: number; number: number },
  rows: readonly HashedRow[],
): Promise<RowToReport[]> {
  return await ledger.db.transaction(async (tx) => {
    const codeHashes = rows.map(({ codeHash }) => codeHash);
    const locked = await lockHolders(tx, { pigeonholeNumber, number }, codeHashes);
    const held = await tx.query(`with ${whileStaging} select pigeonhole_number from held`, [number]);
    if (held.length === 0) throw noLongerStaged();
    const forgotten = await forgottenCodes(tx, pigeonholeNumber, codeHashes);
    const isForgotten = ({ codeHash }: HashedRow): boolean => forgotten.has(codeHash.toString('hex'));
    const others = rows.filter((row) => !isForgotten(row));
    if (others.length > 0) await claimHeldCodes(tx, { pigeonholeNumber, number, round: 0 }, others, locked);
    return rows.filter(isForgotten).map(refusedRow);
  });
}

/** Stores none of the row's values, so that a forgotten person does not return with the next file. */
function refusedRow({ row }: HashedRow): RowToReport {
  return { row, values: {}, problems: [forgottenProblem(row)] };
}

/** Returns the problem of a row whose person was erased. */
export function forgottenProblem(row: number): ImportProblem {
  const message =
    'this person was forgotten on request: remove the row from the file, or lift the erasure with "pigeonpost erasures lift"';
  return { row, column: null, code: 'forgotten', message };
}

function noLongerStaged(): LedgerError {
  return new LedgerError('stale', 'the import is no longer being staged: import the file again');
}

/** Returns rows as the ledger stores and compares them, in the same order. */
export function hashRows(hash: KeyedHash, rows: readonly RowToSend[]): HashedRow[] {
  return rows.map(({ row, profile }) => {
    const canonical = canonicalJson(profile);
    return {
      row,
      codeHash: hash.attendeeCode(profile.attendeeCode),
      dataHash: hash.registrant(canonical),
      profile: canonical,
      names: namesOf(hash, profile),
    };
  });
}

/** Returns the rows in the order in which all imports claim codes, so that two of them do not deadlock. */
function inClaimingOrder(rows: readonly HashedRow[]): HashedRow[] {
  return rows.toSorted((a, b) => a.codeHash.compare(b.codeHash));
}

/**
 * Concurrent portions. While the store writes one, the next is read and hashed. The third is for the moments in which
 * one side would wait for the other (decision 0025).
 */
const portionsAtOnce = 3;

/**
 * Stages a file's rows portion by portion, reading the next portions while the store writes.
 * @returns the number of staged rows, which `startImport` needs
 * @throws as `stageRows` and `portions`; no portion is in progress then
 */
export async function stageAll(
  ledger: Ledger,
  number: number,
  portions: AsyncIterable<readonly StagedRow[]> | Iterable<readonly StagedRow[]>,
): Promise<number> {
  let staged = 0;
  const inProgress = new Set<Promise<void>>();
  const failures: unknown[] = [];
  try {
    for await (const portion of portions) {
      const one = stageRows(ledger, number, portion)
        .catch((error: unknown) => void failures.push(error))
        .finally(() => inProgress.delete(one));
      inProgress.add(one);
      staged += portion.length;
      if (inProgress.size >= portionsAtOnce) await Promise.race(inProgress);
      if (failures.length > 0) break; // fail immediately, not at the end of a slow upload
    }
  } finally {
    await Promise.all(inProgress);
  }
  if (failures.length > 0) throw failures[0];
  return staged;
}
