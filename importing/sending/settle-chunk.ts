import type { Queryable } from '../../ledger/drivers/database.js';
import type { Settlement } from './settle-answer.js';
import type { Ledger } from '../../ledger/ledger.js';
import type { CountToSend } from './begin-chunk.js';
import { type StartedChunk, type ImportLease, type NothingStarted, openNumbers, staleImport } from './chunks.js';
import { grownSize, settleWhole } from './settle-whole.js';
import { revertUncertainRows, settleRows } from '../row-states.js';

/** The result of a chunk and what its request showed. */
export interface ChunkSettlement extends Settlement {
  readonly requestId: string | null;
  /** Base of the service's row numbers, if this answer shows it. */
  readonly indexBase: 0 | 1 | null;
  /** The pause after a failure and its reason; null: the service answered. */
  readonly failing: { readonly retryInMs: number; readonly detail: string } | null;
  /** No request was made after all. */
  readonly unspent: boolean;
}

/** Minimum registrants per request after unanswered ones; only a refusal goes below it. */
const minUnanswered = 25;
/**
 * Stores the result of a chunk: the outcomes of its rows, what is left to send, and what was learned about the service.
 * After a plain success, the same statement marks the next chunk, as `beginChunk` does, so that each request costs one
 * commit.
 * @param count null: send nothing next
 * @returns the chunk that was marked, or why none was; undefined if the result was not a plain success
 * @throws {LedgerError} kind `stale` if a newer attempt has the import: it treats the chunk as unanswered
 */
export async function settleChunk(
  ledger: Ledger,
  lease: ImportLease,
  chunk: StartedChunk,
  settlement: ChunkSettlement,
  count: CountToSend | null,
): Promise<StartedChunk | NothingStarted | undefined> {
  if (isWhole(settlement)) return await settleWhole(ledger, lease, chunk, settlement.requestId, count);
  await ledger.db.transaction(async (tx) => {
    await noteRequest(tx, lease, chunk, settlement);
    const { rows, pieces, requestId } = settlement;
    const numbers = await openNumbers(tx, lease.number, chunk);
    const settled = new Set(rows.map(({ index }) => index));
    const open = numbers.filter((_, index) => !settled.has(index));
    const answered = rows.map((row) => ({ ...row, row: numbers[row.index]! }));
    await Promise.all([
      rows.length > 0 && settleRows(tx, { ...lease, round: chunk.round, requestId }, answered),
      replaceChunk(tx, lease, chunk, open, pieces, settlement),
    ]);
    const { withoutEffect, refusesWhole } = settlement;
    if (withoutEffect !== null || refusesWhole) await noteWithoutEffect(tx, lease, withoutEffect, refusesWhole);
    if (refusesWhole) await learnWhole(tx, lease);
    if (settlement.smaller === 'refused' && chunk.count > 1) await learnSize(tx, lease, Math.floor(chunk.count / 2));
    if (settlement.indexBase !== null) await learnIndexBase(tx, lease, settlement.indexBase);
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

/** Locks the import for the commit, and records the success or failure of the request. */
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

/** Replaces a chunk by pieces. @param open numbers of its rows that have no outcome of their own */
async function replaceChunk(
  tx: Queryable,
  lease: ImportLease,
  chunk: StartedChunk,
  open: readonly number[],
  pieces: ChunkSettlement['pieces'],
  { requestId, failing }: ChunkSettlement,
): Promise<void> {
  let from = 0;
  const ranges = pieces.map(({ rows }) => {
    const range = { first: open[from]!, last: open[from + rows - 1]! };
    from += rows;
    return range;
  });
  const key = [lease.number, chunk.round, chunk.firstRow];
  await tx.query('delete from import_chunks where import = $1 and round = $2 and first_row = $3', key);
  if (pieces.length === 0) return;
  await tx.query(
    `insert into import_chunks (import, round, first_row, last_row, state, row_count, sent, origin, suspects, next_count,
       fruitful, unknowns, request_id, due_at)
     select $1, $2, n.first_row, n.last_row, case when n.created then 'created' else 'open' end, n.row_count, n.sent, n.origin,
       n.suspects, n.next_count, n.fruitful, n.unknowns, case when n.created then $3 end,
       now() + $4::float8 * interval '1 millisecond'
     from unnest($5::int4[], $6::int4[], $7::boolean[], $8::int4[], $9::text[], $10::int4[], $11::int4[], $12::int4[],
       $13::boolean[], $14::int4[])
       as n (first_row, last_row, created, row_count, sent, origin, suspects, next_count, fruitful, unknowns)`,
    [
      lease.number,
      chunk.round,
      requestId,
      failing?.retryInMs ?? 0,
      ranges.map(({ first }) => first),
      ranges.map(({ last }) => last),
      pieces.map(({ created }) => created),
      pieces.map(({ rows }) => rows),
      pieces.map(({ sent }) => sent),
      pieces.map(({ origin }) => origin),
      pieces.map(({ suspects }) => suspects),
      pieces.map(({ next }) => next),
      pieces.map(({ fruitful }) => fruitful),
      pieces.map(({ unknowns }) => unknowns),
    ],
  );
}

/**
 * Corrects the records of a request that turned out to have created nothing, although its answer did not say so. Its
 * rows that were later refused as duplicates existed before, those refused without a reason are rejected, and the rest
 * was never sent with any effect.
 * @param origin that request; null: only the refused requests
 * @param refused whether the same holds for every refused request
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

async function learnSize(tx: Queryable, lease: ImportLease, size: number): Promise<void> {
  await tx.query('update imports set chunk_size = least(chunk_size, $2::int) where number = $1', [lease.number, size]);
  await tx.query(
    `insert into workspaces (name, registrants_at_once) values ($1, $2)
     on conflict (name) do update set registrants_at_once = least(workspaces.registrants_at_once, excluded.registrants_at_once)`,
    [lease.workspace, size],
  );
}

async function learnIndexBase(tx: Queryable, lease: ImportLease, base: 0 | 1): Promise<void> {
  await tx.query(
    `insert into workspaces (name, registrant_index_base) values ($1, $2)
     on conflict (name) do update set registrant_index_base = excluded.registrant_index_base
     where workspaces.registrant_index_base is distinct from excluded.registrant_index_base`,
    [lease.workspace, base],
  );
}

async function learnWhole(tx: Queryable, lease: ImportLease): Promise<void> {
  await tx.query(
    `insert into workspaces (name, refuses_whole) values ($1, true)
     on conflict (name) do update set refuses_whole = true where not workspaces.refuses_whole`,
    [lease.workspace],
  );
}

/** Observations about how a service refuses registrants. */
export interface RefusalBehavior {
  /** Base of its row numbers; null: not known. */
  readonly indexBase: 0 | 1 | null;
  /** It creates nothing of a request that it refuses. */
  readonly refusesWhole: boolean;
}

export async function readRefusalBehavior(ledger: Ledger, workspace: string): Promise<RefusalBehavior> {
  const [row] = await ledger.db.query<{ base: 0 | 1 | null; whole: boolean }>(
    'select registrant_index_base as base, refuses_whole as whole from workspaces where name = $1',
    [workspace],
  );
  return { indexBase: row?.base ?? null, refusesWhole: row?.whole ?? false };
}
