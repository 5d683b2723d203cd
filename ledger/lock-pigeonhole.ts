import type { Queryable } from './drivers/database.js';
import { existsAgain } from './gone-streams.js';
import { type StreamLease, stale } from './streams.js';
import type { PageScope } from './write-changes.js';

/**
 * Checks the lease and takes the lock under which sequences are given; held until commit, so commits are in sequence.
 * The pigeonhole's row first, as everywhere (rows are locked in the order in which FROM names them): a page of
 * sessions that revises items of other streams would else wait for a page that waits for it.
 * Who takes it has an answer of the service to store: what was thought to be gone is there.
 * @throws {LedgerError} kind `stale` when the stream has a newer reader
 */
export async function lockPigeonhole(tx: Queryable, lease: StreamLease): Promise<PageScope> {
  const [row] = await tx.query<LockedRow>(
    `select p.workspace, p.pigeonhole_id, p.next_sequence, s.gone_count > 0 or s.gone_at is not null as doubted,
       exists (select 1 from forgotten f where f.workspace = p.workspace)
         or exists (select 1 from forgotten_codes f where f.ref = p.ref) as forgets
     from pigeonholes p join streams s on s.ref = p.ref
     where s.id = $1 and s.epoch = $2 for no key update`,
    [lease.streamId, lease.epoch],
  );
  if (row === undefined) throw stale(lease);
  if (row.doubted) await existsAgain(tx, lease);
  return {
    ref: lease.ref,
    workspace: row.workspace,
    pigeonholeId: row.pigeonhole_id,
    list: lease.list,
    streamId: lease.streamId,
    nextSequence: row.next_sequence,
    forgets: row.forgets,
  };
}

interface LockedRow {
  workspace: string;
  pigeonhole_id: number;
  next_sequence: number;
  doubted: boolean;
  forgets: boolean;
}
