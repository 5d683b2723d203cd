import type { Queryable } from '../ledger/drivers/database.js';
import type { Ledger } from '../ledger/ledger.js';
import {
  type DroppedFields,
  listRules,
  type Registrant,
  registrantRules,
  toRegistrantItem,
} from './registrant-item.js';
import { registrantKey } from '../ledger/registrant-key.js';
import { registrantsList } from '../base/lists.js';
import { type Recount, storeDerived, type StoredRow } from './recount-engagement.js';
import { lockPlace } from '../ledger/lock-order.js';
import { linkedAttendees, addSignIns } from '../ledger/sign-ins.js';
import type { PageScope, PageWrite } from '../ledger/items/write-changes.js';
import { codeStatus } from '../ledger/sql-expressions.js';

/**
 * If this number of changes follows the stored position and none is of an attendee, the position moves past them, so
 * that later searches skip them.
 */
const farBehind = 1000;

/**
 * Updates the list of registrants from the next changes of attendees. If there are none, updates it from the next rows
 * that an import has settled. Stores the differences, and a change for each, in one transaction. Safe to run twice,
 * also concurrently: the pigeonhole's row is locked, and the items are computed from the rows stored at that moment.
 *
 * Does nothing until the list of attendees has been read completely once. Otherwise, registrants who attended would be
 * reported as absent and with unknown consent.
 * @param sinks names of the sinks that want the list
 */
export async function recountRegistrants(
  ledger: Ledger,
  pigeonholeNumber: number,
  { sinks, drop }: { readonly sinks: readonly string[]; readonly drop: DroppedFields },
): Promise<Recount> {
  const rules = registrantRules(drop);
  if (!(await hasWork(ledger, pigeonholeNumber, rules))) return { more: false, woken: [] };
  return await ledger.db.transaction(async (tx) => {
    const place = await lockPlace(tx, pigeonholeNumber);
    if (place === undefined) return { more: false, woken: [] };
    await followRules(tx, pigeonholeNumber, rules);
    const scope = { ...place, list: registrantsList, streamId: 0 }; // a computed list is not read from the service, so it has no stream
    // Attendees first, so that a settled import row is reported together with its sign-in.
    const codes = (await nextSignIns(ledger, tx, scope)) ?? (await nextSettledCodes(tx, pigeonholeNumber)) ?? [];
    const changed = await storeRegistrants({ ledger, tx, scope }, codes, rules);
    return { more: true, woken: changed ? sinks : [] };
  });
}

/** Whether there is anything to update. Runs in every cycle, so it locks and writes nothing. */
async function hasWork(ledger: Ledger, pigeonholeNumber: number, rules: string): Promise<boolean> {
  const [row] = await ledger.db.query<{ work: boolean }>(
    `select coalesce(l.rules <> $2 or g.next_sequence - l.position > ${farBehind}
         or exists (select 1 from changes c where c.pigeonhole_number = g.pigeonhole_number and c.sequence > l.position
           and c.list = 'attendees') or ${hasUnseenRows}, true) as work
     from pigeonholes g left join registrant_lists l on l.pigeonhole_number = g.pigeonhole_number
     where g.pigeonhole_number = $1 and exists (select 1 from imports where pigeonhole_number = $1
       and started_at is not null)
       and exists (select 1 from streams where pigeonhole_number = $1 and list = 'attendees'
         and polled_at is not null)`,
    [pigeonholeNumber, listRules(rules)],
  );
  return row?.work ?? false;
}

/** If the rules have changed, stores them and starts a pass over all registrants. */
async function followRules(tx: Queryable, pigeonholeNumber: number, rules: string): Promise<void> {
  const changed = await tx.query(
    `insert into registrant_lists (pigeonhole_number, rules) values ($1, $2)
     on conflict (pigeonhole_number) do update set rules = excluded.rules
       where registrant_lists.rules <> excluded.rules returning pigeonhole_number`,
    [pigeonholeNumber, listRules(rules)],
  );
  if (changed.length > 0) await restartPasses(tx, pigeonholeNumber);
}

