import type { Ledger } from './ledger.js';

/** A night of a pigeonhole whose export to a sink is due. */
export interface DueExport {
  readonly pigeonholeNumber: number;
  readonly workspace: string;
  readonly pigeonholeId: number;
  readonly nextSequence: number;
  readonly erased: number;
}

/** One export to a sink. */
export interface ExportKey {
  readonly sink: string;
  readonly pigeonholeNumber: number;
  /** `YYYY-MM-DD`. */
  readonly night: string;
}

/** A claim of a process ends after this time if it is not renewed, because the process has died. */
const claimS = 180;
/** A failed export is tried again after this time. */
const againS = 600;

/** SQL expression for the number of erased items of the pigeonhole `p`. */
const erasedItems = `(select count(*) from items i where i.pigeonhole_number = p.pigeonhole_number and i.erased)`;

/**
 * Returns the pigeonholes of these syncs whose export of this night is due: something has changed since their last export
 * and no process writes them. After an erasure, an export is due again, because its files contain the person.
 */
export async function dueExports(
  ledger: Ledger,
  { sink, syncs, night }: { readonly sink: string; readonly syncs: readonly string[]; readonly night: string },
): Promise<DueExport[]> {
  return await ledger.db.query<DueExport & Record<string, unknown>>(
    `select p.pigeonhole_number as "pigeonholeNumber", p.workspace, p.pigeonhole_id as "pigeonholeId",
       p.next_sequence as "nextSequence", ${erasedItems} as erased
     from pigeonholes p
       left join lateral (select * from nightly_exports e
         where e.sink = $1 and e.pigeonhole_number = p.pigeonhole_number and e.written_at is not null
         order by e.night desc limit 1) last on true
       left join nightly_exports own on own.sink = $1 and own.pigeonhole_number = p.pigeonhole_number and own.night = $3::date
     where p.next_sequence > 1 and p.pigeonhole_id <> 0
       and exists (select 1 from selections s
         where s.pigeonhole_number = p.pigeonhole_number and s.sync = any($2::text[]) and s.archived_at is null)
       and (own.claimed_until is null or own.claimed_until <= now())
       and (last.night is null
         or (last.night < $3::date and last.next_sequence <> p.next_sequence) or last.erased < ${erasedItems})
     order by p.pigeonhole_number`,
    [sink, syncs, night],
  );
}

/** Claims a due export. @returns false if another process has claimed it or has written it meanwhile */
export async function claimExport(
  ledger: Ledger,
  { sink, pigeonholeNumber, night }: ExportKey,
  { owner, erased }: { readonly owner: string } & Pick<DueExport, 'erased'>,
): Promise<boolean> {
  const rows = await ledger.db.query(
    `insert into nightly_exports as e (sink, pigeonhole_number, night, owner, claimed_until)
     values ($1, $2, $3::date, $4, now() + interval '${claimS} seconds')
     on conflict (sink, pigeonhole_number, night) do update set owner = excluded.owner, claimed_until = excluded.claimed_until
       where e.claimed_until <= now() and (e.written_at is null or e.erased < $5)
     returning 1 as claimed`,
    [sink, pigeonholeNumber, night, owner, erased],
  );
  return rows.length > 0;
}

const own = `sink = $1 and pigeonhole_number = $2 and night = $3::date and owner = $4`;

/** Extends the claim. @returns false if it was lost, because this process was paused for too long */
export async function renewExport(ledger: Ledger, key: ExportKey, owner: string): Promise<boolean> {
  const { sink, pigeonholeNumber, night } = key;
  const rows = await ledger.db.query(
    `update nightly_exports set claimed_until = now() + interval '${claimS} seconds'
     where ${own} and claimed_until > now() returning 1 as renewed`,
    [sink, pigeonholeNumber, night, owner],
  );
  return rows.length > 0;
}

