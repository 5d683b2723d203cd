import type { Fields } from './item-form.js';
import type { Ledger } from './ledger.js';
import { shownFields } from './read-items.js';

/** Position of a reader in the changes of each pigeonhole: `ref` to sequence. */
export type FeedPosition = ReadonlyMap<number, number>;

export interface FeedFilter {
  readonly workspace: string | null;
  /** `<workspace>/<id>`. */
  readonly pigeonhole: string | null;
  readonly list: string | null;
}

export interface FeedChange {
  readonly ref: number;
  readonly workspace: string;
  readonly pigeonholeId: number;
  readonly sequence: number;
  readonly list: string;
  readonly key: string;
  readonly revision: number;
  readonly kind: string;
  readonly sessionId: number | null;
  readonly visibility: string | null;
  readonly foundAt: Date;
  /** The item's data at this revision; null: deleted, no longer stored, or not requested. */
  readonly data: Fields | null;
}

/**
 * Returns the latest sequence of each chosen pigeonhole. Every change up to it can be read, because transactions commit
 * in the order of their sequences.
 */
export async function feedHeads(ledger: Ledger, { workspace, pigeonhole }: FeedFilter): Promise<FeedPosition> {
  const rows = await ledger.db.query<{ ref: number; head: number }>(
    `select ref, next_sequence - 1 as head from pigeonholes
     where next_sequence > 1 and ($1::text is null or workspace = $1)
       and ($2::text is null or workspace || '/' || pigeonhole_id = $2)`,
    [workspace, pigeonhole],
  );
  return new Map(rows.map(({ ref, head }) => [ref, head]));
}

interface FeedRow extends Omit<FeedChange, 'data'> {
  payload: string | null;
  current: string | null;
}

const columns = (personal: string): string =>
  `c.ref, c.sequence, c.list, c.key, c.revision, c.kind, c.session_id as "sessionId", c.visibility,
   c.found_at as "foundAt",
   case when ${personal} and c.kind <> 'deleted' then coalesce(c.snapshot, case when i.last_sequence = c.sequence and not i.expired then i.payload end) end as payload,
   i.visibility as current`;

/**
 * Returns the changes of each pigeonhole between two positions, in the order in which they were found; at most `limit`
 * for each pigeonhole.
 * @param personal true to include the items' data
 */
export async function feedChanges(
  ledger: Ledger,
  ranges: readonly { readonly ref: number; readonly after: number; readonly upTo: number }[],
  { list, limit, personal }: { readonly list: string | null; readonly limit: number; readonly personal: boolean },
): Promise<FeedChange[]> {
  if (ranges.length === 0) return [];
  const rows = await ledger.db.query<FeedRow>(
    `select p.workspace, p.pigeonhole_id as "pigeonholeId", f.*
     from unnest($1::int4[], $2::int8[], $3::int8[]) as n (ref, after, up_to) join pigeonholes p on p.ref = n.ref
       cross join lateral (select ${columns('$6::boolean')}
         from changes c left join items i on i.ref = c.ref and i.list = c.list and i.key = c.key
         where c.ref = n.ref and c.sequence > n.after and c.sequence <= n.up_to and ($4::text is null or c.list = $4)
         order by c.sequence limit $5) f
     order by f."foundAt", f.ref, f.sequence`,
    [
      ranges.map(({ ref }) => ref),
      ranges.map(({ after }) => after),
      ranges.map(({ upTo }) => upTo),
      list,
      limit,
      personal,
    ],
  );
  return rows.map(show);
}

/** Returns the newest changes at or below these sequences over all pigeonholes, oldest first. */
export async function newestChanges(
  ledger: Ledger,
  heads: FeedPosition,
  { list, limit, personal }: { readonly list: string | null; readonly limit: number; readonly personal: boolean },
): Promise<FeedChange[]> {
  if (heads.size === 0 || limit === 0) return [];
  const rows = await ledger.db.query<FeedRow>(
    `select p.workspace, p.pigeonhole_id as "pigeonholeId", f.*
     from unnest($1::int4[], $2::int8[]) as n (ref, up_to) join pigeonholes p on p.ref = n.ref
       cross join lateral (select ${columns('$5::boolean')}
         from changes c left join items i on i.ref = c.ref and i.list = c.list and i.key = c.key
         where c.ref = n.ref and c.sequence <= n.up_to and ($3::text is null or c.list = $3)
         order by c.sequence desc limit $4) f
     order by f."foundAt" desc, f.ref desc, f.sequence desc limit $4`,
    [[...heads.keys()], [...heads.values()], list, limit, personal],
  );
  return rows.map(show).toReversed();
}

/** Shows the identity only if the visibility allowed it when the change was found and still allows it. */
function show({ payload, current, ...row }: FeedRow): FeedChange {
  const visibility = current === null || current === 'named' ? row.visibility : 'anonymous';
  return { ...row, data: payload === null ? null : shownFields(payload, visibility) };
}
