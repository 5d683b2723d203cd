import type { Queryable } from '../../drivers/database.js';
import type { Ledger } from '../../ledger.js';
import { staleImport } from './import-errors.js';

/** The right to send an import's rows. Who takes it next is not waited for: see `takeImport`. */
export interface ImportLease {
  readonly number: number;
  readonly id: string;
  readonly ref: number;
  readonly workspace: string;
  readonly pigeonholeId: number;
  readonly epoch: number;
}

/** Whether rows were sent before, and with what end: what a complaint about a duplicate means depends on it. */
export type SentBefore = 'never' | 'refused' | 'unknown';

/** Rows that stand together until something tells them apart, in their order. */
export interface Piece {
  /** So many of the chunk's rows. */
  readonly rows: number;
  readonly sent: SentBefore;
  /** The request by which they may be there already; null: none. */
  readonly origin: number | null;
  /** One of the first so many is refused; null: nothing speaks against any. */
  readonly suspects: number | null;
  /** So many of the first go next; null: all. */
  readonly next: number | null;
  /** Since a row was last refused, some were created. */
  readonly fruitful: boolean;
  /** Requests in a row whose outcome is not known. */
  readonly unknowns: number;
}

/** What is about to be sent: marked in the ledger, and counted. */
export interface BegunChunk {
  readonly round: number;
  readonly firstRow: number;
  readonly piece: Piece;
  /** All rows of the piece, in order; the first `count` of them go. */
  readonly rowNumbers: readonly number[];
  readonly count: number;
  /** Canonical JSON of those that go. */
  readonly profiles: readonly string[];
  /** Number of this request in the import. */
  readonly request: number;
}

/** Why nothing was begun. */
export type NothingBegun =
  /** Nothing is due: `whatIsLeft` says more. */
  | { readonly kind: 'none' }
  /** A person wants the end, or a pause; or a cause does. */
  | { readonly kind: 'stop'; readonly why: 'cancel' | 'paused' };

/**
 * Takes the right to send, at once: whoever had it can commit nothing any more, and what it left under way counts as
 * sent with an unknown outcome. Its requests may still arrive. That is harmless here, since they carry the same rows
 * under the same codes, and unlike on a sink's lane nothing is gained by waiting for them (decision 0025).
 * @returns undefined when the import is not running
 */
export async function takeImport(ledger: Ledger, id: string, owner: string): Promise<ImportLease | undefined> {
  return await ledger.db.transaction(async (tx) => {
    const [row] = await tx.query<{
      number: number;
      ref: number;
      epoch: number;
      workspace: string;
      pigeonhole_id: number;
    }>(
      `update imports i set owner = $2, epoch = epoch + 1 from pigeonholes p
       where i.id = $1 and i.state = 'running' and p.ref = i.ref
       returning i.number, i.ref, i.epoch, p.workspace, p.pigeonhole_id`,
      [id, owner],
    );
    if (row === undefined) return undefined;
    const { pigeonhole_id: pigeonholeId, ...lease } = row;
    return { id, ...lease, pigeonholeId };
  });
}

interface ChunkRow {
  round: number;
  first_row: number;
  last_row: number;
  row_count: number;
  sent: SentBefore;
  origin: number | null;
  suspects: number | null;
  next_count: number | null;
  fruitful: boolean;
  unknowns: number;
  sent_count: number | null;
  request: number | null;
}

const chunkRows = `select round, first_row, last_row, row_count, sent, origin, suspects, next_count, fruitful, unknowns,
    sent_count, request
  from import_chunks`;

function pieceOf(row: ChunkRow): Piece {
  return {
    rows: row.row_count,
    sent: row.sent,
    origin: row.origin,
    suspects: row.suspects,
    next: row.next_count,
    fruitful: row.fruitful,
    unknowns: row.unknowns,
  };
}

/** What an attempt before has marked as under way: it may have arrived. Empty once that is settled. */
export async function chunksUnderWay(ledger: Ledger, lease: ImportLease): Promise<BegunChunk[]> {
  const left = await ledger.db.query<ChunkRow>(
    `${chunkRows} where import = $1 and state = 'sending' order by first_row`,
    [lease.number],
  );
  return await Promise.all(
    left.map(async (row) => {
      const rows = await openRows(ledger.db, lease.number, row);
      return begunChunk(row, rows, row.sent_count ?? rows.length, row.request ?? 0);
    }),
  );
}

interface OpenRow {
  row_number: number;
  profile: string;
}

async function openRows(
  tx: Queryable,
  number: number,
  { round, first_row, last_row }: Pick<ChunkRow, 'round' | 'first_row' | 'last_row'>,
): Promise<OpenRow[]> {
  return await tx.query<OpenRow>(
    `select row_number, profile from registrants
     where import = $1 and row_number between $3 and $4 and round = $2 and outcome is null order by row_number`,
    [number, round, first_row, last_row],
  );
}

function begunChunk(row: ChunkRow, rows: readonly OpenRow[], count: number, request: number): BegunChunk {
  return {
    round: row.round,
    firstRow: row.first_row,
    piece: { ...pieceOf(row), rows: rows.length },
    rowNumbers: rows.map(({ row_number }) => row_number),
    count: Math.min(count, rows.length),
    profiles: rows.slice(0, count).map(({ profile }) => profile),
    request,
  };
}

interface SenderRow {
  state: string;
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
}