/** Records that an export was written, and ends the claim. Earlier nights that were never written are given up. */
export async function settleExport(
  ledger: Ledger,
  { sink, pigeonholeNumber, night }: ExportKey,
  owner: string,
  written: Pick<DueExport, 'nextSequence' | 'erased'> & { readonly files: readonly string[] },
): Promise<void> {
  await ledger.db.query(
    `delete from nightly_exports where sink = $1 and pigeonhole_number = $2 and night < $3::date and written_at is null`,
    [sink, pigeonholeNumber, night],
  );
  await ledger.db.query(
    `update nightly_exports set claimed_until = now(), written_at = now(), failure = null, failing_since = null,
       next_sequence = $5, erased = $6, files = $7 where ${own}`,
    [sink, pigeonholeNumber, night, owner, written.nextSequence, written.erased, JSON.stringify(written.files)],
  );
}

/** Records why an export failed. It is due again after ten minutes. */
export async function failExport(
  ledger: Ledger,
  { sink, pigeonholeNumber, night }: ExportKey,
  owner: string,
  failure: string,
): Promise<void> {
  await ledger.db.query(
    `update nightly_exports set claimed_until = now() + interval '${againS} seconds', failure = $5,
       failing_since = coalesce(failing_since, now()) where ${own}`,
    [sink, pigeonholeNumber, night, owner, failure],
  );
}

/** Exports to a sink that fail and are tried again. */
export interface FailingExports {
  readonly sink: string;
  readonly workspace: string;
  /** Number of pigeonholes. */
  readonly pigeonholes: number;
  readonly since: Date;
  /** One of the failures, without personal data. */
  readonly failure: string;
}

/** An export that was not tried again for this long is given up: its sink or its pigeonhole is no longer exported. */
const givenUpAfter = `interval '2 hours'`;

/** Returns the exports that fail, by sink and workspace. */
export async function failingExports(ledger: Ledger): Promise<FailingExports[]> {
  return await ledger.db.query<FailingExports & Record<string, unknown>>(
    `select e.sink, p.workspace, count(distinct e.pigeonhole_number)::int as pigeonholes, min(e.failing_since) as since,
       max(e.failure) as failure
     from nightly_exports e join pigeonholes p on p.pigeonhole_number = e.pigeonhole_number
     where e.failing_since is not null and e.failure is not null and e.claimed_until > now() - ${givenUpAfter}
     group by e.sink, p.workspace order by e.sink, p.workspace`,
  );
}

/** A written export whose files are no longer kept. */
export interface OldExport extends ExportKey {
  readonly files: readonly string[];
}

/**
 * Returns the exports of a pigeonhole whose files have to be removed: those beyond the number that is kept, and those written
 * before an erasure, as soon as a later one exists.
 * @param keep null: all that no erasure concerns
 */
export async function oldExports(
  ledger: Ledger,
  { sink, pigeonholeNumber }: Pick<ExportKey, 'sink' | 'pigeonholeNumber'>,
  keep: number | null,
): Promise<OldExport[]> {
  const rows = await ledger.db.query<{ night: string; files: string }>(
    `select to_char(night, 'YYYY-MM-DD') as night, files from (
       select e.*, row_number() over (order by night desc) as newest, max(erased) over () as now_erased
       from nightly_exports e where sink = $1 and pigeonhole_number = $2 and written_at is not null) e
     where newest > 1 and (newest > $3::int8 or erased < now_erased) order by night`,
    [sink, pigeonholeNumber, keep ?? Number.MAX_SAFE_INTEGER],
  );
  return rows.map(({ night, files }) => ({ sink, pigeonholeNumber, night, files: JSON.parse(files) as string[] }));
}

/** Forgets an export whose files were removed. */
export async function dropExport(ledger: Ledger, { sink, pigeonholeNumber, night }: ExportKey): Promise<void> {
  await ledger.db.query('delete from nightly_exports where sink = $1 and pigeonhole_number = $2 and night = $3::date', [
    sink,
    pigeonholeNumber,
    night,
  ]);
}
