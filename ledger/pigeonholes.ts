import type { Queryable } from './drivers/database.js';
import type { Ledger } from './ledger.js';
import { readableJson } from './sql-expressions.js';
import { anotherConfiguration } from './configurations.js';
import { raiseAsked } from './pigeonholes-asked.js';
import { pollPlaces } from './streams-due.js';

export interface PigeonholeRow {
  readonly pigeonholeNumber: number;
  readonly workspace: string;
  readonly pigeonholeId: number;
  readonly status: string | null;
}

/**
 * Returns the ledger's own number of a pigeonhole, and assigns one if it has none. The service does not know this number.
 * Pigeonhole id 0 is used for the workspace's own lists.
 */
export async function pigeonholeNumberOf(ledger: Ledger, workspace: string, pigeonholeId: number): Promise<number> {
  const known = await findPigeonholeNumber(ledger.db, workspace, pigeonholeId);
  if (known !== undefined) return known;
  await ledger.db.query(
    'insert into pigeonholes (workspace, pigeonhole_id) values ($1, $2) on conflict (workspace, pigeonhole_id) do nothing',
    [workspace, pigeonholeId],
  );
  return (await findPigeonholeNumber(ledger.db, workspace, pigeonholeId))!;
}

/** Returns the ledger's number of a pigeonhole; undefined if it has none. */
export async function findPigeonholeNumber(
  tx: Queryable,
  workspace: string,
  pigeonholeId: number,
): Promise<number | undefined> {
  const [row] = await tx.query<{ pigeonholeNumber: number }>(
    'select pigeonhole_number as "pigeonholeNumber" from pigeonholes where workspace = $1 and pigeonhole_id = $2',
    [workspace, pigeonholeId],
  );
  return row?.pigeonholeNumber;
}

/**
 * Adds pigeonholes to the selection of a sync. Removes none.
 * @param configuration the configuration under which they were selected
 * @returns the ids of those that are new or return from the archive
 * @throws {LedgerError} kind `configuration` if that configuration is no longer current, because the current one may
 *   not select them
 */
export async function addSelections(
  ledger: Ledger,
  { sync, workspace, configuration }: { sync: string; workspace: string; configuration: number },
  ids: readonly number[],
): Promise<number[]> {
  return await ledger.db.transaction(async (tx) => {
    const [current] = await tx.query<{ number: number | null }>(
      'select max(number) as number from configurations having max(number) is distinct from $1',
      [configuration],
    );
    if (current !== undefined) throw anotherConfiguration(configuration, current.number ?? 0);
    await tx.query(
      // `where not exists`, because the serial number advances even for a row that conflicts.
      `insert into pigeonholes (workspace, pigeonhole_id) select $1, id from unnest($2::int8[]) as n (id)
       where not exists (select 1 from pigeonholes p where p.workspace = $1 and p.pigeonhole_id = n.id)
       on conflict (workspace, pigeonhole_id) do nothing`,
      [workspace, ids],
    );
    const rows = await tx.query<{ pigeonholeNumber: number; pigeonhole_id: number }>(
      `with added as (
         insert into selections (sync, pigeonhole_number)
         select $1, pigeonhole_number from pigeonholes where workspace = $2 and pigeonhole_id = any($3::int8[])
         on conflict (sync, pigeonhole_number) do update set archived_at = null, selected_at = now()
           where selections.archived_at is not null
         returning pigeonhole_number)
       select p.pigeonhole_number as "pigeonholeNumber", p.pigeonhole_id from added
         join pigeonholes p on p.pigeonhole_number = added.pigeonhole_number order by 2`,
      [sync, workspace, ids],
    );
    await raiseAsked(
      tx,
      rows.map(({ pigeonholeNumber }) => pigeonholeNumber),
    );
    return rows.map((row) => row.pigeonhole_id);
  });
}

/** The service's report of a pigeonhole, apart from its lists. */
export interface ReportedState {
  readonly id: number;
  readonly status: string | null;
  /** The event's days and their time zone, in any form that differs if they do; null: the service's list does not show it. */
  readonly days: string | null;
}

/**
 * Stores what the service reports of known pigeonholes. If the status or the days of a pigeonhole changed, its streams
 * become due immediately.
 * @returns the ids of these pigeonholes
 */