/**
 * Marks what is sent next: a piece that is due again, or the next rows of the file. Committed before the request.
 * @param count how many rows of a piece go into the next request
 * @throws {LedgerError} kind `stale` when a newer attempt has the import
 */
export async function beginChunk(
  ledger: Ledger,
  lease: ImportLease,
  count: (piece: Piece) => number,
): Promise<BegunChunk | NothingBegun> {
  return await ledger.db.transaction(async (tx) => {
    const [sender] = await tx.query<SenderRow>(
      `select i.state, i.cancel_asked_at is not null as cancelling, i.round, i.position, i.last_row, i.begun, i.canary,
         i.chunk_size, i.failures > 0 as failing,
         greatest(0, extract(epoch from i.retry_at - now()) * 1000)::float8 as retry_in_ms,
         exists (select 1 from pauses p where (p.scope = 'import' and p.name = $3)
           or (p.scope = 'workspace' and p.name = $4 and p.paused_by = 'person')) as paused,
         (select count(*) from import_chunks c where c.import = i.number and c.state = 'sending') as under_way
       from imports i where i.number = $1 and i.epoch = $2 and i.state = 'running' for update of i`,
      [lease.number, lease.epoch, lease.id, lease.workspace],
    );
    if (sender === undefined) throw staleImport(lease.number);
    if (sender.cancelling) return { kind: 'stop', why: 'cancel' };
    if (sender.paused) return { kind: 'stop', why: 'paused' };
    if (sender.retry_in_ms !== null && sender.retry_in_ms > 0) return { kind: 'none' };
    // While nothing is answered one request finds that out as well as three.
    if (sender.failing && sender.under_way > 0) return { kind: 'none' };
    return (await beginPiece(tx, lease, count)) ?? (await beginNext(tx, lease, sender, count)) ?? { kind: 'none' };
  });
}

async function beginPiece(
  tx: Queryable,
  lease: ImportLease,
  count: (piece: Piece) => number,
): Promise<BegunChunk | undefined> {
  const [row] = await tx.query<ChunkRow>(
    `${chunkRows} where import = $1 and state = 'open' and due_at <= now() order by due_at, round, first_row limit 1`,
    [lease.number],
  );
  if (row === undefined) return undefined;
  const rows = await openRows(tx, lease.number, row);
  const goes = count({ ...pieceOf(row), rows: rows.length });
  const request = await markRequest(tx, lease, {});
  await tx.query(
    `update import_chunks set state = 'sending', sent_count = $4, request = $5, row_count = $6
     where import = $1 and round = $2 and first_row = $3`,
    [lease.number, row.round, row.first_row, goes, request, rows.length],
  );
  return begunChunk(row, rows, goes, request);
}

const untouched = {
  sent: 'never',
  origin: null,
  suspects: null,
  next_count: null,
  fruitful: false,
  unknowns: 0,
} as const;

async function beginNext(
  tx: Queryable,
  lease: ImportLease,
  sender: SenderRow,
  count: (piece: Piece) => number,
): Promise<BegunChunk | undefined> {
  const most = Math.min(sender.chunk_size, (sender.canary ?? Infinity) - sender.begun);
  if (most <= 0) return undefined;
  const rows = await rowsBehind(tx, lease, sender, most);
  if (rows.length === 0) return undefined;
  const range = { round: sender.round, first_row: rows[0]!.row_number, last_row: rows.at(-1)!.row_number };
  const row = { ...untouched, ...range, row_count: rows.length, sent_count: null, request: null };
  const goes = count(pieceOf(row));
  const request = await markRequest(tx, lease, { position: range.last_row, begun: rows.length });
  await tx.query(
    `insert into import_chunks (import, round, first_row, last_row, state, row_count, sent_count, request)
     values ($1, $2, $3, $4, 'sending', $5, $6, $7)`,
    [lease.number, range.round, range.first_row, range.last_row, rows.length, goes, request],
  );
  return begunChunk(row, rows, goes, request);
}

/**
 * The next rows that are in no chunk. Looked for in a window of row numbers, a wider one where other imports hold most of
 * them: without a far end the store would sort all that is left, since it takes new tables to be empty.
 */
async function rowsBehind(tx: Queryable, lease: ImportLease, sender: SenderRow, most: number): Promise<OpenRow[]> {
  for (let window = 2 * most; ; window *= 4) {
    const end = Math.min(sender.last_row, sender.position + window);
    // oxlint-disable-next-line no-await-in-loop -- the window is wider each time
    const rows = await tx.query<OpenRow>(
      `select row_number, profile from registrants
       where import = $1 and row_number > $3 and row_number <= $4 and round = $2 and outcome is null
       order by row_number limit $5`,
      [lease.number, sender.round, sender.position, end, most],
    );
    if (rows.length === most || end === sender.last_row) return rows;
  }
}

async function markRequest(
  tx: Queryable,
  lease: ImportLease,
  { position, begun }: { position?: number; begun?: number },
): Promise<number> {
  const [row] = await tx.query<{ request_number: number }>(
    `update imports set requests = requests + 1, request_number = request_number + 1, position = coalesce($2::int, position), begun = begun + $3::int
     where number = $1 returning request_number`,
    [lease.number, position ?? null, begun ?? 0],
  );
  return row!.request_number;
}

/** Milliseconds until there is something to send; null: everything is settled that was this import's. */
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
