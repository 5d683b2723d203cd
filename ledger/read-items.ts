import { withoutIdentity } from './identity.js';
import type { Fields } from './item-form.js';
import type { Ledger } from './ledger.js';

/** An item with what it says, as far as it may be shown to anybody. */
export interface ShownItem {
  readonly key: string;
  readonly sessionId: number | null;
  readonly revision: number;
  readonly deleted: boolean;
  readonly visibility: string | null;
  /** Set for an attendee's own record. */
  readonly consent: string | null;
  readonly lastChangedAt: Date;
  /** Null when deleted. Who did it is left out where that is, or may still turn out to be, anonymous. */
  readonly data: Fields | null;
  readonly subject: Buffer | null;
}

interface ItemRow extends Omit<ShownItem, 'data'> {
  payload: string | null;
}

const columns = `i.key, i.session_id as "sessionId", i.revision, i.payload is null as deleted, i.visibility, i.consent,
  i.seen_at as "lastChangedAt", i.subject, case when i.expired then null else i.payload end as payload`;

/** The items of a list by key. @param after the last key that was shown; null: from the first */
export async function shownItems(
  ledger: Ledger,
  asked: {
    readonly ref: number;
    readonly list: string;
    /** Null: of all. */
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

/** One item. */
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

/** Fails closed, as sending does: only what is known to be named is shown with its person. */
export function shownFields(payload: string, visibility: string | null): Fields {
  const fields = JSON.parse(payload) as Fields;
  return visibility === null || visibility === 'named' ? fields : withoutIdentity(fields);
}
