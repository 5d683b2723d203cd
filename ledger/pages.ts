import type { Queryable } from './drivers/database.js';
import type { Ledger } from './ledger.js';
import type { StreamLease } from './streams.js';
import type { PageSummary } from './walk.js';

/** A page of a sweep, and the digest by which a later sweep recognizes the same page. */
export interface SweptPage {
  /** Position in the sweep, counted from 0. */
  readonly ordinal: number;
  /** Cursor the page was requested with; null for the first page. */
  readonly cursor: string | null;
  /**
   * Keyed hash of the reading rules and the items as received. It does not include cursors, because the service may
   * return a different cursor each time.
   */
  readonly digest: Buffer;
  readonly summary: PageSummary;
}

interface PageRow extends PageSummary {
  readonly ordinal: number;
  readonly digest: Buffer;
}

/** A page of an earlier sweep. If the service returns the same page again, its rows need not be compared. */
export interface KnownPage {
  readonly digest: Buffer;
  readonly summary: PageSummary;
}

/** The stored pages of a stream that have a digest, by ordinal. */
export interface KnownPages {
  /** Pages before this ordinal were not loaded. */
  readonly from: number;
  /** Neither were pages from this ordinal onwards; infinity: there are none. */
  readonly until: number;
  readonly pages: ReadonlyMap<number, KnownPage>;
}

/**
 * Loads the pages that have a digest, of several streams with one statement.
 * @param places for each stream, the first ordinal to load
 * @param limit maximum number of pages of each stream
 */
export async function knownPages(
  ledger: Ledger,
  places: readonly { readonly streamId: number; readonly from: number }[],
  limit: number,
): Promise<Map<number, KnownPages>> {
  const rows = await ledger.db.query<PageRow & { streamId: number }>(
    `select s.id as "streamId", p.* from unnest($1::int8[], $2::int4[]) as s (id, first_ordinal) cross join lateral
       (select ordinal, digest, cardinality(keys) as count, first_value as "firstValue", last_value as "lastValue", low,
          high, direction, keys[cardinality(keys)] as "lastKey", newest_at as "newestAt", set_aside as "setAside",
          foreign_rows as "foreign"
        from pages where stream_id = s.id and ordinal >= s.first_ordinal and digest is not null
        order by ordinal limit $3) p`,
    [places.map(({ streamId }) => streamId), places.map(({ from }) => from), limit],
  );
  const known = new Map(places.map(({ streamId }) => [streamId, new Map<number, KnownPage>()]));
  for (const { streamId, ordinal, digest, ...summary } of rows) known.get(streamId)!.set(ordinal, { digest, summary });
  return new Map(
    places.map(({ streamId, from }) => {
      const pages = known.get(streamId)!;
      const until = pages.size < limit ? Number.POSITIVE_INFINITY : Math.max(...pages.keys()) + 1;
      return [streamId, { from, until, pages }];
    }),
  );
}

/**
 * Returns true if the stored page at this ordinal has the same digest. The stored keys are then the keys that this walk
 * has seen. Also stores the cursor that this walk used, so that `walksInCircle` compares only cursors of this walk.
 */
export async function isKnownPage(
  tx: Queryable,
  lease: StreamLease,
  page: Pick<SweptPage, 'ordinal' | 'cursor' | 'digest'>,
): Promise<boolean> {
  const [known] = await tx.query<{ same_cursor: boolean }>(
    `select cursor is not distinct from $4::text as same_cursor from pages
     where stream_id = $1 and ordinal = $2 and digest = $3`,
    [lease.streamId, page.ordinal, page.digest, page.cursor],
  );
  if (known?.same_cursor === false) {
    await tx.query('update pages set cursor = $3 where stream_id = $1 and ordinal = $2', [
      lease.streamId,
      page.ordinal,
      page.cursor,
    ]);
  }
  return known !== undefined;
}

/** Maximum number of equal pages in one walk if their rows may all be identical. */
export const maxEqualPages = 100;

/**
 * Returns true if the sweep in progress is in a loop: it has used its next cursor before, or has received the same page
 * three times. Cursors can differ on every request, so cursors by themselves do not reveal a loop. Two equal pages are
 * not a loop, because rows can move to a later page during the sweep. A page may repeat up to `maxEqualPages` times if
 * its rows have no ids and either no instants or all the same instant. Such rows can be identical, for example
 * anonymous votes cast in the same second.
 */
