import type { Queryable } from './drivers/database.js';
import type { OpenWalk, WalkKind } from './walk.js';

/** Returns the stored walks of streams: at most one of each kind. */
export async function openWalks(
  tx: Queryable,
  streamIds: readonly number[],
): Promise<(OpenWalk & { readonly streamId: number })[]> {
  return await tx.query<OpenWalk & { readonly streamId: number }>(
    `select stream_id as "streamId", kind, number, started_at as "startedAt", first_at as "firstAt", cursor, checkpoint,
       check_key as "checkpointKey", direction, page_first as "pageFirst", page_last as "pageLast", through,
       until_id as "untilId", top_id as "topId", differs, pages, items, set_aside as "setAside",
       foreign_rows as "foreign"
     from walks where stream_id = any($1::int8[])`,
    [streamIds],
  );
}

/** Stores a walk's position. */
export async function saveWalk(tx: Queryable, streamId: number, walk: OpenWalk): Promise<void> {
  await tx.query(
    `insert into walks (stream_id, kind, number, started_at, first_at, cursor, checkpoint, check_key, direction,
       page_first, page_last, until_id, top_id, pages, items, set_aside, differs, through, foreign_rows)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19)
     on conflict (stream_id, kind) do update set number = excluded.number, started_at = excluded.started_at,
       first_at = excluded.first_at, cursor = excluded.cursor, checkpoint = excluded.checkpoint,
       check_key = excluded.check_key, direction = excluded.direction, page_first = excluded.page_first,
       page_last = excluded.page_last, until_id = excluded.until_id, top_id = excluded.top_id, pages = excluded.pages,
       items = excluded.items, set_aside = excluded.set_aside, differs = excluded.differs, through = excluded.through,
       foreign_rows = excluded.foreign_rows`,
    [
      streamId,
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
      walk.through,
      walk.foreign,
    ],
  );
}

/** Deletes a stream's walk of this kind, because it has ended or its position cannot be used. */
export async function dropWalk(tx: Queryable, streamId: number, kind: WalkKind): Promise<void> {
  await tx.query('delete from walks where stream_id = $1 and kind = $2', [streamId, kind]);
}

/** Deletes all walks of a stream, so that the next read starts them again. */
export async function dropWalks(tx: Queryable, streamId: number): Promise<void> {
  await tx.query('delete from walks where stream_id = $1', [streamId]);
}
