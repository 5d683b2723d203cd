import type { Queryable } from '../ledger/drivers/database.js';
import { byItem, byOrder } from '../ledger/sql-expressions.js';
import { candidateColumns, candidateJoins, type CandidateRow } from './candidates.js';
import type { LaneLease } from '../ledger/lanes-leased.js';

interface DueRequest {
  readonly order: 'item' | 'pigeonhole';
  readonly onlyLatest: boolean;
  readonly which: 'all' | 'untried' | 'failed';
  readonly limit: number;
}

/**
 * Returns open deliveries that are due and not blocked by an earlier one. An open delivery of a change always blocks the
 * replays of that change: they are planned only when the ledger has the object that it creates at the destination. If
 * the sink receives only the latest revision, a delivery postponed on purpose (`waiting`, due later) blocks no later
 * change, because it is superseded when it becomes due.
 * @param request.which `untried`: leaves out deliveries that failed and deliveries that a failed one blocks; `failed`:
 * only deliveries that failed, least recently tried first
 */
export async function dueDeliveries(
  tx: Queryable,
  lease: LaneLease,
  { order, onlyLatest, which, limit }: DueRequest,
): Promise<CandidateRow[]> {
  if (limit <= 0) return [];
  const lane = [lease.sinkId, lease.pigeonholeNumber, limit];
  if (order === 'item') return await tx.query<CandidateRow>(openItems[which], [...lane, onlyLatest]);
  const rows = await tx.query<CandidateRow & { later: boolean }>(firstOpen, lane);
  const stop = rows.findIndex(({ later }) => later);
  return stop === -1 ? rows : rows.slice(0, stop);
}

/** The columns of an open delivery `d`. */
const openColumns = `${candidateColumns}, d.identity as "sentWithIdentity", d.attempts,
  d.state = 'retry' and (select l.delivered_at from lanes l where l.sink_id = $1
  and l.pigeonhole_number = $2) > d.updated_at
    as "othersPassedSince",
  coalesce(d.redriven, false) as redriven, false as blocked, d.replay, r.id as "replayId",
  coalesce(r.repair, false) as repair`;

/** Joins the change, the item and the replay of a delivery `d`. */
export const openJoins = `cross join lateral (select * from changes where pigeonhole_number = d.pigeonhole_number
  and sequence = d.sequence limit 1) c
  ${candidateJoins}
  left join lateral (select id, repair from replays where number = d.replay limit 1) r on true`;

/**
 * For a lane that delivers all its changes in order: a delivery that is being sent, or is not due yet, blocks all later
 * ones.
 */
const firstOpen = `select ${openColumns},
    coalesce(d.due_at > now(), false) or d.sequence >= coalesce((select min(e.sequence) from deliveries e
      where ${byOrder('e', '$1', '$2')} and e.state = 'sending'), 9223372036854775807) as later
  from deliveries d ${openJoins}
  where ${byOrder('d', '$1', '$2')} and d.state in ('waiting', 'retry')
  order by d.sequence, d.replay limit $3`;

/**
 * For a lane that delivers only the changes of one item in order. There is one statement per case, because a single
 * plan for all cases would sort everything that is due. A scalar subquery finds the blocking delivery, since the
 * planner may turn `not exists` into a join.
 */
const openItems = {
  all: itemsOpen('true', 'false', ''),
  untried: itemsOpen(`d.state = 'waiting'`, `e.state = 'retry'`, ''),
  failed: itemsOpen(`d.state = 'retry'`, 'false', 'd.updated_at, '),
};

function itemsOpen(which: string, alsoBlocks: string, firstOrder: string): string {
  return `select ${openColumns}, false as later
    from deliveries d ${openJoins}
    where ${byOrder('d', '$1', '$2')} and d.state in ('waiting', 'retry') and (d.due_at is null or d.due_at <= now())
      and ${which}
      and coalesce((select false from deliveries e where ${byItem('e', '$1', 'd.pigeonhole_number')}
        and e.list = d.list and e.key = d.key and (e.sequence, e.replay) < (d.sequence, d.replay)
        and e.state in ('waiting', 'sending', 'retry') and (e.state = 'sending' or ${alsoBlocks}
          or e.sequence = d.sequence or (e.due_at > now() and (e.state = 'retry' or not $4::boolean))) limit 1), true)
    order by ${firstOrder}d.sequence, d.replay limit $3`;
}

/** Returns true if the lane has any unsettled delivery. */
export async function anyOpen(tx: Queryable, lease: LaneLease): Promise<boolean> {
  const [row] = await tx.query<{ open: boolean }>(
    `select exists (select 1 from deliveries d where ${byOrder('d', '$1', '$2')} and d.state in ('waiting', 'retry'))
       or exists (select 1 from deliveries d where ${byOrder('d', '$1', '$2')} and d.state = 'sending') as open`,
    [lease.sinkId, lease.pigeonholeNumber],
  );
  return row!.open;
}
