import type { Queryable } from './drivers/database.js';
import { type StreamLease, stale } from './streams.js';
import type { PageScope, PageWrite } from './items/write-changes.js';
import { existsAgain } from './streams-gone.js';

/** A page of a stream that is being written under the stream's lease, which `lockPigeonhole` has checked. */
export interface StreamWrite extends PageWrite {
  readonly lease: StreamLease;
}

/**
 * Checks the stream's lease and locks the pigeonhole's row until commit. Sequences are assigned under this lock, so
 * transactions commit in the order of their sequences.
 *
 * Locks the pigeonhole's row before the stream's, as all code does (PostgreSQL locks rows in the order of the FROM
 * clause). Otherwise the transaction of a page of the list `sessions`, which revises items of other streams, could
 * deadlock with that of a page of such a stream.
 *
 * The caller is about to store an answer of the service about this stream. If the stream was suspected to be gone, this
 * function therefore records that it exists.
 * @throws {LedgerError} kind `stale` if the stream has a newer reader
 */
export async function lockPigeonhole(tx: Queryable, lease: StreamLease): Promise<PageScope> {
  const [row] = await tx.query<LockedRow>(
    `select p.workspace, p.pigeonhole_id as "pigeonholeId", p.next_sequence as "nextSequence",
       s.gone_count, s.gone_at is not null as stream_gone, p.gone_at is not null as place_gone,
       exists (select 1 from forgotten f where f.workspace = p.workspace)
         or exists (select 1 from forgotten_codes f
           where f.pigeonhole_number = p.pigeonhole_number) as "hasForgottenPeople"
     from pigeonholes p join streams s on s.pigeonhole_number = p.pigeonhole_number
     where s.id = $1 and s.epoch = $2 for no key update`,
    [lease.streamId, lease.epoch],
  );
  if (row === undefined) throw stale(lease);
  const { gone_count: reported, stream_gone: stream, place_gone: pigeonhole, ...scope } = row;
  if (reported > 0 || stream || pigeonhole) await existsAgain(tx, lease, { stream, pigeonhole });
  return { ...scope, pigeonholeNumber: lease.pigeonholeNumber, list: lease.list, streamId: lease.streamId };
}

interface LockedRow extends Pick<PageScope, 'workspace' | 'pigeonholeId' | 'nextSequence'> {
  readonly gone_count: number;
  readonly stream_gone: boolean;
  readonly place_gone: boolean;
  readonly hasForgottenPeople: boolean;
}
