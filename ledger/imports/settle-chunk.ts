import { readableJson } from '../sql-expressions.js';
import type { Queryable } from '../drivers/database.js';
import type { Ledger } from '../ledger.js';
import { learnRefusals } from '../workspaces.js';
import { firstChunkSize, type ImportLease, staleImport } from './imports.js';
import {
  type Piece,
  type StartedChunk,
  type NothingStarted,
  openRows,
  type CountToSend,
  beginChunk,
  isPaused,
  type NextRows,
  nextChunk,
} from './chunks.js';
import { revertUncertainRows, type SettledRow, settleRows } from './rows.js';

/** The conclusions from the answer to a request. */
export interface Settlement {
  /** The rows of the piece that are not in `rows`, as pieces, in order. */
  readonly pieces: readonly (Piece & { readonly created: boolean })[];
  readonly rows: readonly SettledRow[];
  /**
   * Number of an earlier request that is now known to have created nothing, because its rows were created only now.
   * Null: none.
   */
  readonly withoutEffect: number | null;
  /** True if rows of a refused request were created only now, which proves that a refused request creates no rows. */
  readonly refusesWhole: boolean;
  /** The reason to send fewer rows in a request: the service refuses the number, or does not answer. Null: none. */
  readonly smaller: 'refused' | 'unanswered' | null;
}

/** The result of a chunk, and what its request showed about the service. */
export interface ChunkSettlement extends Settlement {
  readonly requestId: string | null;
  /** The number from which the service counts rows, if this answer shows it; otherwise null. */
  readonly indexBase: 0 | 1 | null;
  /**
   * The pause after a failure and its reason; null: the service answered, or the request does not count (`unspent`).
   */
  readonly failing: { readonly retryInMs: number; readonly detail: string } | null;
  /** The request does not count, because it was not sent or because the whole workspace has to wait. */
  readonly unspent: boolean;
}

/**
 * Unanswered requests never reduce the registrants per request below this number. Only a refusal of the request's size
 * can reduce it further.
 */
const minUnanswered = 25;

/**
 * Stores the result of a chunk: the outcomes of its rows, what is left to send, and what was learned about the service.
 * After a plain success, the same statement marks the next chunk, as `beginChunk` does, so that each request costs one
 * commit.
 * @param count null: send nothing next
 * @returns the chunk that was marked, or why none was; undefined if the result was not a plain success
 * @throws {LedgerError} kind `stale` if a newer attempt has taken over the import; that attempt treats the chunk as
 *   unanswered
 */
export async function settleChunk(
  ledger: Ledger,
  lease: ImportLease,
  chunk: StartedChunk,
  { settlement, count }: { readonly settlement: ChunkSettlement; readonly count: CountToSend | null },
): Promise<StartedChunk | NothingStarted | undefined> {
  const { requestId } = settlement;
  if (isWhole(settlement)) return await settleWhole(ledger, lease, chunk, { requestId, count });
  await ledger.db.transaction(async (tx) => {
    await noteRequest(tx, lease, chunk, settlement);
    const { rows } = settlement;
    const numbers = (await openRows(tx, lease.number, chunk)).map(({ row }) => row);
    const settled = new Set(rows.map(({ index }) => index));
    const open = numbers.filter((_, index) => !settled.has(index));
    const answered = rows.map((row) => ({ ...row, row: numbers[row.index]! }));
    await Promise.all([
      rows.length > 0 && settleRows(tx, { ...lease, round: chunk.round, requestId }, answered),
      replaceChunk(tx, { number: lease.number, chunk, open }, settlement),
    ]);
    const { withoutEffect, refusesWhole } = settlement;
    if (withoutEffect !== null || refusesWhole) await noteWithoutEffect(tx, lease, withoutEffect, refusesWhole);
    const size = settlement.smaller === 'refused' && chunk.count > 1 ? Math.floor(chunk.count / 2) : null;
    const learned = { size, indexBase: settlement.indexBase, refusesWhole };
    if (size !== null || learned.indexBase !== null || refusesWhole) await learnRefusals(tx, lease.workspace, learned);
  });
  return undefined;
}

/** Whether the usual case applies: all rows were created, and nothing was learned. */
function isWhole(settlement: ChunkSettlement): boolean {
  const { rows, pieces, withoutEffect, refusesWhole, smaller, indexBase, failing, unspent } = settlement;
  const hasLearnt = withoutEffect !== null || refusesWhole || smaller !== null || indexBase !== null;
  const isCreated = rows.length === 0 && pieces.length === 1 && pieces[0]!.created;
  return isCreated && !hasLearnt && failing === null && !unspent;
}

