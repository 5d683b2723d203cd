import type { Database } from '../../ledger/drivers/database.js';
import type { PigeonholeListName } from '../../base/lists.js';
import type { Item } from './model/row.js';

/** An item of a pigeonhole's list in the ledger. */
export interface LedgerItem {
  readonly pigeonholeId: number;
  readonly list: PigeonholeListName;
  readonly key: string;
  readonly sessionId: number | null;
  readonly revision: number;
  /** Null if it is deleted. */
  readonly item: Item | null;
  readonly visibility: string | null;
}

/** An entry of the change log with its content at that time. */
export interface LedgerChange {
  readonly pigeonholeId: number;
  readonly list: PigeonholeListName;
  readonly key: string;
  readonly sequence: number;
  readonly revision: number;
  readonly kind: 'created' | 'updated' | 'deleted';
  readonly sessionId: number | null;
  readonly visibility: string | null;
  /** Null if the item was deleted or the content is no longer stored. */
  readonly item: Item | null;
}

interface Row {
  pigeonhole_id: number;
  list: PigeonholeListName;
  key: string;
  session_id: number | null;
  revision: number;
  visibility: string | null;
  payload: string | null;
}

/** Returns every item of the lists of pigeonholes, deleted ones included. */
export async function ledgerItems(db: Database): Promise<LedgerItem[]> {
  const rows = await db.query<Row>(
    `select p.pigeonhole_id, i.list, i.key, i.session_id, i.revision, i.visibility, i.payload
     from items i join pigeonholes p using (pigeonhole_number) where p.pigeonhole_id <> 0
       order by i.pigeonhole_number, i.list, i.key`,
  );
  return rows.map(placed);
}

/**
 * Returns the changes of a pigeonhole after a sequence, in order. Call it often: an item holds the content of a change
 * only until the next one.
 */
export async function ledgerChanges(db: Database, pigeonholeId: number, behind: number): Promise<LedgerChange[]> {
  const rows = await db.query<Row & { sequence: number; kind: LedgerChange['kind'] }>(
    `select p.pigeonhole_id, c.list, c.key, c.session_id, c.revision, c.visibility, c.sequence, c.kind,
       coalesce(c.snapshot, case when i.last_sequence = c.sequence then i.payload end) as payload
     from pigeonholes p join changes c using (pigeonhole_number) left join items i using (pigeonhole_number, list, key)
     where p.pigeonhole_id = $1 and c.sequence > $2 order by c.sequence`,
    [pigeonholeId, behind],
  );
  return rows.map((row) => ({ ...placed(row), sequence: row.sequence, kind: row.kind }));
}

function placed(row: Row): LedgerItem {
  return {
    pigeonholeId: row.pigeonhole_id,
    list: row.list,
    key: row.key,
    sessionId: row.session_id,
    revision: row.revision,
    visibility: row.visibility,
    item: row.payload === null ? null : (JSON.parse(row.payload) as Item),
  };
}
