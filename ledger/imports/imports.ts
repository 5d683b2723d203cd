import type { Queryable } from '../drivers/database.js';
import { dropImportCounts } from '../kept-counts.js';
import { LedgerError } from '../ledger-error.js';
import type { Ledger } from '../ledger.js';
import type { OperatorTexts } from '../operator-texts.js';
import { abandonedAfterMs } from '../sql-expressions.js';
import { deleteStagedRows } from './rows.js';

/*
 * The import as a whole: its states, and the right to send its rows. The files of this folder hold every statement that
 * writes imports, their chunks and their rows.
 */

/**
 * Registrants per request until the service shows that it accepts fewer. At 200 to 300 bytes a row, the body has 300
 * kB, a third of the megabyte that gateways often allow. 20,000 registrants take 20 requests. If the service accepts
 * only 500, each workspace loses one refused request. With more rows, the body would come close to a megabyte, and
 * finding a bad row that a refusal does not name would take more than 12 requests.
 */
export const firstChunkSize = 1000;

interface NewImport {
  /** UUID, chosen by the caller. */
  readonly id: string;
  readonly pigeonholeNumber: number;
  /** The file's name without a folder. */
  readonly file: string;
  /** The mapping of columns, as the caller describes it. */
  readonly mapping: object;
  readonly requestedBy: string | null;
  /** Id of the named token of the request; absent or null: none. */
  readonly requestedToken?: string | null;
  /** Send this number of rows and end; null: all. */
  readonly canary: number | null;
}

/** Creates an import, whose rows are then staged. @returns its number */
export async function beginImport(ledger: Ledger, input: NewImport): Promise<number> {
  const [row] = await ledger.db.query<{ number: number }>(
    `insert into imports (id, pigeonhole_number, file, mapping, requested_by, canary, chunk_size, requested_token)
     select $1, p.pigeonhole_number, $3, $4, $5, $6, least($7::int, w.registrants_at_once), $8
     from pigeonholes p left join workspaces w on w.name = p.workspace where p.pigeonhole_number = $2
     returning number`,
    [
      input.id,
      input.pigeonholeNumber,
      input.file,
      JSON.stringify(input.mapping),
      input.requestedBy,
      input.canary,
      firstChunkSize,
      input.requestedToken ?? null,
    ],
  );
  if (row === undefined)
    throw new LedgerError('stale', 'the pigeonhole of this import is not in the ledger: start the import again');
  return row.number;
}

/**
 * Marks an import as completely staged, so that it may be sent. A second call changes nothing.
 * @param staged number of staged rows, to notice a portion whose commit the store has lost (see `stageRows`)
 * @throws {LedgerError} kind `stale` if it was abandoned meanwhile, or rows are missing
 */
export async function startImport(ledger: Ledger, number: number, staged: number): Promise<void> {
  const rows = await ledger.db.query(
    `update imports set state = 'running', started_at = coalesce(started_at, now()),
       rows_claimed = c.unsent, rows_other = o.other, last_row = greatest(c.last_row, o.last_row, 0)
     from (select count(*), count(*) filter (where outcome is null), max(row_number)
         from registrants where import = $1) c (claimed, unsent, last_row) -- a row may have been erased before the start
       cross join (select count(*), max(row_number) from import_rows where import = $1) o (other, last_row)
     where number = $1 and state = 'staging' and c.claimed + o.other = $2 returning number`,
    [number, staged],
  );
  if (rows.length > 0) return;
  const [known] = await ledger.db.query<{ state: string }>('select state from imports where number = $1', [number]);
  if (known === undefined || known.state === 'cancelled') {
    throw new LedgerError('stale', 'the import was abandoned while its file was read: import the file again');
  }
  if (known.state === 'staging') {
    throw new LedgerError('stale', 'the store does not hold as many rows as were given to it: import the file again');
  }
}

/** Deletes an import that was never started, with its staged rows; its codes are free again. */
export async function discardImport(ledger: Ledger, number: number): Promise<void> {
  await ledger.db.transaction(async (tx) => {
    const open = await tx.query('delete from imports where number = $1 and started_at is null returning number', [
      number,
    ]);
    if (open.length === 0) return;
    await deleteStagedRows(tx, number);
    await dropImportCounts(tx, number);
  });
}

/** Deletes imports that dead processes left in staging. @returns their number */
export async function discardAbandonedImports(ledger: Ledger): Promise<number> {
  const rows = await ledger.db.query<{ number: number }>(
    `select number from imports where state = 'staging' and touched_at < now() - interval '${abandonedAfterMs} milliseconds'`,
  );
  for (const { number } of rows) await discardImport(ledger, number);
  return rows.length;
}

