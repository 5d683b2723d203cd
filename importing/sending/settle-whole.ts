import type { Ledger } from '../../ledger/ledger.js';
import { beginChunk, type CountToSend, isPaused, type NextRow, nextChunk } from './begin-chunk.js';
import { firstChunkSize } from '../staging.js';
import { type StartedChunk, type ImportLease, type NothingStarted, staleImport } from './chunks.js';

/** Consecutive successes after which chunks that shrank because of missing answers grow again. */
const growAfter = 4;

/**
 * SQL expression over `imports i`: the number of registrants per request after a success.
 * @param workspace the parameter of the statement that holds the workspace
 */
export const grownSize = (workspace: string): string =>
  `case when i.passed >= ${growAfter} and i.chunk_size < ${firstChunkSize}
     then least(i.chunk_size * 2, ${firstChunkSize}, (select w.registrants_at_once from workspaces w where w.name = ${workspace}))
   else i.chunk_size end`;

/**
 * `sender` locks the import's row and sees the state that the previous holder left, so later parts must not read
 * `imports` themselves. Chunks, pauses and registrants come from the snapshot before the wait. The only possible change
 * since then is a piece that became due, which the next statement handles.
 *
 * A subquery without a join returns the rows in order and joins their texts: sorting them would take half of the
 * statement's time.
 */
const settleAndMark = `with sender as materialized (
    select i.round, i.position, i.last_row, i.cancel_asked_at is not null as cancelling, ${isPaused('$3', '$4')} as paused,
      exists (select 1 from import_chunks c where c.import = i.number and c.state = 'open' and c.due_at <= now()) as has_due,
      least(${grownSize('$4')}, i.canary - i.begun) as most, ${grownSize('$4')} as size,
      least(i.last_row, i.position + 2 * $8::int4) as window_end
    from imports i where i.number = $1 and i.epoch = $2 and i.state = 'running' for update
  ), settled as (
    update import_chunks c set state = 'created', request_id = $7, suspects = null, next_count = null, sent_count = null,
      request = null, due_at = now()
    from sender where c.import = $1 and c.round = $5 and c.first_row = $6
  ), going as materialized (
    select * from sender s where $9::boolean and not s.cancelling and not s.paused and not s.has_due and s.most = $8::int4
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
  ) select s.cancelling, s.paused, s.has_due or (s.most > 0 and s.position < s.last_row) as more, s.round, s.size as chunk_size,
      n.first_row, n.last_row, n.row_count, n.elements, c.request_number as request
    from sender s cross join counted c left join chunk n on true`;

interface SettledRow {
  cancelling: boolean;
  paused: boolean;
  /** Whether something is left to send, now or later. */
  more: boolean;
  first_row: number | null;
}

/**
 * Handles the usual case, in which all rows of a chunk were created: stores it and marks the next rows of the file in
 * one statement, so that each request costs one round trip and one commit. `beginChunk` handles the other cases in a
 * transaction: pieces that are due again, rows beyond the window, and a chunk of another size.
 * @param count null: send nothing next
 * @returns the chunk that was marked, or why none was; undefined if `count` is null
 * @throws {LedgerError} kind `stale` if a newer attempt has the import: it treats the chunk as unanswered
 */
export async function settleWhole(
  ledger: Ledger,
  lease: ImportLease,
  chunk: StartedChunk,
  requestId: string | null,
  count: CountToSend | null,
): Promise<StartedChunk | NothingStarted | undefined> {
  const [row] = await ledger.db.query<SettledRow & NextRow>(settleAndMark, [
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
  if (row.cancelling) return { kind: 'stop', why: 'cancel' };
  if (row.paused) return { kind: 'stop', why: 'paused' };
  if (row.first_row !== null) return nextChunk(row);
  return row.more ? await beginChunk(ledger, lease, count) : { kind: 'none' };
}
