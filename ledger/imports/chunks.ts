import type { Queryable } from '../drivers/database.js';
import type { Ledger } from '../ledger.js';
import { type ImportLease, staleImport } from './imports.js';

/** Consecutive rows of an import that have no outcome. The same is known about all of them. */
export interface Piece {
  readonly rows: number;
  /**
   * How an earlier request that may have created these rows ended; `never`: there was none. After such a request, a
   * complaint about a duplicate can mean that it created the row.
   */
  readonly sent: 'never' | 'refused' | 'unknown';
  /** Number of that earlier request; null: none. */
  readonly origin: number | null;
  /** At least one of the first `suspects` rows caused a refusal that named no row; null: no row is suspected. */
  readonly suspects: number | null;
  /** Send only this number of first rows in the next request; null: `suspects` decides. */
  readonly next: number | null;
  /**
   * Whether the rows directly before these were created, and since then no row was refused alone and no request was
   * left unanswered.
   */
  readonly fruitful: boolean;
  /** Consecutive requests with these rows that were not answered. */
  readonly unknowns: number;
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

interface ChunkRow extends Piece, Pick<StartedChunk, 'round' | 'firstRow' | 'lastRow'> {
  readonly sentCount: number | null;
  readonly request: number | null;
}

const chunkRows = `select round, first_row as "firstRow", last_row as "lastRow", row_count as rows, sent, origin, suspects,
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

function startedChunk(
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

/** Returns how many of a piece's first rows to send in the next request. */
export type CountToSend = (piece: Piece) => number;

/** The sending state of an import. */
interface SenderRow {
  cancelling: boolean;
  paused: boolean;
  round: number;
  position: number;
  last_row: number;
  begun: number;
  canary: number | null;
  chunk_size: number;
  failing: boolean;
  retry_in_ms: number | null;
  under_way: number;
  has_due: boolean;
}

/**
 * SQL condition that holds if an operator has paused the import or its workspace, or a failure has paused the import.
 * @param id placeholder of the import's ID in the statement, such as `$3`
 * @param workspace placeholder of the workspace's name
 */
export const isPaused = (id: string, workspace: string): string =>
  `exists (select 1 from pauses p where (p.scope = 'import' and p.name = ${id})
     or (p.scope = 'workspace' and p.name = ${workspace} and p.paused_by = 'person'))`;

/**
 * Marks the next rows to send: a piece that is due again, or the next rows of the file. Commits before the request is
 * sent, so that after a crash the ledger shows which rows may have reached the service.
 * @throws {LedgerError} kind `stale` if a newer attempt has taken over the import
 */
export async function beginChunk(
  ledger: Ledger,
  lease: ImportLease,
  count: CountToSend,
): Promise<StartedChunk | NothingStarted> {
  return await ledger.db.transaction(async (tx) => {
    const [sender] = await tx.query<SenderRow>(
      `select i.cancel_asked_at is not null as cancelling, i.round, i.position, i.last_row, i.begun, i.canary, i.chunk_size,
         i.failures > 0 as failing, greatest(0, extract(epoch from i.retry_at - now()) * 1000)::float8 as retry_in_ms,
         ${isPaused('$3', '$4')} as paused,
         (select count(*) from import_chunks c where c.import = i.number and c.state = 'sending') as under_way,
         exists (select 1 from import_chunks c where c.import = i.number and c.state = 'open' and c.due_at <= now()) as has_due
       from imports i where i.number = $1 and i.epoch = $2 and i.state = 'running' for update of i`,
      [lease.number, lease.epoch, lease.id, lease.workspace],
    );
    if (sender === undefined) throw staleImport(lease.number);
    if (sender.cancelling) return { kind: 'stop', why: 'cancel' };
    if (sender.paused) return { kind: 'stop', why: 'paused' };
    if (sender.retry_in_ms !== null && sender.retry_in_ms > 0) return { kind: 'none' };
    // While the service does not answer, only one request is in progress: it is enough to notice that the service is back.
    if (sender.failing && sender.under_way > 0) return { kind: 'none' };
    const piece = sender.has_due ? await beginPiece(tx, lease, sender, count) : undefined;
    return piece ?? (await beginNext(tx, lease, sender)) ?? { kind: 'none' };
  });
}

async function beginPiece(
  tx: Queryable,
  lease: ImportLease,
  { chunk_size: chunkSize }: SenderRow,
  count: CountToSend,
): Promise<StartedChunk | undefined> {
  const [row] = await tx.query<ChunkRow>(
    `${chunkRows} where import = $1 and state = 'open' and due_at <= now() order by due_at, round, first_row limit 1`,
    [lease.number],
  );
  if (row === undefined) return undefined;
  const rows = await openRows(tx, lease.number, row);
  const sentCount = count({ ...row, rows: rows.length });
  const [{ request }] = (await tx.query<{ request: number }>(
    `update imports set requests = requests + 1, request_number = request_number + 1 where number = $1
     returning request_number as request`,
    [lease.number],
  )) as [{ request: number }];
  await tx.query(
    `update import_chunks set state = 'sending', sent_count = $4, request = $5, row_count = $6
     where import = $1 and round = $2 and first_row = $3`,
    [lease.number, row.round, row.firstRow, sentCount, request, rows.length],
  );
  return startedChunk(row, rows, { count: sentCount, request, chunkSize });
}

/** The next rows of the file, marked as being sent. */
export type NextRows = Omit<StartedChunk, 'piece'>;

/**
 * Creates a chunk from the next rows that are in no chunk yet. One statement finds the rows, stores the chunk, counts
 * the request and builds its body. No request has contained these rows before, so none is suspected and all are sent.
 *
 * The statement searches a window of row numbers. If the window holds too few rows, because other imports hold most of
 * them, the next search uses a wider one. Without an upper bound, the database would sort all remaining rows: it has no
 * statistics of a new table and assumes that the table is empty.
 */
async function beginNext(tx: Queryable, lease: ImportLease, sender: SenderRow): Promise<StartedChunk | undefined> {
  const maxRows = Math.min(sender.chunk_size, (sender.canary ?? Infinity) - sender.begun);
  if (maxRows <= 0) return undefined;
  for (let window = 2 * maxRows; ; window *= 4) {
    const end = Math.min(sender.last_row, sender.position + window);
    const [next] = await tx.query<NextRows>(
      `with upcoming as (
         select row_number, profile from registrants
         where import = $1 and row_number > $3 and row_number <= $4 and round = $2 and outcome is null
         order by row_number limit $5
       ), chunk as (
         select min(row_number) as first_row, max(row_number) as last_row, count(*)::int4 as row_count,
           string_agg(profile::text, ',' order by row_number) as elements
         from upcoming having count(*) = $5 or (count(*) > 0 and $6::boolean)
       ), counted as (
         update imports i set requests = requests + 1, request_number = request_number + 1, position = n.last_row,
           begun = begun + n.row_count
         from chunk n where i.number = $1 returning i.request_number
       ), placed as (
         insert into import_chunks (import, round, first_row, last_row, state, row_count, sent_count, request)
         select $1, $2, n.first_row, n.last_row, 'sending', n.row_count, n.row_count, c.request_number
         from chunk n cross join counted c
       ) select $2::int4 as round, n.first_row as "firstRow", n.last_row as "lastRow", n.row_count as count, n.elements,
           c.request_number as request, $7::int4 as "chunkSize"
         from chunk n cross join counted c`,
      [lease.number, sender.round, sender.position, end, maxRows, end === sender.last_row, sender.chunk_size],
    );
    if (next !== undefined) return nextChunk(next);
    if (end === sender.last_row) return undefined;
  }
}

/** Returns the chunk of these rows. No request has contained them before. */
export function nextChunk(next: NextRows): StartedChunk {
  const untouched = { sent: 'never', origin: null, suspects: null, next: null, fruitful: false, unknowns: 0 } as const;
  return { ...next, piece: { ...untouched, rows: next.count } };
}

/** Drops the chunks of an import that ends before they are settled. */
export async function dropUnsettledChunks(tx: Queryable, number: number): Promise<void> {
  await tx.query(`delete from import_chunks where import = $1 and state <> 'created'`, [number]);
}
