import type { Queryable } from './drivers/database.js';
import type { Ledger } from './ledger.js';
import type { StreamLease } from './streams.js';
import type { PageSummary } from './walk.js';

/** A page of a sweep, as it is remembered: what it showed, and what would be the same page again. */
export interface SweptPage {
  /** From 0. */
  readonly ordinal: number;
  /** That it was asked for with; null: the first. */
  readonly cursor: string | null;
  /** Keyed hash of the reading rules and the items as they came. Cursors are no part of it: they may differ each time. */
  readonly digest: Buffer;
  readonly keys: readonly string[];
  readonly summary: PageSummary;
}

interface PageRow {
  ordinal: number;
  digest: Buffer;
  keys: number;
  first_value: number | null;
  last_value: number | null;
  low: number | null;
  high: number | null;
  direction: PageSummary['direction'];
  last_key: string | null;
  newest_at: number | null;
  set_aside: number;
  foreign_rows: number;
}

/** A stored page: if the service returns it again, it needs no row work. */
export interface KnownPage {
  readonly digest: Buffer;
  readonly summary: PageSummary;
}

/** The pages of a stream that can be recognized by their digest, from an ordinal on; by ordinal. */
export async function knownPages(
  ledger: Ledger,
  lease: StreamLease,
  from: number,
  most: number,
): Promise<Map<number, KnownPage>> {
  const rows = await ledger.db.query<PageRow>(
    `select ordinal, digest, cardinality(keys) as keys, first_value, last_value, low, high, direction,
       keys[cardinality(keys)] as last_key, newest_at, set_aside, foreign_rows
     from pages where stream_id = $1 and ordinal >= $2 and digest is not null order by ordinal limit $3`,
    [lease.streamId, from, most],
  );
  return new Map(
    rows.map((row) => [
      row.ordinal,
      {
        digest: row.digest,
        summary: {
          count: row.keys,
          firstValue: row.first_value,
          lastValue: row.last_value,
          low: row.low,
          high: row.high,
          direction: row.direction,
          lastKey: row.last_key,
          newestAt: row.newest_at,
          setAside: row.set_aside,
          foreign: row.foreign_rows,
        },
      },
    ]),
  );
}

/**
 * Whether a page is the one that is stored still: then its keys are those that were seen. Its cursor is remembered as
 * this walk had it, so that `walksInCircle` compares the walk with nothing but itself.
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

/** A page of rows that may be identical is shown at most this often in a walk. */
export const maxEqualPages = 100;

/**
 * Whether the sweep in progress goes round in a circle: it has used its next cursor before, or has been shown the same
 * page three times. Cursors may differ on every request, so they alone do not reveal a circle. Two equal pages are no
 * circle, because rows can move to a later page while they are read. In a list without ids, a page whose rows have one
 * instant may be repeated more often: all its rows may be identical, as anonymous votes of one second are.
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

/** @param digest null: its rows are not certain to be what it shows */
export async function savePage(
  tx: Queryable,
  lease: StreamLease,
  { ordinal, cursor, keys, summary }: SweptPage,
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
      lease.streamId,
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
 * Rows were written that stand on pages remembered as they were before: these have to be compared again, even when
 * the service shows once more what they showed then.
 * @param range of the values of what was written; null: not known, so any page may be meant
 */
export async function forgetDigests(
  tx: Queryable,
  where: { ref: number; list: string },
  range: { low: number; high: number } | null,
): Promise<void> {
  await tx.query(
    `update pages p set digest = null from streams s
     where s.ref = $1 and s.list = $2 and p.stream_id = s.id and p.digest is not null
       and ($3::int8 is null or p.low is null or (p.low <= $4 and p.high >= $3))`,
    [where.ref, where.list, range?.low ?? null, range?.high ?? null],
  );
}