/** Locks the import until the commit, and records the success or failure of the request. */
async function noteRequest(
  tx: Queryable,
  lease: ImportLease,
  chunk: StartedChunk,
  { failing, smaller, unspent }: ChunkSettlement,
): Promise<void> {
  const isAnswered = failing === null && !unspent;
  const [sender] = await tx.query(
    `update imports i set
       requests = requests - case when $3::boolean then 1 else 0 end,
       failures = case when $4::boolean then 0 when $3 then failures else failures + 1 end,
       passed = case when $5::text is not null then 0 when $4 then passed + 1 else passed end,
       failure = case when $4 then null when $3 then failure else $6 end,
       -- one missing answer concerns only its chunk; a second in a row concerns the service
       retry_at = case when $4 then null when $3 or failures = 0 then retry_at
         else now() + $7::float8 * interval '1 millisecond' end,
       chunk_size = case
         when $5 = 'refused' and $8::int > 1 then least(chunk_size, $8::int / 2)
         when $5 = 'unanswered' then greatest(least(chunk_size, ${minUnanswered}), least(chunk_size, $8::int / 2))
         when $4 and $5 is null then ${grownSize('$9')}
         else chunk_size end
     where number = $1 and epoch = $2 and state = 'running' returning number`,
    [
      lease.number,
      lease.epoch,
      unspent,
      isAnswered,
      smaller,
      failing?.detail ?? null,
      failing?.retryInMs ?? 0,
      chunk.count,
      lease.workspace,
    ],
  );
  if (sender === undefined) throw staleImport(lease.number);
}

/** Replaces a chunk with its pieces. `open` lists the numbers of the chunk's rows that have no outcome of their own. */
async function replaceChunk(
  tx: Queryable,
  { number, chunk, open }: { readonly number: number; readonly chunk: StartedChunk; readonly open: readonly number[] },
  { pieces, requestId, failing }: ChunkSettlement,
): Promise<void> {
  let from = 0;
  const ranges = pieces.map((piece) => {
    const range = { ...piece, first_row: open[from]!, last_row: open[from + piece.rows - 1]! };
    from += piece.rows;
    return range;
  });
  const key = [number, chunk.round, chunk.firstRow];
  await tx.query('delete from import_chunks where import = $1 and round = $2 and first_row = $3', key);
  if (pieces.length === 0) return;
  await tx.query(
    `insert into import_chunks (import, round, first_row, last_row, state, row_count, sent, origin, suspects, next_count,
       fruitful, unknowns, request_id, due_at)
     select $1, $2, n.first_row, n.last_row, case when n.created then 'created' else 'open' end, n.rows, n.sent, n.origin,
       n.suspects, n.next, n.fruitful, n.unknowns, case when n.created then $3 end, now() + $4::float8 * interval '1 millisecond'
     from json_to_recordset(${readableJson('$5::json')}) as n (first_row int4, last_row int4, created boolean, rows int4, sent text, origin int4,
       suspects int4, next int4, fruitful boolean, unknowns int4)`,
    [number, chunk.round, requestId, failing?.retryInMs ?? 0, JSON.stringify(ranges)],
  );
}

/**
 * Corrects the records of a request that turned out to have created nothing, although its answer did not say so. Rows
 * of that request that the service later refused as duplicates existed before the import. Rows that the service refused
 * without a reason become `rejected`. The other rows count as never sent.
 * @param origin number of that request; null: correct only the refused requests
 * @param refused true: no refused request created anything, so correct the records of all of them
 */
async function noteWithoutEffect(
  tx: Queryable,
  lease: ImportLease,
  origin: number | null,
  refused: boolean,
): Promise<void> {
  await revertUncertainRows(tx, lease.number, { origin, refused });
  await tx.query(
    `update import_chunks set sent = 'never', origin = null
     where import = $1 and state = 'open' and (origin = $2 or ($3::boolean and sent = 'refused'))`,
    [lease.number, origin, refused],
  );
}

/** Consecutive successes after which chunks that shrank because of missing answers grow again. */
const growAfter = 4;

/**
 * SQL expression over `imports i`: the number of registrants per request after a success.
 * @param workspace placeholder of the workspace's name in the statement, such as `$4`
 */
const grownSize = (workspace: string): string =>
  `case when i.passed >= ${growAfter} and i.chunk_size < ${firstChunkSize}
     then least(i.chunk_size * 2, ${firstChunkSize}, (select w.registrants_at_once from workspaces w where w.name = ${workspace}))
   else i.chunk_size end`;