/** Processes the next changes of attendees. @returns as `addSignIns`; null if no change is left */
async function nextSignIns(ledger: Ledger, tx: Queryable, scope: PageScope): Promise<readonly Buffer[] | null> {
  const [list] = await tx.query<{ position: number }>(
    'select position from registrant_lists where pigeonhole_number = $1',
    [scope.pigeonholeNumber],
  );
  const { codes, position } = await addSignIns(ledger, tx, scope, list!.position);
  await tx.query('update registrant_lists set position = $2 where pigeonhole_number = $1 and position < $2', [
    scope.pigeonholeNumber,
    position,
  ]);
  return codes;
}

/**
 * Computes and stores these registrants. Keeps those of whom retention has removed the import row, or the record of the
 * attendee who used the code.
 * @returns whether anything changed
 */
async function storeRegistrants(page: PageWrite, changed: readonly Buffer[], rules: string): Promise<boolean> {
  if (changed.length === 0) return false;
  const { ledger, tx, scope } = page;
  const { pigeonholeNumber } = scope;
  const rows = await tx.query<{ codeHash: Buffer }>(
    `select n.code_hash as "codeHash" from unnest($2::bytea[]) as n (code_hash)
     where (select true from registrants where pigeonhole_number = $1 and code_hash = n.code_hash
       and profile::text = '{}' limit 1) is null
       and (select true from sign_ins s cross join lateral (select expired from items
           where pigeonhole_number = $1 and list = 'attendees' and key = s.attendee_id::text limit 1) a
         where s.pigeonhole_number = $1 and s.code_hash = n.code_hash and a.expired limit 1) is null`,
    [pigeonholeNumber, changed],
  );
  const codes = rows.map(({ codeHash }) => codeHash);
  if (codes.length === 0) return false;
  const known = await tx.query<Registrant>(
    `select r.code_hash as "codeHash", r.profile from unnest($2::bytea[]) as n (code_hash)
       cross join lateral (select * from registrants where pigeonhole_number = $1 and code_hash = n.code_hash limit 1) r
       join imports i on i.number = r.import
     where ${isKnownRegistrant}
       and not exists (select 1 from forgotten_codes f where f.pigeonhole_number = r.pigeonhole_number
         and f.code_hash = r.code_hash)`,
    [pigeonholeNumber, codes],
  );
  const attendees = await linkedAttendees(
    tx,
    pigeonholeNumber,
    known.map(({ codeHash }) => codeHash),
  );
  const list = { hash: ledger.hash, pigeonholeNumber, rules };
  const items = known.map((registrant) =>
    toRegistrantItem(list, registrant, attendees.get(registrant.codeHash.toString('hex')) ?? []),
  );
  const stored = await tx.query<StoredRow>(
    `select i.key, i.seen_at as "seenAt", clock_timestamp() as now, i.payload is null as gone from unnest($3::text[]) as n (key)
       cross join lateral (select * from items where pigeonhole_number = $1 and list = $2 and key = n.key limit 1) i`,
    [pigeonholeNumber, scope.list, codes.map((codeHash) => registrantKey(ledger.hash, pigeonholeNumber, codeHash))],
  );
  return await storeDerived(page, { items, stored, rules });
}

/** Maximum number of row numbers that one transaction checks. */
const rowsAtOnce = 500;

/**
 * SQL expression for the last settled row of the round that an import's pass checks. Uses `i` (imports) and `s` (the
 * state of the pass). If a later round has started or the import has ended, that is the import's last row. Otherwise,
 * it is the row before the first chunk that is not settled, or, if all chunks are settled, the last row that is in a
 * chunk.
 */
const settledUntil = `case when s.ended or s.round < i.round then i.last_row else coalesce(
  (select min(c.first_row) - 1 from import_chunks c where c.import = i.number and c.round = s.round and c.state <> 'created'),
  i.position) end`;

