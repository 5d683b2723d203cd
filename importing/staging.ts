import { StoreError } from '../ledger/drivers/store-error.js';
import type { Ledger } from '../ledger/ledger.js';
import { LedgerError } from '../ledger/ledger-error.js';
import { forgottenCodes } from '../people/forget/erase-registrants.js';
import { claimHeldCodes, givenRows, type HashedRow, rowParameters } from './row-states.js';
import { canonicalJson } from '../ledger/canonical-json.js';
import type { KeyedHash } from '../ledger/keyed-hash.js';
import { abandonedAfterMs } from '../ledger/registrant-standing.js';

/** A row that may be sent: texts under the names of fields. */
export interface RowToSend {
  /** Of the file; 1 is its header. */
  readonly row: number;
  readonly profile: { readonly attendeeCode: string; readonly [field: string]: string };
}

/** A row with which something is wrong: kept for the report, never sent. */
export interface RowToReport {
  readonly row: number;
  readonly values: Readonly<Record<string, string>>;
  readonly problems: readonly object[];
}

/** What the ledger keeps of a file's row. */
export type StagedRow = RowToSend | RowToReport;

/**
 * Stores a batch of a file's rows, at most some thousands, and claims their codes. Rows of a code that another import
 * holds are told what stands of it; see `claimHeldCodes`. Row numbers may not repeat within an import. Several batches
 * of one import may be under way at once.
 *
 * Its commits do not wait for the disk: should the store lose its last moments, `startImport` misses the rows.
 * @throws {LedgerError} kind `stale` when the import is no longer being staged
 */
export async function stageRows(ledger: Ledger, number: number, rows: readonly StagedRow[]): Promise<void> {
  const sendable = rows.filter((row): row is RowToSend => 'profile' in row);
  const invalid = rows.filter((row): row is RowToReport => !('profile' in row));
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
): Promise<RowToReport[]> {
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
function refusedRow({ row }: HashedRow): RowToReport {
  const message =
    'this person was forgotten on request: take the row out of the file, or lift that with "pigeonpost erasures lift"';
  return { row, values: {}, problems: [{ row, column: null, code: 'forgotten', message }] };
}

async function stageInvalid(ledger: Ledger, number: number, rows: readonly RowToReport[]): Promise<void> {
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

/** Rows as the ledger stores and compares them, in their order. */
export function hashRows(hash: KeyedHash, rows: readonly RowToSend[]): HashedRow[] {
  return rows.map(({ row, profile }) => {
    const canonical = canonicalJson(profile);
    return {
      row,
      codeHash: hash.attendeeCode(profile.attendeeCode),
      dataHash: hash.registrant(canonical),
      profile: canonical,
    };
  });
}

/** Bytes of a code's hash that order rows: as many as a number holds. */
const orderBytes = 6;

/**
 * The same rows in the one order in which everybody claims codes: two that claim the same ones at once would else wait
 * for each other. By the beginning of the hash alone, in a fifth of the time that comparing it whole takes; the few that
 * share it are left to the store, which rolls one of two back that wait for each other.
 */
export function inClaimingOrder(rows: readonly HashedRow[]): HashedRow[] {
  return rows
    .map((row) => ({ row, place: row.codeHash.readUIntBE(0, orderBytes) }))
    .toSorted((a, b) => a.place - b.place)
    .map(({ row }) => row);
}

/**
 * Batches under way at once. One keeps the store busy while the next is read and hashed here; the third covers the
 * moments in which either has to wait for the other (decision 0025).
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

/**
 * Registrants in one request, until a service says that it takes fewer. At a usual 200 to 300 bytes a row that is a body
 * of 300 kB, a third of the megabyte at which gateways begin to refuse; 20,000 registrants take 20 requests of the plan,
 * and where the service takes no more than 500 that costs one refused request, once for a workspace. More would bring
 * the body near to that megabyte, and a bad row that is not named would take more than 12 requests to find.
 */
export const firstChunkSize = 1000;

export interface NewImport {
  /** UUID, chosen by the caller. */
  readonly id: string;
  readonly ref: number;
  /** The file's name, without its folder. */
  readonly file: string;
  /** Which column went where, as the caller describes it. */
  readonly mapping: object;
  readonly requestedBy: string | null;
  /** The id of the named token with which it was asked for; absent or null: with none. */
  readonly requestedToken?: string | null;
  /** Send so many rows and end; null: all. */
  readonly canary: number | null;
}

/** Opens an import, whose rows are then staged. @returns its number */
export async function beginImport(ledger: Ledger, input: NewImport): Promise<number> {
  const [row] = await ledger.db.query<{ number: number }>(
    `insert into imports (id, ref, file, mapping, requested_by, canary, chunk_size, requested_token)
     select $1, p.ref, $3, $4, $5, $6, least($7::int, w.registrants_at_once), $8
     from pigeonholes p left join workspaces w on w.name = p.workspace where p.ref = $2
     returning number`,
    [
      input.id,
      input.ref,
      input.file,
      JSON.stringify(input.mapping),
      input.requestedBy,
      input.canary,
      firstChunkSize,
      input.requestedToken ?? null,
    ],
  );
  if (row === undefined) throw new LedgerError('stale', `no pigeonhole has row ${input.ref}: name it again`);
  return row.number;
}

/**
 * Everything is staged: the import may be sent from now on. A second call changes nothing.
 * @param staged as many as were staged: a batch whose commit the store has lost (see `stageRows`) is found missing
 * @throws {LedgerError} kind `stale` when it was given up in between, or rows are missing
 */
export async function startImport(ledger: Ledger, number: number, staged: number): Promise<void> {
  const rows = await ledger.db.query(
    `update imports set state = 'running', started_at = coalesce(started_at, now()),
       rows_claimed = c.claimed, rows_other = o.other, last_row = greatest(c.last_row, o.last_row, 0)
     from (select count(*), max(row_number) from registrants where import = $1) c (claimed, last_row)
       cross join (select count(*), max(row_number) from import_rows where import = $1) o (other, last_row)
     where number = $1 and state = 'staging' and c.claimed + o.other = $2 returning number`,
    [number, staged],
  );
  if (rows.length > 0) return;
  const [known] = await ledger.db.query<{ state: string }>('select state from imports where number = $1', [number]);
  if (known === undefined || known.state === 'cancelled') {
    throw new LedgerError('stale', 'the import was given up while its file was read: import the file again');
  }
  if (known.state === 'staging') {
    throw new LedgerError('stale', 'the store does not hold as many rows as were given to it: import the file again');
  }
}

/** Forgets an import that was never started, with all that was staged; its codes are free again. */
export async function discardImport(ledger: Ledger, number: number): Promise<void> {
  await ledger.db.transaction(async (tx) => {
    const open = await tx.query(`delete from imports where number = $1 and state = 'staging' returning number`, [
      number,
    ]);
    if (open.length === 0) return;
    await tx.query('delete from registrants where import = $1', [number]);
    await tx.query('delete from import_rows where import = $1', [number]);
  });
}

/** Forgets what processes left in staging when they ended. @returns how many imports that were */
export async function discardAbandonedImports(ledger: Ledger): Promise<number> {
  const rows = await ledger.db.query<{ number: number }>(
    `select number from imports where state = 'staging' and touched_at < now() - interval '${abandonedAfterMs} milliseconds'`,
  );
  // oxlint-disable-next-line no-await-in-loop -- hardly ever one
  for (const { number } of rows) await discardImport(ledger, number);
  return rows.length;
}
