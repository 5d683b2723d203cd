import type { Ledger } from '../../ledger/ledger.js';
import { LedgerError } from '../../ledger/ledger-error.js';
import { abandonedAfterMs } from '../../ledger/registrant-standing.js';

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
