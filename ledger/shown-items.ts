import { withoutIdentity } from './visibility.js';
import type { Fields } from './item-form.js';
import type { Ledger } from './ledger.js';

/** An item with its data, as far as the data may be shown. */
export interface ShownItem {
  readonly key: string;
  readonly sessionId: number | null;
  readonly revision: number;
  readonly deleted: boolean;
  readonly visibility: string | null;
  /** Set for an attendee's own record; null for other items. */
  readonly consent: string | null;
  readonly lastChangedAt: Date;
  /** Null if the item is deleted or its retention has ended. Without the identity unless the item is named. */
  readonly data: Fields | null;
  readonly subject: Buffer | null;
}

interface ItemRow extends Omit<ShownItem, 'data'> {
  payload: string | null;
}

const itemColumns = `i.key, i.session_id as "sessionId", i.revision, i.payload is null as deleted, i.visibility, i.consent,
  i.seen_at as "lastChangedAt", i.subject, case when i.expired then null else i.payload end as payload`;

/** Returns the items of a list, by key. @param after the last key of the previous page; null: from the first */
export async function shownItems(
  ledger: Ledger,
  asked: {
    readonly pigeonholeNumber: number;
    readonly list: string;
    /** Null: items of all sessions. */
    readonly sessionId: number | null;
    readonly after: string | null;
    readonly limit: number;
  },
): Promise<ShownItem[]> {
  const rows = await ledger.db.query<ItemRow>(
    `select ${itemColumns} from items i
     where i.pigeonhole_number = $1 and i.list = $2 and ($3::int8 is null or i.session_id = $3) and ($4::text is null
       or i.key > $4)
     order by i.key limit $5`,
    [asked.pigeonholeNumber, asked.list, asked.sessionId, asked.after, asked.limit],
  );
  return rows.map(showItem);
}

/** Returns one item; undefined if the ledger does not have it. */
export async function shownItem(
  ledger: Ledger,
  { pigeonholeNumber, list, key }: { readonly pigeonholeNumber: number; readonly list: string; readonly key: string },
): Promise<ShownItem | undefined> {
  const [row] = await ledger.db.query<ItemRow>(
    `select ${itemColumns} from items i where i.pigeonhole_number = $1 and i.list = $2 and i.key = $3`,
    [pigeonholeNumber, list, key],
  );
  return row === undefined ? undefined : showItem(row);
}

function showItem({ payload, ...row }: ItemRow): ShownItem {
  return { ...row, data: payload === null ? null : shownFields(payload, row.visibility) };
}

/**
 * Returns an item's data, without the identity unless the item is known to be named. Delivery applies the same rule.
 */
function shownFields(payload: string, visibility: string | null): Fields {
  const fields = JSON.parse(payload) as Fields;
  return visibility === null || visibility === 'named' ? fields : withoutIdentity(fields);
}

/** Position of a reader in the changes of each pigeonhole: its number in the ledger, to the sequence. */
export type FeedPosition = ReadonlyMap<number, number>;

export interface FeedFilter {
  readonly workspace: string | null;
  /** `<workspace>/<id>`. */
  readonly pigeonhole: string | null;
  readonly list: string | null;
}

export interface FeedChange {
  readonly pigeonholeNumber: number;
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
  const rows = await ledger.db.query<{ pigeonholeNumber: number; head: number }>(
    `select pigeonhole_number as "pigeonholeNumber", next_sequence - 1 as head from pigeonholes
     where next_sequence > 1 and ($1::text is null or workspace = $1)
       and ($2::text is null or workspace || '/' || pigeonhole_id = $2)`,
    [workspace, pigeonhole],
  );
  return new Map(rows.map(({ pigeonholeNumber, head }) => [pigeonholeNumber, head]));
}

interface FeedRow extends Omit<FeedChange, 'data'> {
  payload: string | null;
  current: string | null;
}

/** SQL for the changes `c` as rows, with the items' data if `$1` is true. */
const shownChanges = `select c.pigeonhole_number as "pigeonholeNumber", c.sequence, c.list, c.key, c.revision, c.kind,
  c.session_id as "sessionId", c.visibility, c.found_at as "foundAt", i.visibility as current,
    case when $1::boolean and c.kind <> 'deleted' then coalesce(c.snapshot,
      case when i.last_sequence = c.sequence and not i.expired then i.payload end) end as payload
  from changes c left join items i on i.pigeonhole_number = c.pigeonhole_number and i.list = c.list and i.key = c.key`;

/**
 * Returns the changes of each pigeonhole between two positions, in the order in which they were found; at most `limit`
 * for each pigeonhole.
 * @param personal true to include the items' data
 */
export async function feedChanges(
  ledger: Ledger,
  ranges: readonly { readonly pigeonholeNumber: number; readonly after: number; readonly upTo: number }[],
  { list, limit, personal }: { readonly list: string | null; readonly limit: number; readonly personal: boolean },
): Promise<FeedChange[]> {
  if (ranges.length === 0) return [];
  const rows = await ledger.db.query<FeedRow>(
    `select p.workspace, p.pigeonhole_id as "pigeonholeId", f.*
     from unnest($2::int4[], $3::int8[], $4::int8[]) as n (pigeonhole_number, after, up_to)
       join pigeonholes p on p.pigeonhole_number = n.pigeonhole_number
       cross join lateral (${shownChanges}
         where c.pigeonhole_number = n.pigeonhole_number and c.sequence > n.after and c.sequence <= n.up_to
           and ($5::text is null or c.list = $5)
         order by c.sequence limit $6) f
     order by f."foundAt", f."pigeonholeNumber", f.sequence`,
    [
      personal,
      ranges.map(({ pigeonholeNumber }) => pigeonholeNumber),
      ranges.map(({ after }) => after),
      ranges.map(({ upTo }) => upTo),
      list,
      limit,
    ],
  );
  return rows.map(showChange);
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
     from unnest($2::int4[], $3::int8[]) as n (pigeonhole_number, up_to)
       join pigeonholes p on p.pigeonhole_number = n.pigeonhole_number
       cross join lateral (${shownChanges}
         where c.pigeonhole_number = n.pigeonhole_number and c.sequence <= n.up_to and ($4::text is null or c.list = $4)
         order by c.sequence desc limit $5) f
     order by f."foundAt" desc, f."pigeonholeNumber" desc, f.sequence desc limit $5`,
    [personal, [...heads.keys()], [...heads.values()], list, limit],
  );
  return rows.map(showChange).toReversed();
}

/** Shows the identity only if the visibility allowed it when the change was found and still allows it. */
function showChange({ payload, current, ...row }: FeedRow): FeedChange {
  const visibility = current === null || current === 'named' ? row.visibility : 'anonymous';
  return { ...row, data: payload === null ? null : shownFields(payload, visibility) };
}
