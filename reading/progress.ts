import type { Ledger } from '../ledger/ledger.js';

/**
 * Totals of older minutes are deleted, except the newest one, which is subtracted from the total of the first minute
 * that is kept.
 */
const keptHours = 25;

/** Number of changes within one minute: found in a pigeonhole, or delivered to a sink. */
export interface MinuteOfProgress {
  readonly workspace: string;
  readonly pigeonholeId: number;
  /** Null: changes found. Otherwise: changes delivered to this sink. */
  readonly sink: string | null;
  /** Start of the minute. */
  readonly minute: Date;
  readonly changes: number;
}

/** SQL for the totals of this minute. `sink_id` 0: changes found. */
const totalsNow = `select ref, 0 as sink_id, date_trunc('minute', now()) as minute, next_sequence - 1 as total from pigeonholes
  union all select ref, sink_id, date_trunc('minute', now()), delivered from lanes`;

/**
 * Stores the totals of this minute, with one statement and only for totals that changed. Call it a few times a minute,
 * and before the process ends. Several processes may call it. Changes since the last call count for the minute of this
 * call.
 */
export async function noteProgress(ledger: Ledger): Promise<void> {
  await ledger.db.query(
    `insert into progress (ref, sink_id, minute, total)
     select t.ref, t.sink_id, t.minute, t.total from (${totalsNow}) t
       left join lateral (select p.total from progress p where p.ref = t.ref and p.sink_id = t.sink_id
         order by p.minute desc limit 1) last on true
     where last.total is distinct from t.total and (last.total is not null or t.total > 0)
     order by t.ref, t.sink_id -- without an order, two processes could deadlock
     on conflict (ref, sink_id, minute) do update set total = greatest(progress.total, excluded.total)`,
  );
}

/** Deletes minutes that no chart shows. */
export async function trimProgress(ledger: Ledger): Promise<void> {
  await ledger.db.query(
    `delete from progress p where p.minute < now() - $1 * interval '1 hour'
       and exists (select 1 from progress n where n.ref = p.ref and n.sink_id = p.sink_id and n.minute > p.minute
         and n.minute < now() - $1 * interval '1 hour')`,
    [keptHours],
  );
}

/**
 * Returns the number of changes in each of the last `minutes` minutes, oldest first, including the current minute up
 * to now. Minutes without changes are left out.
 * @param workspace null: all workspaces
 */
export async function recentProgress(
  ledger: Ledger,
  { minutes, workspace }: { readonly minutes: number; readonly workspace: string | null },
): Promise<MinuteOfProgress[]> {
  return await ledger.db.query<MinuteOfProgress>(
    `select p.workspace, p.pigeonhole_id as "pigeonholeId", s.name as sink, d.minute, d.changes
     from (
       select r.ref, r.sink_id, r.minute, r.total - coalesce(
           lag(r.total) over (partition by r.ref, r.sink_id order by r.minute),
           (select b.total from progress b where b.ref = r.ref and b.sink_id = r.sink_id and b.minute < r.minute
            order by b.minute desc limit 1), 0) as changes
       from (
         select ref, sink_id, minute, max(total) as total from (
           select ref, sink_id, minute, total from progress union all ${totalsNow}) known
         where minute > date_trunc('minute', now()) - $1 * interval '1 minute' group by ref, sink_id, minute) r) d
       join pigeonholes p on p.ref = d.ref left join sinks s on s.id = d.sink_id
     where (d.sink_id = 0 or s.archived_at is null) and ($2::text is null or p.workspace = $2) and d.changes > 0
     order by d.minute, p.workspace, p.pigeonhole_id, s.name`,
    [minutes, workspace],
  );
}