/**
 * `sender` waits for the lock on the import's row and then reads its newest version. Later parts must use `sender` and
 * not `imports`, which still shows them the version from before the wait. Chunks, pauses and registrants are read as
 * they were before the wait, too. The statement therefore misses a pause, or a piece that becomes due, during the wait;
 * the next statement finds it. If an erasure changed rows during the wait (`erasures`), nothing is marked here, because
 * `chunk` would still contain the erased profiles; `beginChunk` then marks the next rows.
 *
 * `chunk` concatenates the rows in the order in which its subquery returns them. A second sort in `string_agg` would
 * take half of the statement's time.
 */
const settleAndMark = `with sender as materialized (
    select i.round, i.position, i.last_row, i.cancel_asked_at is not null as cancelling, ${isPaused('$3', '$4')} as paused,
      exists (select 1 from import_chunks c where c.import = i.number and c.state = 'open' and c.due_at <= now()) as has_due,
      least(${grownSize('$4')}, i.canary - i.begun) as most, ${grownSize('$4')} as size,
      least(i.last_row, i.position + 2 * $8::int4) as window_end, i.erasures
    from imports i where i.number = $1 and i.epoch = $2 and i.state = 'running' for update
  ), settled as (
    update import_chunks c set state = 'created', request_id = $7, suspects = null, next_count = null, sent_count = null,
      request = null, due_at = now()
    from sender where c.import = $1 and c.round = $5 and c.first_row = $6
  ), going as materialized (
    select * from sender s where $9::boolean and not s.cancelling and not s.paused and not s.has_due and s.most = $8::int4
      and s.erasures = (select erasures from imports where number = $1)
  ), chunk as materialized (
    select min(row_number) as first_row, max(row_number) as last_row, count(*)::int4 as row_count,
      string_agg(profile::text, ',') as elements
    from (
      select row_number, profile from registrants
      where import = $1 and row_number > (select position from going) and row_number <= (select window_end from going)
        and round = (select round from going) and outcome is null
      order by row_number limit $8::int4
    ) upcoming
    having count(*) = $8::int4 or (count(*) > 0 and (select window_end = last_row from going))
  ), marked as materialized (
    select first_row, last_row, row_count from chunk
  ), counted as (
    update imports i set failures = 0, failure = null, retry_at = null, passed = i.passed + 1, chunk_size = s.size,
      requests = i.requests + case when n.row_count is null then 0 else 1 end,
      request_number = i.request_number + case when n.row_count is null then 0 else 1 end,
      position = coalesce(n.last_row, i.position), begun = i.begun + coalesce(n.row_count, 0)
    from sender s left join marked n on true where i.number = $1
    returning i.request_number
  ), placed as (
    insert into import_chunks (import, round, first_row, last_row, state, row_count, sent_count, request)
    select $1, s.round, n.first_row, n.last_row, 'sending', n.row_count, n.row_count, c.request_number
    from sender s cross join marked n cross join counted c
  ) select s.cancelling, s.paused, s.has_due or (s.most > 0 and s.position < s.last_row) as more, s.round,
      s.size as "chunkSize", n.first_row as "firstRow", n.last_row as "lastRow", n.row_count as count, n.elements,
      c.request_number as request
    from sender s cross join counted c left join chunk n on true`;

interface MarkedRow {
  readonly cancelling: boolean;
  readonly paused: boolean;
  /** Whether something is left to send, now or later. */
  readonly more: boolean;
}

interface NoRows {
  readonly firstRow: null;
}

/**
 * Handles the usual case, in which all rows of a chunk were created: stores the result and marks the next rows of the
 * file in one statement, so that each request costs one round trip and one commit. `beginChunk` handles the other cases
 * in a transaction: pieces that are due again, rows beyond the window, and a chunk of another size.
 * @param count null: send nothing next
 * @returns the chunk that was marked, or why none was; undefined if `count` is null
 * @throws {LedgerError} kind `stale` if a newer attempt has taken over the import; that attempt treats the chunk as
 *   unanswered
 */
export async function settleWhole(
  ledger: Ledger,
  lease: ImportLease,
  chunk: StartedChunk,
  { requestId, count }: { readonly requestId: string | null; readonly count: CountToSend | null },
): Promise<StartedChunk | NothingStarted | undefined> {
  const [row] = await ledger.db.query<MarkedRow & (NextRows | NoRows)>(settleAndMark, [
    lease.number,
    lease.epoch,
    lease.id,
    lease.workspace,
    chunk.round,
    chunk.firstRow,
    requestId,
    chunk.chunkSize,
    count !== null,
  ]);
  if (row === undefined) throw staleImport(lease.number);
  if (count === null) return undefined;
  const { cancelling, paused, more, ...next } = row;
  if (cancelling) return { kind: 'stop', why: 'cancel' };
  if (paused) return { kind: 'stop', why: 'paused' };
  if (next.firstRow !== null) return nextChunk(next);
  return more ? await beginChunk(ledger, lease, count) : { kind: 'none' };
}