export async function saveStates(
  ledger: Ledger,
  workspace: string,
  states: readonly ReportedState[],
): Promise<number[]> {
  return await ledger.db.transaction(async (tx) => {
    const moved = await tx.query<{ pigeonholeNumber: number; id: number }>(
      `with moved as materialized (
         select p.pigeonhole_number, n.status, n.days from pigeonholes p
           join unnest($2::int8[], $3::text[], $4::text[]) as n (id, status, days) on n.id = p.pigeonhole_id
         where p.workspace = $1 and (p.status, p.days) is distinct from (n.status, n.days)
         order by p.pigeonhole_number for no key update of p)
       update pigeonholes p set status = n.status, days = n.days,
         ended_at = case when n.status = 'ended' then coalesce(p.ended_at, now()) end
       from moved n where p.pigeonhole_number = n.pigeonhole_number
         returning p.pigeonhole_number as "pigeonholeNumber", p.pigeonhole_id as id`,
      [workspace, states.map(({ id }) => id), states.map(({ status }) => status), states.map(({ days }) => days)],
    );
    if (moved.length > 0)
      await pollPlaces(
        tx,
        moved.map(({ pigeonholeNumber }) => pigeonholeNumber),
      );
    return moved.map(({ id }) => id);
  });
}

export interface Selected extends PigeonholeRow {
  /** Names of the syncs that read it. */
  readonly syncs: readonly string[];
}

interface SelectedRow extends Omit<Selected, 'syncs'> {
  readonly syncs: string;
}

/** The pigeonholes that the syncs in `$1` have selected. @param condition further condition over `p`, the pigeonholes */
const selectedBy = (condition: string): string =>
  `select p.pigeonhole_number as "pigeonholeNumber", p.workspace, p.pigeonhole_id as "pigeonholeId", p.status,
     string_agg(s.sync, ' ' order by s.sync) as syncs
   from selections s join pigeonholes p on p.pigeonhole_number = s.pigeonhole_number
   where s.sync = any($1::text[]) and s.archived_at is null and ${condition} group by p.pigeonhole_number
     order by p.pigeonhole_number`;

const toSelected = (row: SelectedRow): Selected => ({ ...row, syncs: row.syncs.split(' ') });

/** Returns every pigeonhole that at least one of these syncs has selected. */
export async function selectedPigeonholes(ledger: Ledger, syncs: readonly string[]): Promise<Selected[]> {
  return (await ledger.db.query<SelectedRow>(selectedBy('true'), [syncs])).map(toSelected);
}

/** Returns a pigeonhole if at least one of these syncs has selected it, else undefined. Reads no other pigeonhole. */
export async function selectedPigeonhole(
  ledger: Ledger,
  syncs: readonly string[],
  { workspace, pigeonholeId }: Pick<PigeonholeRow, 'workspace' | 'pigeonholeId'>,
): Promise<Selected | undefined> {
  const [row] = await ledger.db.query<SelectedRow>(selectedBy('p.workspace = $2 and p.pigeonhole_id = $3'), [
    syncs,
    workspace,
    pigeonholeId,
  ]);
  return row && toSelected(row);
}

/** Returns the stored items of a list as canonical JSON, by key. Only for small lists: sessions and pigeonholes. */
export async function storedItems(
  ledger: Ledger,
  pigeonholeNumber: number,
  list: string,
): Promise<{ key: string; payload: string }[]> {
  return await ledger.db.query<{ key: string; payload: string }>(
    'select key, payload from items where pigeonhole_number = $1 and list = $2 and payload is not null order by key',
    [pigeonholeNumber, list],
  );
}

/**
 * Claims the next pigeonhole that has to be requested by its id, because the service's list does not show it. Chooses
 * the one whose last request is the longest ago, if that is longer than the interval in `every`. The claim counts as
 * the request, so that two processes do not request the same pigeonhole.
 * @param every.msWhenOver interval for pigeonholes that have ended, or that no longer exist in the service
 * @returns null if none is due
 */
