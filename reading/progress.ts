import type { Ledger } from '../ledger/ledger.js';
import type { PigeonholeName } from '../cycles/cycle-results.js';

/**
 * Totals of older minutes are deleted, except the newest one, which is subtracted from the total of the first minute
 * that is kept.
 */
const keptHours = 25;

/** Number of changes within one minute. */
export interface MinuteOfChanges {
  /** Start of the minute. */
  readonly minute: Date;
  readonly changes: number;
}

/** SQL for the totals of this minute. `sink_id` 0: changes found. */
const totalsNow = `select pigeonhole_number, 0 as sink_id, date_trunc('minute', now()) as minute,
  next_sequence - 1 as total from pigeonholes
  union all select pigeonhole_number, sink_id, date_trunc('minute', now()), delivered from lanes`;

/**
 * Stores the totals of this minute, with one statement and only for totals that changed. Call it a few times a minute,
 * and before the process ends. Several processes may call it. Changes since the last call count for the minute of this
 * call.
 */
export async function noteProgress(ledger: Ledger): Promise<void> {
  await ledger.db.query(
    `insert into progress (pigeonhole_number, sink_id, minute, total)
     select t.pigeonhole_number, t.sink_id, t.minute, t.total from (${totalsNow}) t
       left join lateral (select p.total from progress p where p.pigeonhole_number = t.pigeonhole_number
         and p.sink_id = t.sink_id
         order by p.minute desc limit 1) last on true
     where last.total is distinct from t.total and (last.total is not null or t.total > 0)
     order by t.pigeonhole_number, t.sink_id -- without an order, two processes could deadlock
     on conflict (pigeonhole_number, sink_id, minute) do update set total = greatest(progress.total, excluded.total)`,
  );
}

/** Deletes minutes that no chart shows. */
export async function trimProgress(ledger: Ledger): Promise<void> {
  await ledger.db.query(
    `delete from progress p where p.minute < now() - $1 * interval '1 hour'
       and exists (select 1 from progress n where n.pigeonhole_number = p.pigeonhole_number and n.sink_id = p.sink_id
         and n.minute > p.minute and n.minute < now() - $1 * interval '1 hour')`,
    [keptHours],
  );
}

/** Instant after which minutes count, as an SQL expression. @param minutes placeholder of their number */
const startOf = (minutes: string): string => `date_trunc('minute', now()) - ${minutes}::int4 * interval '1 minute'`;

/**
 * SQL for the changes by minute of one total: of pigeonhole `p`, or of lane `l`. Reads the total's minutes by the primary
 * key, and no other.
 */
const changesOf = ({ sinkId, total }: { readonly sinkId: string; readonly total: string }): string =>
  `select r.minute, r.total - coalesce(lag(r.total) over (order by r.minute),
     (select b.total from progress b where b.pigeonhole_number = p.pigeonhole_number and b.sink_id = ${sinkId}
       and b.minute < r.minute
      order by b.minute desc limit 1), 0) as changes
   from (
     select minute, max(total) as total from (
       select minute, total from progress where pigeonhole_number = p.pigeonhole_number and sink_id = ${sinkId}
         and minute > ${startOf('$1')}
       union all select date_trunc('minute', now()), ${total}) known
     group by minute) r`;

/**
 * Returns the number of changes that were found in each of the last `minutes` minutes, oldest first, including the
 * current minute up to now. Minutes without changes are left out.
 * @param of.pigeonholes only these; null: all
 * @param of.workspace null: all workspaces
 */
export async function foundByMinute(
  ledger: Ledger,
  minutes: number,
  {
    pigeonholes,
    workspace,
  }: { readonly pigeonholes: readonly PigeonholeName[] | null; readonly workspace: string | null },
): Promise<(PigeonholeName & MinuteOfChanges)[]> {
  return await ledger.db.query<PigeonholeName & MinuteOfChanges>(
    `select p.workspace, p.pigeonhole_id as "pigeonholeId", d.minute, d.changes
     from pigeonholes p cross join lateral (${changesOf({ sinkId: '0', total: 'p.next_sequence - 1' })}) d
     where d.changes > 0 and ($2::text is null or p.workspace = $2)
       and ($3::text[] is null or (p.workspace, p.pigeonhole_id) in (select * from unnest($3::text[], $4::int8[])))
     order by d.minute, 1, 2`,
    [
      minutes,
      workspace,
      pigeonholes === null ? null : pigeonholes.map((each) => each.workspace),
      pigeonholes === null ? null : pigeonholes.map(({ pigeonholeId }) => pigeonholeId),
    ],
  );
}

/**
 * Returns the number of changes that each sink delivered in each of the last `minutes` minutes, as `foundByMinute`.
 * @param of.sink only this one; null: all that are not archived
 */
export async function deliveredByMinute(
  ledger: Ledger,
  minutes: number,
  { sink, workspace }: { readonly sink: string | null; readonly workspace: string | null },
): Promise<({ readonly sink: string } & MinuteOfChanges)[]> {
  return await ledger.db.query<{ sink: string } & MinuteOfChanges>(
    `select s.name as sink, d.minute, sum(d.changes)::int8 as changes
     from sinks s join lanes l on l.sink_id = s.id join pigeonholes p on p.pigeonhole_number = l.pigeonhole_number
       cross join lateral (${changesOf({ sinkId: 'l.sink_id', total: 'l.delivered' })}) d
     where s.archived_at is null and d.changes > 0 and ($2::text is null or p.workspace = $2)
       and ($3::text is null or s.name = $3)
     group by s.name, d.minute order by d.minute, s.name`,
    [minutes, workspace, sink],
  );
}
