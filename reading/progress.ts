import type { Ledger } from '../ledger/ledger.js';
import type { PigeonholeName } from '../cycles/cycle-results.js';

/** Time for which each minute with changes is kept. Later, the last minute of each ten is. */
const keptHours = 25;
/**
 * Totals of older minutes are deleted, except the newest one, which is subtracted from the total of the first minute
 * that is kept.
 */
const keptDays = 8;

/** Number of changes within one minute. */
export interface MinuteOfChanges {
  /** Start of the minute. */
  readonly minute: Date;
  readonly changes: number;
}

/** SQL for the changes of lane `l` that need no further work. An observing lane has its own position. A lane without a due time has no open delivery. */
const settledNow = `coalesce(l.observed, l.watermark) - case when l.due_at is null then 0 else coalesce((select sum(c.changes)
    from delivery_counts c where c.sink_id = l.sink_id and c.pigeonhole_number = l.pigeonhole_number
      and c.state in ('waiting', 'sending', 'retry')), 0)::int8 end`;

/** SQL for the totals of this minute. `sink_id` 0: changes found. */
const totalsNow = `select pigeonhole_number, 0 as sink_id, date_trunc('minute', now()) as minute,
  next_sequence - 1 as total, null::int8 as settled from pigeonholes
  union all select l.pigeonhole_number, l.sink_id, date_trunc('minute', now()), l.delivered, ${settledNow} from lanes l`;

/**
 * Stores the totals of this minute, with one statement and only for totals that changed. Call it a few times a minute,
 * and before the process ends. Several processes may call it. Changes since the last call count for the minute of this
 * call.
 */
export async function noteProgress(ledger: Ledger): Promise<void> {
  await ledger.db.query(
    `insert into progress (pigeonhole_number, sink_id, minute, total, settled)
     select t.pigeonhole_number, t.sink_id, t.minute, t.total, t.settled from (${totalsNow}) t
       left join lateral (select p.total, p.settled from progress p where p.pigeonhole_number = t.pigeonhole_number
         and p.sink_id = t.sink_id
         order by p.minute desc limit 1) last on true
     where (last.total is distinct from t.total or last.settled is distinct from t.settled)
       and (last.total is not null or t.total > 0 or t.settled > 0)
     order by t.pigeonhole_number, t.sink_id -- without an order, two processes could deadlock
     on conflict (pigeonhole_number, sink_id, minute) do update set total = greatest(progress.total, excluded.total),
       settled = excluded.settled`,
  );
}

/** Deletes minutes that no chart shows. Totals only rise, so that a minute that is left out counts with the next one. */
export async function trimProgress(ledger: Ledger): Promise<void> {
  await ledger.db.query(
    `delete from progress p where p.minute < now() - $1::int4 * interval '1 hour'
       and exists (select 1 from progress n where n.pigeonhole_number = p.pigeonhole_number and n.sink_id = p.sink_id
         and n.minute > p.minute and (n.minute < now() - $2::int4 * interval '1 day'
           or n.minute < now() - $1::int4 * interval '1 hour' and ${tenMinutesOf('n.minute')} = ${tenMinutesOf('p.minute')}))`,
    [keptHours, keptDays],
  );
}

function tenMinutesOf(minute: string): string {
  return `floor(extract(epoch from ${minute}) / 600)`;
}

/** Instant after which minutes count, as an SQL expression. @param minutes their number, or its placeholder */
const startOf = (minutes: string): string => `date_trunc('minute', now()) - ${minutes}::int4 * interval '1 minute'`;

/**
 * SQL for the changes by minute of one total: of pigeonhole `p`, or of lane `l`. Reads the total's minutes by the primary
 * key, and no other.
 * @param of.minutes their number, or its placeholder
 */
