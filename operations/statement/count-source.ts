import type { Ledger } from '../../ledger/ledger.js';

/** The last complete read of a stream. */
export interface StreamRead {
  readonly list: string;
  /** 0: the list is not read by session. */
  readonly sessionId: number;
  /** Whether a complete read started after the statement was requested. */
  readonly isRead: boolean;
  /** The service no longer has the session or the pigeonhole. */
  readonly isGone: boolean;
  readonly from: Date | null;
  readonly until: Date | null;
  readonly failure: string | null;
  /** Rows without a usable id. */
  readonly setAside: number;
}

/**
 * Returns the streams of a pigeonhole's lists that are read now, without those that pigeonpost derives itself.
 * @param since instant of the request for the statement
 */
export async function streamReads(
  ledger: Ledger,
  pigeonholeNumber: number,
  { lists, since }: { readonly lists: readonly string[]; readonly since: Date },
): Promise<StreamRead[]> {
  return await ledger.db.query<StreamRead>(
    `select list, session_id as "sessionId", coalesce(swept_from > $3, false) as "isRead", gone_at is not null as "isGone",
       swept_from as from, swept_at as until, failure, set_aside as "setAside"
     from streams where pigeonhole_number = $1 and wanted and list = any($2::text[]) order by list, session_id`,
    [pigeonholeNumber, lists, since],
  );
}

/** The result of the comparison of a list with its last complete read, for an item. */
export type SourceClass =
  /** The service shows them, and the ledger has them. */
  | 'both'
  /** Shown; the person was erased. */
  | 'erased'
  /** Shown; the ledger has no row of them. */
  | 'unknown'
  /** Shown by the read; reported as deleted since. */
  | 'removed-since'
  // In the ledger only:
  | 'source-gone'
  | 'not-read'
  | 'not-needed'
  | 'deletion-held'
  | 'deletion-rejected'
  | 'deletion-unconfirmed'
  | 'new-since'
  /** The list is being read again right now, so its pages are those of two reads. */
  | 'moved-since'
  | 'unexplained';

interface SourceCount {
  /** Null: the items belong to no session. */
  readonly sessionId: number | null;
  readonly class: SourceClass;
  readonly items: number;
}

/**
 * Compares the keys on the pages of a list's last complete reads with the items of the list, in one statement. Counts
 * distinct keys: an item that moved to a later page during the read is on two pages.
 * @param since only reads that started after it count
 */
export async function compareWithSource(
  ledger: Ledger,
  pigeonholeNumber: number,
  { list, since }: { readonly list: string; readonly since: Date },
): Promise<SourceCount[]> {
  return await ledger.db.query<SourceCount>(
    `with own as materialized (
       select id, session_id, wanted, gone_at is not null as is_gone, swept_from,
         wanted and gone_at is null and coalesce(swept_from > $3, false) as is_read,
         exists (select 1 from walks w where w.stream_id = streams.id and w.kind = 'sweep') as is_being_read
       from streams where pigeonhole_number = $1 and list = $2),
     shown as materialized (
       select k.key, min(o.session_id) as session_id from own o join pages p on p.stream_id = o.id
         cross join lateral unnest(p.keys) as k (key)
       where o.is_read group by k.key),
     held as materialized (
       select key, session_id, stream_id, payload is not null as is_present, erased, seen_at
       from items where pigeonhole_number = $1 and list = $2)
     select coalesce(h.session_id, nullif(s.session_id, 0)) as "sessionId", case
         when s.key is not null and h.is_present then 'both'
         when s.key is not null and h.key is null then 'unknown'
         when s.key is not null and h.erased then 'erased'
         when s.key is not null then 'removed-since'
         when o.is_gone then 'source-gone'
         when o.wanted is distinct from true then 'not-needed'
         when not o.is_read then 'not-read'
         when m.state = 'held' then 'deletion-held'
         when m.state = 'kept' then 'deletion-rejected'
         when m.state = 'open' then 'deletion-unconfirmed'
         when h.seen_at > o.swept_from then 'new-since'
         when o.is_being_read then 'moved-since'
         else 'unexplained' end as class, count(*)::int as items
     from shown s full join held h on h.key = s.key
       left join own o on o.id = h.stream_id
       left join missing m on m.pigeonhole_number = $1 and m.list = $2 and m.key = h.key
     where s.key is not null or h.is_present
     group by 1, 2 order by 1 nulls first, 2`,
    [pigeonholeNumber, list, since],
  );
}

/** Returns whether people were erased in the workspace, so that the ledger may lack items that the service shows. */
export async function hasErasures(ledger: Ledger, workspace: string): Promise<boolean> {
  const rows = await ledger.db.query('select 1 from forgotten where workspace = $1 limit 1', [workspace]);
  return rows.length > 0;
}

/** Returns the number of items of each list of a pigeonhole. */
export async function heldLists(ledger: Ledger, pigeonholeNumber: number): Promise<{ list: string; items: number }[]> {
  return await ledger.db.query<{ list: string; items: number }>(
    'select list, items from item_counts where pigeonhole_number = $1 and items > 0 order by list',
    [pigeonholeNumber],
  );
}