export async function claimHidden(
  ledger: Ledger,
  workspace: string,
  ids: readonly number[],
  every: { readonly ms: number; readonly msWhenOver: number },
): Promise<number | null> {
  const [row] = await ledger.db.query<{ pigeonhole_id: number }>(
    `update pigeonholes set read_by_id_at = now() where pigeonhole_number = (
       select p.pigeonhole_number from pigeonholes p where p.workspace = $1 and p.pigeonhole_id = any($2::int8[])
         and (p.ended_at is null or p.ended_at > now() - interval '8 days') -- otherwise it is dormant
         and (p.read_by_id_at is null or p.read_by_id_at <= now() - interval '1 millisecond'
           * case when p.gone_at is not null or p.status = 'ended' then $4::float8 else $3::float8 end)
         and not exists (select 1 from items i join pigeonholes w on w.pigeonhole_number = i.pigeonhole_number
           where w.workspace = p.workspace and w.pigeonhole_id = 0 and i.list = 'pigeonholes'
             and i.key = p.pigeonhole_id::text and i.payload is not null)
       order by p.read_by_id_at nulls first, p.pigeonhole_id limit 1 for no key update of p skip locked)
     returning pigeonhole_id`,
    [workspace, ids, every.ms, every.msWhenOver],
  );
  return row?.pigeonhole_id ?? null;
}

/** A pigeonhole with its name, and the syncs that read it. */
export interface NamedPigeonhole extends Pick<Selected, 'workspace' | 'pigeonholeId' | 'syncs'> {
  /** Null: the pigeonhole has not been read yet. */
  readonly name: string | null;
}

/** Returns the pigeonholes of a workspace with their names. @param workspace null: all workspaces */
export async function pigeonholeNames(ledger: Ledger, workspace: string | null): Promise<NamedPigeonhole[]> {
  const rows = await ledger.db.query<Omit<NamedPigeonhole, 'syncs'> & { syncs: string | null }>(
    `select p.workspace, p.pigeonhole_id as "pigeonholeId", ${readableJson('i.payload')} ->> 'name' as name,
       (select string_agg(n.sync, ' ' order by n.sync) from selections n
         where n.pigeonhole_number = p.pigeonhole_number and n.archived_at is null)
         as syncs
     from pigeonholes p left join pigeonholes r on r.workspace = p.workspace and r.pigeonhole_id = 0
       left join items i on i.pigeonhole_number = r.pigeonhole_number and i.list = 'pigeonholes'
         and i.key = p.pigeonhole_id::text and p.pigeonhole_id <> 0
     where $1::text is null or p.workspace = $1`,
    [workspace],
  );
  return rows.map(({ syncs, ...row }) => ({ ...row, syncs: syncs?.split(' ') ?? [] }));
}

/**
 * Returns the number of people in each of these pigeonholes, by its number in the ledger: the number of imported registrants or of
 * attendees, whichever is larger.
 */
export async function peopleOf(
  ledger: Pick<Ledger, 'db'>,
  pigeonholeNumbers: readonly number[],
): Promise<ReadonlyMap<number, number>> {
  const rows = await ledger.db.query<{ pigeonholeNumber: number; people: number }>(
    `select pigeonhole_number as "pigeonholeNumber", max(n)::int as people from (
       select pigeonhole_number, count(*) as n from registrants where pigeonhole_number = any($1::int4[])
         group by pigeonhole_number
       union all
       select pigeonhole_number, item_count as n from streams where list = 'attendees' and wanted
         and swept_at is not null and pigeonhole_number = any($1::int4[])) as counts
     group by pigeonhole_number`,
    [pigeonholeNumbers],
  );
  return new Map(rows.map(({ pigeonholeNumber, people }) => [pigeonholeNumber, people]));
}

export interface RegisteredSync {
  readonly name: string;
  readonly workspace: string;
  /** The rule by which the sync selects pigeonholes, as JSON text. Rules are compared as text. */
  readonly choice: string;
}

/** Returns the names of the syncs that the ledger knows with a different selection rule or workspace. */
export async function changedSyncs(ledger: Ledger, syncs: readonly RegisteredSync[]): Promise<string[]> {
  const rows = await ledger.db.query<RegisteredSync>(
    'select name, workspace, choice from syncs where name = any($1::text[])',
    [syncs.map(({ name }) => name)],
  );
  const known = new Map(rows.map((row) => [row.name, row]));
  return syncs
    .filter(({ name, workspace, choice }) => {
      const row = known.get(name);
      return row !== undefined && (row.choice !== choice || row.workspace !== workspace);
    })
    .map(({ name }) => name);
}

/**
 * Registers the configured syncs, and archives all others. An archived sync keeps its selections, and uses them again
 * when it is configured again.
 */
