import type { Ledger } from '../ledger/ledger.js';

/** Older minutes are forgotten; the last one before stays, as what the first difference is taken from. */
const keptHours = 25;

/** How much happened within one minute, in a pigeonhole or, where a sink is named, on its way there. */
export interface MinuteOfProgress {
  readonly workspace: string;
  readonly pigeonholeId: number;
  /** Null: changes found. Else: changes delivered to it. */
  readonly sink: string | null;
  /** Its beginning. */
  readonly minute: Date;
  readonly changes: number;
}

/**
 * Notes how far everything is in this minute: one statement however much there is, and no row for what stands where it
 * stood. To be called a few times a minute, by as many processes as like; what happens while none runs is found in the
 * minute in which one looks again.
 */
export async function noteProgress(ledger: Ledger): Promise<void> {
  await ledger.db.query(
    `insert into progress (ref, sink_id, minute, total)
     select t.ref, t.sink_id, date_trunc('minute', now()), t.total
     from (select ref, 0 as sink_id, next_sequence - 1 as total from pigeonholes
       union all select ref, sink_id, delivered from lanes) t
       left join lateral (select p.total from progress p where p.ref = t.ref and p.sink_id = t.sink_id
         order by p.minute desc limit 1) last on true
     where last.total is distinct from t.total and (last.total is not null or t.total > 0)
     order by t.ref, t.sink_id -- two processes at once would wait for each other
     on conflict (ref, sink_id, minute) do update set total = greatest(progress.total, excluded.total)`,
  );
}

/** Forgets what no chart shows any more. */
export async function trimProgress(ledger: Ledger): Promise<void> {
  await ledger.db.query(
    `delete from progress p where p.minute < now() - $1 * interval '1 hour'
       and exists (select 1 from progress n where n.ref = p.ref and n.sink_id = p.sink_id and n.minute > p.minute
         and n.minute < now() - $1 * interval '1 hour')`,
    [keptHours],
  );
}

/** The last minutes in which something happened, oldest first, this one included. @param workspace null: all of them */
export async function recentProgress(
  ledger: Ledger,
  { minutes, workspace }: { readonly minutes: number; readonly workspace: string | null },
): Promise<MinuteOfProgress[]> {
  return await ledger.db.query<MinuteOfProgress & Record<string, unknown>>(
    `select p.workspace, p.pigeonhole_id as "pigeonholeId", s.name as sink, d.minute, d.changes
     from (
       select r.ref, r.sink_id, r.minute, r.total - coalesce(
           lag(r.total) over (partition by r.ref, r.sink_id order by r.minute),
           (select b.total from progress b where b.ref = r.ref and b.sink_id = r.sink_id and b.minute < r.minute
            order by b.minute desc limit 1), 0) as changes
       from progress r where r.minute > date_trunc('minute', now()) - $1 * interval '1 minute') d
       join pigeonholes p on p.ref = d.ref left join sinks s on s.id = d.sink_id
     where (d.sink_id = 0 or s.archived_at is null) and ($2::text is null or p.workspace = $2) and d.changes > 0
     order by d.minute, p.workspace, p.pigeonhole_id, s.name`,
    [minutes, workspace],
  );
}
