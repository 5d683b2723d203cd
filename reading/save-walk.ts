import type { Queryable } from '../ledger/drivers/database.js';
import type { StreamLease } from '../ledger/streams.js';
import type { OpenWalk } from '../ledger/walk.js';

/** What a page tells of its stream, beside its items. */
export interface StreamFacts {
  readonly perPage: number;
  /** Of the items on the page; null where the list has no ids. */
  readonly highestId: number | null;
  /** Rows were written that a sweep under way, or the last one, has not seen so. */
  readonly differs: boolean;
}

/** Stores where a walk stands. Its first page begins it: a sweep that was due is under way then. */
export async function saveWalk(
  tx: Queryable,
  lease: StreamLease,
  walk: OpenWalk,
  { perPage, highestId, differs }: StreamFacts,
): Promise<void> {
  await tx.query(
    `with stream as (
       update streams set per_page = $18, highest_id = greatest(highest_id, $19), failures = 0, failure = null,
         differs = case when $2 = 'sweep' and $14 = 1 then false else differs end or $20,
         -- under way now; but for one that was asked for since it began
         sweep_due_at = case when $2 = 'sweep' and $14 = 1 and (sweep_due_at <= $4 or sweep_due_at > clock_timestamp())
           then null else sweep_due_at end
       where id = $1)
     insert into walks (stream_id, kind, number, started_at, first_at, cursor, checkpoint, check_key, direction,
       page_first, page_last, until_id, top_id, pages, items, set_aside, differs, through,
       foreign_rows)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $21, $22)
     on conflict (stream_id, kind) do update set number = excluded.number, started_at = excluded.started_at,
       first_at = excluded.first_at, cursor = excluded.cursor, checkpoint = excluded.checkpoint,
       check_key = excluded.check_key, direction = excluded.direction, page_first = excluded.page_first,
       page_last = excluded.page_last, until_id = excluded.until_id, top_id = excluded.top_id, pages = excluded.pages,
       items = excluded.items, set_aside = excluded.set_aside, differs = excluded.differs, through = excluded.through,
       foreign_rows = excluded.foreign_rows`,
    [
      lease.streamId,
      walk.kind,
      walk.number,
      walk.startedAt,
      walk.firstAt,
      walk.cursor,
      walk.checkpoint,
      walk.checkpointKey,
      walk.direction,
      walk.pageFirst,
      walk.pageLast,
      walk.untilId,
      walk.topId,
      walk.pages,
      walk.items,
      walk.setAside,
      walk.differs,
      perPage,
      highestId,
      differs,
      walk.through,
      walk.foreign,
    ],
  );
}