/**
 * Requests the cancellation of an import; requests in progress are settled first. An import whose file is still being
 * read ends without a request once the file is read. @returns false if it has ended
 */
export async function requestCancellation(ledger: Ledger, id: string, by: string | null): Promise<boolean> {
  const rows = await ledger.db.query(
    `update imports set cancel_asked_at = coalesce(cancel_asked_at, now()), cancel_asked_by = coalesce(cancel_asked_by, $2)
     where id = $1 and state in ('staging', 'running') returning number`,
    [id, by],
  );
  return rows.length > 0;
}

/** The right to send the rows of an import. A new holder takes it without waiting for the previous one: see `takeImport`. */
export interface ImportLease {
  readonly number: number;
  readonly id: string;
  readonly pigeonholeNumber: number;
  readonly workspace: string;
  readonly pigeonholeId: number;
  readonly epoch: number;
}

/**
 * Takes the right to send, without waiting for the previous holder. That holder can no longer commit, and its requests
 * in progress count as sent with an unknown outcome. The service may still receive them. That is harmless, because they
 * contain the same rows with the same codes, so waiting for them gains nothing (decision 0025).
 * @returns undefined if the import is not running
 */
export async function takeImport(ledger: Ledger, id: string, owner: string): Promise<ImportLease | undefined> {
  return await ledger.db.transaction(async (tx) => {
    const [lease] = await tx.query<ImportLease>(
      `update imports i set owner = $2, epoch = epoch + 1 from pigeonholes p
       where i.id = $1 and i.state = 'running' and p.pigeonhole_number = i.pigeonhole_number
       returning i.number, i.id, i.pigeonhole_number as "pigeonholeNumber", i.epoch, p.workspace,
         p.pigeonhole_id as "pigeonholeId"`,
      [id, owner],
    );
    return lease;
  });
}

/** @throws {LedgerError} kind `stale` if a newer attempt has taken over the import, or the import has ended */
export async function confirmImport(ledger: Ledger, { number, epoch }: ImportLease): Promise<void> {
  const rows = await ledger.db.query(`select 1 from imports where number = $1 and epoch = $2 and state = 'running'`, [
    number,
    epoch,
  ]);
  if (rows.length === 0) throw staleImport(number);
}

/** Returns the error for an attempt whose lease another one has taken. */
export function staleImport(number: number): LedgerError {
  return new LedgerError('stale', `import ${number} has a newer sender, so this attempt has ended`);
}

/**
 * Locks an import until commit, for its holder. Rows read under the lock are as an erasure has left them, because an
 * erasure locks the import, too.
 * @returns the round in which its rows are sent
 * @throws {LedgerError} kind `stale` if a newer attempt has taken over the import, or it has ended
 */
export async function lockLeasedImport(tx: Queryable, { number, epoch }: ImportLease): Promise<number> {
  const [held] = await tx.query<{ round: number }>(
    `select round from imports where number = $1 and epoch = $2 and state = 'running' for update`,
    [number, epoch],
  );
  if (held === undefined) throw staleImport(number);
  return held.round;
}

/** Counts rows that waited and are now claimed to be sent in a round, and starts the round if it is new. */
export async function addToRound(tx: Queryable, number: number, round: number, claimed: number): Promise<void> {
  await tx.query(
    `update imports set round = $2, position = case when round = $2 then position else 0 end,
       rows_claimed = rows_claimed + $3, rows_other = rows_other - $3 where number = $1`,
    [number, round, claimed],
  );
}

/**
 * Ends an import. The caller settles what is left of its rows.
 * @throws {LedgerError} kind `stale` if a newer attempt has taken over the import, or it has ended
 */
export async function closeImport(
  tx: Queryable,
  { number, epoch }: ImportLease,
  state: 'done' | 'cancelled',
): Promise<void> {
  const held = await tx.query(
    `update imports set state = $3, ended_at = now(), failure = null, retry_at = null
     where number = $1 and epoch = $2 and state = 'running' returning number`,
    [number, epoch, state],
  );
  if (held.length === 0) throw staleImport(number);
}

/** Makes the running imports of a workspace that wait after a failure send again now. */
export async function retryImports(ledger: Ledger, workspace: string): Promise<void> {
  await ledger.db.query(
    `update imports set retry_at = now() where state = 'running' and retry_at > now()
       and pigeonhole_number in (select pigeonhole_number from pigeonholes where workspace = $1)`,
    [workspace],
  );
}

/** The names of imported files. */
export const importFileNames: OperatorTexts = {
  read: 'select distinct file as text from imports',
  erase: `update imports set file = '(name erased)' where file = any($1::text[])`,
};
