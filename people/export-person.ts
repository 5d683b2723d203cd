import type { SqlValue } from '../ledger/drivers/sql-values.js';
import type { Fields } from '../ledger/item-form.js';
import type { Ledger } from '../ledger/ledger.js';
import { registrantKey } from '../ledger/registrant-key.js';
import { registrantsList } from '../base/lists.js';
import { hashesOf, type PersonPlace, unusableRowsOf } from './find-person.js';

interface ItemRow {
  readonly pigeonholeNumber: number;
  readonly workspace: string;
  readonly pigeonholeId: number;
  readonly list: string;
  readonly key: string;
  readonly revision: number;
  readonly deleted: boolean;
  readonly payload: string | null;
}

/**
 * SQL: the named items of a person. Items of the list `registrants` have no subject before the person has signed in, so
 * they are found by their keys as well.
 */
const ownItems = `with own as (
    select i.pigeonhole_number, i.list, i.key from unnest($1::int4[], $2::bytea[]) as n (pigeonhole_number, subject)
      join items i on i.pigeonhole_number = n.pigeonhole_number and i.subject = n.subject
    union
    select i.pigeonhole_number, i.list, i.key from unnest($3::int4[], $4::text[]) as n (pigeonhole_number, key)
      join items i on i.pigeonhole_number = n.pigeonhole_number and i.list = '${registrantsList}' and i.key = n.key)`;

type Hashes = ReturnType<typeof hashesOf>;

/** Returns the parameters of `ownItems`. */
function ownItemsOf({ hash }: Ledger, { subjects, codes }: Hashes): (readonly SqlValue[])[] {
  return [
    subjects.map(({ pigeonholeNumber }) => pigeonholeNumber),
    subjects.map(({ subject }) => subject),
    codes.map(({ pigeonholeNumber }) => pigeonholeNumber),
    codes.map(({ pigeonholeNumber, codeHash }) => registrantKey(hash, pigeonholeNumber, codeHash)),
  ];
}

/**
 * Returns the stored items and import rows of a person, and the sinks that received them. Excludes anonymous items:
 * only an erasure determines who wrote them, and it shows that to nobody.
 * @param asked the text by which the person was named
 */
export async function exportPerson(ledger: Ledger, places: readonly PersonPlace[], asked: string) {
  const hashes = hashesOf(ledger, places);
  const rows = await ledger.db.query<ItemRow>(
    `${ownItems} select i.pigeonhole_number as "pigeonholeNumber", p.workspace, p.pigeonhole_id as "pigeonholeId",
       i.list, i.key, i.revision, i.payload is null as deleted, i.payload
     from own o join items i on i.pigeonhole_number = o.pigeonhole_number and i.list = o.list and i.key = o.key
       join pigeonholes p on p.pigeonhole_number = i.pigeonhole_number
     order by p.workspace, p.pigeonhole_id, i.list, i.key`,
    ownItemsOf(ledger, hashes),
  );
  const items = [];
  for (const { pigeonholeNumber, payload, ...row } of rows) {
    const own = { pigeonholeNumber, list: row.list, key: row.key };
    const [earlier, sent] = await Promise.all([earlierOf(ledger, own), sentOf(ledger, own)]);
    items.push({ ...row, data: payload === null ? null : (JSON.parse(payload) as Fields), earlier, sent });
  }
  const unusable = await unusableRows(ledger, places, asked);
  return { items, importRows: await importRowsOf(ledger, hashes, unusable), looks: await looksOf(ledger, hashes) };
}

type OwnItem = Pick<ItemRow, 'pigeonholeNumber' | 'list' | 'key'>;

const changesOf = `with recursive own (sequence) as (
    select last_sequence from items where pigeonhole_number = $1 and list = $2 and key = $3
    union all
    select c.previous_sequence from own o join changes c on c.pigeonhole_number = $1 and c.sequence = o.sequence
    where c.previous_sequence is not null)`;

/** Returns the earlier revisions that are still stored. */
async function earlierOf(ledger: Ledger, { pigeonholeNumber, list, key }: OwnItem) {
  const rows = await ledger.db.query<{ revision: number; foundAt: Date; snapshot: string }>(
    `${changesOf} select c.revision, c.found_at as "foundAt", c.snapshot
     from own o join changes c on c.pigeonhole_number = $1 and c.sequence = o.sequence
     where c.snapshot is not null order by c.sequence`,
    [pigeonholeNumber, list, key],
  );
  return rows.map(({ revision, foundAt, snapshot }) => ({
    revision,
    foundAt: foundAt.toISOString(),
    data: JSON.parse(snapshot) as Fields,
  }));
}

/** Returns the deliveries of an item to sinks. */
async function sentOf(ledger: Ledger, { pigeonholeNumber, list, key }: OwnItem) {
  const rows = await ledger.db.query<{
    readonly sink: string;
    readonly revision: number;
    readonly state: string;
    readonly reason: string | null;
    readonly identity: boolean | null;
    readonly at: Date;
  }>(
    `${changesOf} select s.name as sink, d.revision, d.state, d.reason, d.identity, d.updated_at as at
     from own o cross join sinks s join deliveries d on d.sink_id = s.id and d.pigeonhole_number = $1
       and d.sequence = o.sequence
     order by s.name, d.sequence, d.replay`,
    [pigeonholeNumber, list, key],
  );
  return rows.map(({ at, ...row }) => ({ ...row, at: at.toISOString() }));
}