export async function walksInCircle(
  ledger: Ledger,
  lease: Pick<StreamLease, 'streamId'>,
  { pages, cursor, hasIds }: { pages: number; cursor: string | null; hasIds: boolean },
): Promise<boolean> {
  const rows = await ledger.db.query(
    `(select 1 from pages where stream_id = $1 and ordinal < $2 and cursor = $3 limit 1)
     union all
     (select 1 from pages where stream_id = $1 and ordinal < $2 and digest is not null
      group by digest, low, high
      having count(*) > case when low is not null and ($4::boolean or low < high) then 2 else $5::int4 end limit 1)`,
    [lease.streamId, pages, cursor, hasIds, maxEqualPages],
  );
  return rows.length > 0;
}

/**
 * Stores a page, or replaces the stored page with the same ordinal.
 * @param digest null if the stored rows may differ from what the page showed; the next sweep then compares the page row
 *   by row
 */
export async function savePage(
  tx: Queryable,
  streamId: number,
  { ordinal, cursor, keys, summary }: SweptPage & { readonly keys: readonly string[] },
  digest: Buffer | null,
): Promise<void> {
  await tx.query(
    `insert into pages (stream_id, ordinal, cursor, digest, keys, first_value, last_value, low, high, direction,
       newest_at, set_aside, foreign_rows)
     values ($1, $2, $3, $4, $5::text[], $6, $7, $8, $9, $10, $11, $12, $13)
     on conflict (stream_id, ordinal) do update set cursor = excluded.cursor, digest = excluded.digest,
       keys = excluded.keys, first_value = excluded.first_value, last_value = excluded.last_value, low = excluded.low,
       high = excluded.high, direction = excluded.direction, newest_at = excluded.newest_at,
       set_aside = excluded.set_aside, foreign_rows = excluded.foreign_rows`,
    [
      streamId,
      ordinal,
      cursor,
      digest,
      keys,
      summary.firstValue,
      summary.lastValue,
      summary.low,
      summary.high,
      summary.direction,
      summary.newestAt,
      summary.setAside,
      summary.foreign,
    ],
  );
}

/**
 * Clears the digests of stored pages that may contain rows written after the page was stored. These pages must be
 * compared row by row again, even if the service returns exactly what it returned before.
 * @param range lowest and highest value of the written rows; null if unknown, which clears the digest of every page
 */
export async function forgetDigests(
  tx: Queryable,
  where: { pigeonholeNumber: number; list: string },
  range: { low: number; high: number } | null,
): Promise<void> {
  await tx.query(
    `update pages p set digest = null from streams s
     where s.pigeonhole_number = $1 and s.list = $2 and p.stream_id = s.id and p.digest is not null
       and ($3::int8 is null or p.low is null or (p.low <= $4 and p.high >= $3))`,
    [where.pigeonholeNumber, where.list, range?.low ?? null, range?.high ?? null],
  );
}

/** Returns the keys of a stream's first `pages` stored pages, in their sequence, as a short text. */
export async function keySequence(tx: Queryable, streamId: number, pages: number): Promise<string> {
  const [row] = await tx.query<{ sequence: string | null }>(
    `select md5(string_agg(array_to_string(keys, ','), ',' order by ordinal)) as sequence
     from pages where stream_id = $1 and ordinal < $2`,
    [streamId, pages],
  );
  return row!.sequence ?? '';
}

/** Deletes a stream's stored pages from this ordinal onwards, because the list has become shorter. */
export async function dropPagesFrom(tx: Queryable, streamId: number, ordinal: number): Promise<void> {
  await tx.query('delete from pages where stream_id = $1 and ordinal >= $2', [streamId, ordinal]);
}

/** Clears the digests of all pages of these workspaces, so that each page is compared row by row again. */
export async function forgetDigestsOf(tx: Queryable, workspaces: readonly string[]): Promise<void> {
  await tx.query(
    `update pages g set digest = null from streams s join pigeonholes p on p.pigeonhole_number = s.pigeonhole_number
     where g.stream_id = s.id and p.workspace = any($1::text[])`,
    [workspaces],
  );
}