/** The imports of pigeonhole `$1` that have rows to check, as an SQL table expression. */
const unseenRows = `imports i
  left join registrant_passes p on p.import = i.number
  cross join lateral (select coalesce(p.round, 0) as round, coalesce(p.after_row, 0) as after_row,
    coalesce(p.stage, 'rows') as stage, i.state in ('done', 'cancelled') as ended) s
  cross join lateral (select case when s.stage = 'late' then i.last_row else ${settledUntil} end as until) u
  where i.pigeonhole_number = $1 and i.started_at is not null and s.stage <> 'done'
    and (u.until > s.after_row or s.round < i.round or s.ended)`;

/**
 * SQL condition over `r` (registrants) and `i` (imports): the code is known to belong to this registrant. If the
 * service has created the registrant (`created`), that is certain. A code that the service already had (`confirmed`,
 * `existing`) may turn out to belong to another person (a conflict), until the import ends.
 */
const isKnownRegistrant = `coalesce(${codeStatus} = 'created'
  or (r.outcome in ('confirmed', 'existing') and i.state in ('done', 'cancelled')), false)`;

/** Whether some import of pigeonhole `$1` has rows to check, as an SQL condition. */
const hasUnseenRows = `exists (select 1 from ${unseenRows})`;

interface PassRow {
  number: number;
  round: number;
  afterRow: number;
  stage: 'rows' | 'late';
  until: number;
  /** True if `until` is final: a later round has started, or the import has ended. */
  closed: boolean;
  lastRound: number;
}

/**
 * Returns the next settled rows of a pigeonhole's imports, and moves the pass past them. Returns each row once. Rows
 * whose codes the service already had (`confirmed`, `existing`) are returned again after the import has ended (see
 * `isKnownRegistrant`).
 * @returns the hashes of their codes, possibly none; undefined if no row has to be checked
 */
async function nextSettledCodes(tx: Queryable, pigeonholeNumber: number): Promise<readonly Buffer[] | undefined> {
  const [pass] = await tx.query<PassRow>(
    `select i.number, s.round, s.after_row as "afterRow", s.stage, u.until, s.ended or s.round < i.round as closed,
       i.round as "lastRound"
     from ${unseenRows} order by i.number limit 1`,
    [pigeonholeNumber],
  );
  if (pass === undefined) return undefined;
  // Without statistics, PostgreSQL would sort all remaining rows to find the next ones with `limit`. A range of row
  // numbers needs no sorting.
  const lastRow = Math.min(pass.until, pass.afterRow + rowsAtOnce);
  const rows = await tx.query<{ codeHash: Buffer }>(
    `select code_hash as "codeHash" from registrants where import = $1 and row_number > $2 and row_number <= $3
       and case when $4 then outcome in ('confirmed', 'existing') else round = $5 end`,
    [pass.number, pass.afterRow, lastRow, pass.stage === 'late', pass.round],
  );
  const next = positionAfter(pass, lastRow);
  await tx.query(
    `insert into registrant_passes (import, round, after_row, stage) values ($1, $2, $3, $4)
     on conflict (import) do update set round = excluded.round, after_row = excluded.after_row, stage = excluded.stage`,
    [pass.number, next.round, next.afterRow, next.stage],
  );
  return rows.map(({ codeHash }) => codeHash);
}

/** Returns the position of a pass after these rows. Pure. @param lastRow the last row that was checked */
function positionAfter(
  { stage, round, until, closed, lastRound }: PassRow,
  lastRow: number,
): { stage: 'rows' | 'late' | 'done'; round: number; afterRow: number } {
  if (lastRow < until || !closed) return { stage, round, afterRow: lastRow };
  if (stage === 'late') return { stage: 'done', round, afterRow: lastRow };
  return round < lastRound ? { stage, round: round + 1, afterRow: 0 } : { stage: 'late', round, afterRow: 0 };
}

/** Makes the next calls check all rows of a pigeonhole's imports again. */
async function restartPasses(tx: Queryable, pigeonholeNumber: number): Promise<void> {
  await tx.query(
    'delete from registrant_passes p using imports i where i.number = p.import and i.pigeonhole_number = $1',
    [pigeonholeNumber],
  );
}