/** Returns the import rows with a code of a person. Rows that could not be used are not among them. */
export async function importRowsOfPerson(ledger: Ledger, places: readonly PersonPlace[]) {
  return await importRowsOf(ledger, hashesOf(ledger, places), []);
}

async function importRowsOf(ledger: Ledger, { codes }: Hashes, unusable: Awaited<ReturnType<typeof unusableRowsOf>>) {
  const rows = await ledger.db.query<{
    readonly workspace: string;
    readonly pigeonholeId: number;
    readonly import: number;
    readonly row: number;
    readonly profile: string;
    readonly outcome: string | null;
    readonly field: string | null;
    readonly message: string | null;
  }>(
    `select p.workspace, p.pigeonhole_id as "pigeonholeId", f.import, f.row_number as row, f.profile, f.outcome, f.field, f.message
     from (
       select r.pigeonhole_number, r.import, r.row_number, r.profile, r.outcome, r.field, r.message
       from registrants r join unnest($1::int4[], $2::bytea[])
         as n (pigeonhole_number, code_hash) on r.pigeonhole_number = n.pigeonhole_number and r.code_hash = n.code_hash
       union all
       select i.pigeonhole_number, w.import, w.row_number, w.profile, w.outcome, w.field, w.message
       from import_rows w join imports i on i.number = w.import
         join unnest($1::int4[], $2::bytea[]) as n (pigeonhole_number,
           code_hash) on i.pigeonhole_number = n.pigeonhole_number and w.code_hash = n.code_hash
       union all
       select i.pigeonhole_number, w.import, w.row_number, w.profile, w.outcome, w.field, w.message
       from unnest($3::int4[], $4::int4[]) as n (import, row_number)
         join import_rows w on w.import = n.import and w.row_number = n.row_number join imports i on i.number = w.import
     ) f join pigeonholes p on p.pigeonhole_number = f.pigeonhole_number order by f.import, f.row_number`,
    [
      codes.map(({ pigeonholeNumber }) => pigeonholeNumber),
      codes.map(({ codeHash }) => codeHash),
      unusable.map((row) => row.import),
      unusable.map(({ row }) => row),
    ],
  );
  return rows.map((row) => ({ ...row, profile: JSON.parse(row.profile) as Fields }));
}

async function unusableRows(
  { db }: Ledger,
  places: readonly PersonPlace[],
  asked: string,
): ReturnType<typeof unusableRowsOf> {
  return (
    await Promise.all(
      places.map(({ pigeonholeNumber, codes }) => unusableRowsOf(db, { pigeonholeNumber }, { codes, asked })),
    )
  ).flat();
}

/** Returns the requests that showed stored data of the person, from the audit log. */
async function looksOf(ledger: Ledger, { subjects }: Hashes) {
  const rows = await ledger.db.query<{ at: Date; who: string | null; action: string | null }>(
    'select at, who, action from audit where subject = any($1::bytea[]) order by number',
    [subjects.map(({ subject }) => subject)],
  );
  return rows.map(({ at, ...row }) => ({ ...row, at: at.toISOString() }));
}

/**
 * Counts the items of a person by list, and the import rows, and returns the sinks that received the last change of any
 * of these items. Excludes anonymous items, because nobody may learn whose they are.
 * @param asked the text by which the person was named
 */
export async function countPerson(ledger: Ledger, places: readonly PersonPlace[], asked: string) {
  const hashes = hashesOf(ledger, places);
  const { codes } = hashes;
  const own = ownItemsOf(ledger, hashes);
  const items = await ledger.db.query<{ list: string; items: number }>(
    `${ownItems} select i.list, count(*)::int as items
     from own o join items i on i.pigeonhole_number = o.pigeonhole_number and i.list = o.list and i.key = o.key
       and i.payload is not null
     group by i.list order by i.list`,
    own,
  );
  const [rows] = await ledger.db.query<{ rows: number }>(
    `select (select count(*)::int from registrants r join unnest($1::int4[], $2::bytea[])
       as n (pigeonhole_number, code_hash)
         on r.pigeonhole_number = n.pigeonhole_number and r.code_hash = n.code_hash)
       + (select count(*)::int from import_rows w join imports i on i.number = w.import
         join unnest($1::int4[], $2::bytea[]) as n (pigeonhole_number,
           code_hash) on i.pigeonhole_number = n.pigeonhole_number and w.code_hash = n.code_hash) as rows`,
    [codes.map(({ pigeonholeNumber }) => pigeonholeNumber), codes.map(({ codeHash }) => codeHash)],
  );
  const sinks = await ledger.db.query<{ name: string }>(
    `${ownItems} select distinct s.name
     from own o join items i on i.pigeonhole_number = o.pigeonhole_number and i.list = o.list and i.key = o.key
       cross join sinks s
       join deliveries d on d.sink_id = s.id and d.pigeonhole_number = i.pigeonhole_number
         and d.sequence = i.last_sequence and d.state = 'delivered'
     order by s.name`,
    own,
  );
  return {
    items: Object.fromEntries(items.map(({ list, items: count }) => [list, count])),
    importRows: rows!.rows + (await unusableRows(ledger, places, asked)).length,
    sinks: sinks.map(({ name }) => name),
  };
}
