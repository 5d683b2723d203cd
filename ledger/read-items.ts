import { withoutIdentity } from './identity.js';
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

const columns = `i.key, i.session_id as "sessionId", i.revision, i.payload is null as deleted, i.visibility, i.consent,
  i.seen_at as "lastChangedAt", i.subject, case when i.expired then null else i.payload end as payload`;

/** Returns the items of a list, by key. @param after the last key of the previous page; null: from the first */
export async function shownItems(
  ledger: Ledger,
  asked: {
    readonly ref: number;
    readonly list: string;
    /** Null: items of all sessions. */
    readonly sessionId: number | null;
    readonly after: string | null;
    readonly limit: number;
  },
): Promise<ShownItem[]> {
  const rows = await ledger.db.query<ItemRow>(
    `select ${columns} from items i
     where i.ref = $1 and i.list = $2 and ($3::int8 is null or i.session_id = $3) and ($4::text is null or i.key > $4)
     order by i.key limit $5`,
    [asked.ref, asked.list, asked.sessionId, asked.after, asked.limit],
  );
  return rows.map(show);
}

/** Returns one item; undefined if the ledger does not have it. */
export async function shownItem(
  ledger: Ledger,
  { ref, list, key }: { readonly ref: number; readonly list: string; readonly key: string },
): Promise<ShownItem | undefined> {
  const [row] = await ledger.db.query<ItemRow>(
    `select ${columns} from items i where i.ref = $1 and i.list = $2 and i.key = $3`,
    [ref, list, key],
  );
  return row === undefined ? undefined : show(row);
}

function show({ payload, ...row }: ItemRow): ShownItem {
  return { ...row, data: payload === null ? null : shownFields(payload, row.visibility) };
}

/**
 * Returns an item's data, without the identity unless the item is known to be named. Delivery applies the same rule.
 */
export function shownFields(payload: string, visibility: string | null): Fields {
  const fields = JSON.parse(payload) as Fields;
  return visibility === null || visibility === 'named' ? fields : withoutIdentity(fields);
}