export async function registerSyncs(ledger: Ledger, syncs: readonly RegisteredSync[]): Promise<void> {
  const names = syncs.map(({ name }) => name);
  await ledger.db.transaction(async (tx) => {
    await tx.query(
      `insert into syncs (name, workspace, choice) select * from unnest($1::text[], $2::text[], $3::json[])
       on conflict (name) do update set workspace = excluded.workspace, choice = excluded.choice, archived_at = null`,
      [names, syncs.map(({ workspace }) => workspace), syncs.map(({ choice }) => choice)],
    );
    await tx.query('update syncs set archived_at = now() where archived_at is null and not name = any($1::text[])', [
      names,
    ]);
  });
}

/**
 * Returns the pigeonholes that a sync reads, except those that its configuration no longer selects. The sync itself may
 * be archived.
 */
export async function selectionsOf(ledger: Ledger, sync: string): Promise<Omit<PigeonholeRow, 'status'>[]> {
  return await ledger.db.query<Omit<PigeonholeRow, 'status'>>(
    `select p.pigeonhole_number as "pigeonholeNumber", p.workspace, p.pigeonhole_id as "pigeonholeId" from selections s
       join pigeonholes p on p.pigeonhole_number = s.pigeonhole_number
     where s.sync = $1 and s.archived_at is null order by p.pigeonhole_number`,
    [sync],
  );
}

/** Archives pigeonholes that the configuration of a sync no longer selects. They return when it selects them again. */
export async function archiveSelections(
  ledger: Ledger,
  sync: string,
  pigeonholeNumbers: readonly number[],
): Promise<void> {
  await ledger.db.transaction(async (tx) => {
    await raiseAsked(tx, pigeonholeNumbers);
    await tx.query(
      `update selections set archived_at = now() where sync = $1 and pigeonhole_number = any($2::int4[])
         and archived_at is null`,
      [sync, pigeonholeNumbers],
    );
  });
}

/** Records that a pigeonhole no longer exists in the service, or that it exists. The caller holds the lock on its row. */
export async function markPlaceGone(tx: Queryable, pigeonholeNumber: number, isGone: boolean): Promise<void> {
  await tx.query(
    `update pigeonholes set gone_at = case when $2::boolean then coalesce(gone_at, clock_timestamp()) end
       where pigeonhole_number = $1`,
    [pigeonholeNumber, isGone],
  );
}

/** Stores which sequence a pigeonhole assigns next. The caller holds the lock on its row. */
export async function storeNextSequence(tx: Queryable, pigeonholeNumber: number, next: number): Promise<void> {
  await tx.query('update pigeonholes set next_sequence = $2 where pigeonhole_number = $1', [pigeonholeNumber, next]);
}

/** Starts a rehearsal, or moves the end of the one in progress. */
export async function startRehearsal(
  ledger: Ledger,
  pigeonholeNumber: number,
  { forSeconds, by }: { readonly forSeconds: number; readonly by: string | null },
): Promise<void> {
  await ledger.db.query(
    `update pigeonholes set asked = asked + 1, rehearsal_until = clock_timestamp() + $2 * interval '1 second', rehearsal_by = $3,
       rehearsal_since = case when rehearsal_until > clock_timestamp() then rehearsal_since else clock_timestamp() end
     where pigeonhole_number = $1`,
    [pigeonholeNumber, forSeconds, by],
  );
}

/**
 * Ends the rehearsal in progress. A second call changes nothing.
 * @returns false if no rehearsal was in progress
 */
export async function endRehearsal(ledger: Ledger, pigeonholeNumber: number): Promise<boolean> {
  const ended = await ledger.db.query(
    `update pigeonholes set asked = asked + 1, rehearsal_until = clock_timestamp()
     where pigeonhole_number = $1 and rehearsal_until > clock_timestamp() returning pigeonhole_number`,
    [pigeonholeNumber],
  );
  return ended.length > 0;
}

/** Adds the pigeonholes that the ledger does not know. */
export async function ensurePlaces(
  tx: Queryable,
  places: readonly { readonly workspace: string; readonly pigeonholeId: number }[],
): Promise<void> {
  await tx.query(
    `insert into pigeonholes (workspace, pigeonhole_id) select distinct * from unnest($1::text[], $2::int8[]) as n
     on conflict (workspace, pigeonhole_id) do nothing`,
    [places.map(({ workspace }) => workspace), places.map(({ pigeonholeId }) => pigeonholeId)],
  );
}