const changesOf = ({
  sinkId,
  total,
  minutes = '$1',
}: {
  readonly sinkId: string;
  readonly total: string;
  readonly minutes?: string;
}): string =>
  `select r.minute, r.total - coalesce(lag(r.total) over (order by r.minute),
     (select b.total from progress b where b.pigeonhole_number = p.pigeonhole_number and b.sink_id = ${sinkId}
       and b.minute < r.minute
      order by b.minute desc limit 1), 0) as changes
   from (
     select minute, max(total) as total from (
       select minute, total from progress where pigeonhole_number = p.pigeonhole_number and sink_id = ${sinkId}
         and minute > ${startOf(minutes)}
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

/** The changes that a chart is about: those of a sink, or of a pigeonhole with all its sinks. */
export type ActivityOf =
  | { readonly sink: string; readonly workspace: string | null }
  | { readonly pigeonhole: PigeonholeName };

/** Changes in one step of a chart. */
interface Step {
  /** Start of the step: Unix time in ms. */
  readonly atMs: number;
}

/** Steps with changes, oldest first, up to seven days back. Those before the span of the chart take ten minutes. */
export interface ChangesByStep {
  readonly found: readonly (Step & { readonly changes: number })[];
  readonly sinks: readonly {
    /** Number of changes that were found and are not settled now. */
    readonly waiting: number;
    /** `settled` is negative if changes have to be sent again. */
    readonly steps: readonly (Step & { readonly delivered: number; readonly settled: number })[];
  }[];
}

/** SQL for the start of the step that a minute belongs to, in ms. */
const stepOf = `case when d.minute >= to_timestamp($1::float8 / 1000)
  then $1::float8 + floor((extract(epoch from d.minute) * 1000 - $1::float8) / $2::float8) * $2::float8
  else ${tenMinutesOf('d.minute')} * 600000 end`;

/**
 * Returns the changes by step, for a chart and for the age of what waits.
 * @param span.fromMs start of the chart: Unix time in ms
 */
export async function changesByStep(
  ledger: Ledger,
  of: ActivityOf,
  { fromMs, stepMs }: { readonly fromMs: number; readonly stepMs: number },
): Promise<ChangesByStep> {
  const [sink, workspace, id] =
    'sink' in of ? [of.sink, of.workspace, null] : [null, of.pigeonhole.workspace, of.pigeonhole.pigeonholeId];
  const chosen = `s.archived_at is null and ($3::text is null or s.name = $3)
    and ($4::text is null or p.workspace = $4) and ($5::int8 is null or p.pigeonhole_id = $5)`;
  const [found, lanes, waiting] = await Promise.all([
    ledger.db.query<{ atMs: number; changes: number }>(
      `select ${stepOf} as "atMs", sum(d.changes)::int8 as changes
       from pigeonholes p cross join lateral (${changesOf({ sinkId: '0', total: 'p.next_sequence - 1', minutes: `${keptMinutes}` })}) d
       where d.changes > 0 and ($4::text is null or p.workspace = $4) and ($5::int8 is null or p.pigeonhole_id = $5)
         and ($3::text is null or exists (select 1 from lanes l join sinks s on s.id = l.sink_id
           where l.pigeonhole_number = p.pigeonhole_number and s.name = $3))
       group by 1 order by 1`,
      [fromMs, stepMs, sink, workspace, id],
    ),
    ledger.db.query<{ sink: string; atMs: number; delivered: number; settled: number }>(
      `select s.name as sink, ${stepOf} as "atMs", sum(d.delivered)::int8 as delivered, sum(d.settled)::int8 as settled
       from sinks s join lanes l on l.sink_id = s.id join pigeonholes p on p.pigeonhole_number = l.pigeonhole_number
         cross join lateral (${laneChanges}) d
       where ${chosen} and (d.delivered <> 0 or d.settled <> 0)
       group by 1, 2 order by 2, 1`,
      [fromMs, stepMs, sink, workspace, id],
    ),
    ledger.db.query<{ sink: string; waiting: number }>(
      `select s.name as sink, sum(p.next_sequence - 1 - (${settledNow}))::int8 as waiting
       from sinks s join lanes l on l.sink_id = s.id join pigeonholes p on p.pigeonhole_number = l.pigeonhole_number
       where s.archived_at is null and ($1::text is null or s.name = $1) and ($2::text is null or p.workspace = $2)
         and ($3::int8 is null or p.pigeonhole_id = $3) group by 1`,
      [sink, workspace, id],
    ),
  ]);
  return {
    found,
    sinks: waiting.map((each) => ({
      waiting: each.waiting,
      steps: lanes.filter((lane) => lane.sink === each.sink),
    })),
  };
}

const keptMinutes = 7 * 24 * 60;
const keptSince = `now() - interval '7 days'`;

/** SQL for the changes by minute of lane `l`. Settled changes can become fewer, so that the present number wins. */
const laneChanges = `select r.minute, r.total - coalesce(lag(r.total) over w, base.total, 0) as delivered,
    r.settled - coalesce(lag(r.settled) over w, base.settled, 0) as settled
  from (
    select minute, max(total) as total, (array_agg(settled order by is_present desc))[1] as settled from (
      select minute, total, settled, false as is_present from progress
      where pigeonhole_number = l.pigeonhole_number and sink_id = l.sink_id and minute > ${keptSince}
      union all select date_trunc('minute', now()), l.delivered, ${settledNow}, true) known
    group by minute) r
  left join lateral (select total, settled from progress b
    where b.pigeonhole_number = l.pigeonhole_number and b.sink_id = l.sink_id and b.minute <= ${keptSince}
    order by b.minute desc limit 1) base on true
  window w as (order by r.minute)`;
