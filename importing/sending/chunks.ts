import type { Queryable } from '../../ledger/drivers/database.js';
import type { Ledger } from '../../ledger/ledger.js';
import type { Piece } from './settle-answer.js';
import { LedgerError } from '../../ledger/ledger-error.js';

/** The right to send the rows of an import. A new holder takes it without waiting for the previous one: see `takeImport`. */
export interface ImportLease {
  readonly number: number;
  readonly id: string;
  readonly ref: number;
  readonly workspace: string;
  readonly pigeonholeId: number;
  readonly epoch: number;
}

/** A chunk that is about to be sent. The ledger already records it as `sending` and counts its request. */
export interface StartedChunk {
  readonly round: number;
  readonly firstRow: number;
  readonly lastRow: number;
  /** The rows of the chunk. The request contains only the first `count` of them. */
  readonly piece: Piece;
  readonly count: number;
  /** The rows to send, as the elements of a JSON array. */
  readonly elements: string;
  /** Number of this request in the import. */
  readonly request: number;
  /** Number of rows in a new chunk at the time this one was started. */
  readonly chunkSize: number;
}

/** The reason why nothing was started. */
export type NothingStarted =
  /** Nothing is due now; `whatIsLeft` returns when to continue. */
  | { readonly kind: 'none' }
  /** An operator cancelled or paused the import, or pigeonpost paused it after a failure. */
  | { readonly kind: 'stop'; readonly why: 'cancel' | 'paused' };

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
       where i.id = $1 and i.state = 'running' and p.ref = i.ref
       returning i.number, i.id, i.ref, i.epoch, p.workspace, p.pigeonhole_id as "pigeonholeId"`,
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

export interface ChunkRow extends Piece, Pick<StartedChunk, 'round' | 'firstRow' | 'lastRow'> {
  readonly sentCount: number | null;
  readonly request: number | null;
}

export const chunkRows = `select round, first_row as "firstRow", last_row as "lastRow", row_count as rows, sent, origin, suspects,
    next_count as next, fruitful, unknowns, sent_count as "sentCount", request
  from import_chunks`;

/**
 * Returns the chunks whose requests an earlier attempt started and did not settle. The service may have received them.
 * Empty once they are settled.
 */
export async function unsettledChunks(ledger: Ledger, lease: ImportLease): Promise<StartedChunk[]> {
  const left = await ledger.db.query<ChunkRow>(
    `${chunkRows} where import = $1 and state = 'sending' order by first_row`,
    [lease.number],
  );
  return await Promise.all(
    left.map(async (row) => {
      const rows = await openRows(ledger.db, lease.number, row);
      const count = row.sentCount ?? rows.length;
      return startedChunk(row, rows, { count, request: row.request ?? 0, chunkSize: count });
    }),
  );
}

interface OpenRow {
  readonly row: number;
  readonly profile: string;
}

/** Returns the rows of a chunk that have no outcome of their own yet, in the order of the file. */
export async function openRows(
  tx: Queryable,
  number: number,
  { round, firstRow, lastRow }: Pick<StartedChunk, 'round' | 'firstRow' | 'lastRow'>,
): Promise<OpenRow[]> {
  return await tx.query<OpenRow>(
    `select row_number as "row", profile from registrants
     where import = $1 and row_number between $3 and $4 and round = $2 and outcome is null order by row_number`,
    [number, round, firstRow, lastRow],
  );
}

export function startedChunk(
  row: ChunkRow,
  rows: readonly OpenRow[],
  { count, request, chunkSize }: Pick<StartedChunk, 'count' | 'request' | 'chunkSize'>,
): StartedChunk {
  const { round, firstRow, lastRow, sent, origin, suspects, next, fruitful, unknowns } = row;
  return {
    round,
    firstRow,
    lastRow,
    piece: { rows: rows.length, sent, origin, suspects, next, fruitful, unknowns },
    count: Math.min(count, rows.length),
    elements: rows
      .slice(0, count)
      .map(({ profile }) => profile)
      .join(','),
    request,
    chunkSize,
  };
}

/** Returns the milliseconds until the next request; null if all rows of this import are settled. */
export async function whatIsLeft(ledger: Ledger, lease: ImportLease): Promise<number | null> {
  const [row] = await ledger.db.query<{
    open: number;
    piece_in_ms: number | null;
    retry_in_ms: number | null;
    rows: boolean;
  }>(
    `select (select count(*) from import_chunks c where c.import = i.number and c.state <> 'created') as open,
       (select (extract(epoch from min(c.due_at) - now()) * 1000)::float8 from import_chunks c
        where c.import = i.number and c.state = 'open') as piece_in_ms,
       (extract(epoch from i.retry_at - now()) * 1000)::float8 as retry_in_ms,
       (i.canary is null or i.begun < i.canary) and i.position < i.last_row and exists (select 1 from registrants r
         where r.import = i.number and r.round = i.round and r.row_number > i.position and r.outcome is null) as rows
     from imports i where i.number = $1`,
    [lease.number],
  );
  const { open, piece_in_ms: pieceInMs, retry_in_ms: retryInMs, rows } = row!;
  if (open === 0 && !rows) return null;
  return Math.ceil(Math.max(0, retryInMs ?? 0, rows ? 0 : (pieceInMs ?? 0)));
}

export function staleImport(number: number): LedgerError {
  return new LedgerError('stale', `import ${number} has a newer sender, so this attempt has ended`);
}
