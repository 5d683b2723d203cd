import type { Queryable } from '../ledger/drivers/database.js';
import type { Ledger } from '../ledger/ledger.js';
import { isLeft } from './erasure-states.js';

/** The progress of one sink in removing the items of an erasure in one pigeonhole. */
export interface ErasingLane {
  readonly sinkId: number;
  readonly sink: string;
  /** The type in its configuration. */
  readonly type: string;
  readonly archived: boolean;
  readonly ref: number;
  readonly workspace: string;
  readonly pigeonholeId: number;
  /** Number of items that the sink has to remove, because it received them. The numbers below are parts of it. */
  readonly items: number;
  /** Items whose removal was delivered or superseded. */
  readonly delivered: number;
  readonly withheld: number;
  readonly dead: number;
  /** Items whose removal is waiting or being sent. */
  readonly open: number;
  /** Items whose removal the lane has skipped, because the sink no longer receives the list. */
  readonly skipped: number;
  /** Reason codes of withheld removals and dead letters. */
  readonly reasons: readonly string[];
  /** Responses of destinations to the dead letters; no personal data. */
  readonly details: readonly string[];
}

interface LaneRow extends Omit<ErasingLane, 'reasons' | 'details'> {
  reasons: string[] | null;
  details: string[] | null;
}

/** Returns the lanes whose sinks received items of an erasure, by the name of the sink. */
export async function erasingLanes(ledger: Ledger, erasure: number): Promise<ErasingLane[]> {
  const rows = await ledger.db.query<LaneRow>(
    `select s.id as "sinkId", s.name as sink, s.type, s.archived_at is not null as archived, e.ref, p.workspace,
       p.pigeonhole_id as "pigeonholeId", count(*)::int as items,
       (count(*) filter (where d.state in ('delivered', 'superseded')))::int as delivered,
       (count(*) filter (where d.state = 'withheld' and i.erased))::int as withheld,
       (count(*) filter (where d.state = 'dead'))::int as dead,
       (count(*) filter (where d.state in ('waiting', 'sending', 'retry')
         or (d.state is null and coalesce(l.watermark, 0) < e.sequence)))::int as open,
       (count(*) filter (where d.state is null and l.watermark >= e.sequence and i.erased))::int as "skipped",
       array_agg(distinct d.reason) filter (where d.reason is not null
         and (d.state = 'dead' or (d.state = 'withheld' and i.erased))) as reasons,
       array_agg(distinct d.detail) filter (where d.state = 'dead' and d.detail is not null) as details
     from erasing e join sinks s on s.id = e.sink_id join pigeonholes p on p.ref = e.ref
       join items i on i.ref = e.ref and i.list = e.list and i.key = e.key -- includes other people's items that repeated the text of a question
       left join lanes l on l.sink_id = e.sink_id and l.ref = e.ref
       left join deliveries d on d.sink_id = e.sink_id and d.ref = e.ref and d.sequence = e.sequence and d.replay = 0
     where e.erasure = $1
     group by s.id, s.name, s.type, s.archived_at, e.ref, p.workspace, p.pigeonhole_id
     order by s.name, p.workspace, p.pigeonhole_id`,
    [erasure],
  );
  return rows.map(({ reasons, details, ...row }) => ({ ...row, reasons: reasons ?? [], details: details ?? [] }));
}

/**
 * Returns the data that a sink has to remove from its files of a pigeonhole: item keys by list, and ids of questions.
 */
export async function erasedOfLane(
  ledger: Ledger,
  { sinkId, ref }: { readonly sinkId: number; readonly ref: number },
): Promise<{ readonly keys: ReadonlyMap<string, ReadonlySet<string>>; readonly questions: ReadonlySet<number> }> {
  const rows = await ledger.db.query<{ list: string; key: string }>(
    `select e.list, e.key from erasing e join items i on i.ref = e.ref and i.list = e.list and i.key = e.key
     where e.sink_id = $1 and e.ref = $2 and i.erased`,
    [sinkId, ref],
  );
  // All erased questions of the pigeonhole, because a sink that never received a question may have received its text in
  // the votes on it.
  const erasedQuestions = await ledger.db.query<{ key: string }>(
    `select distinct key from items where ref = $1 and list in ('questions', 'qna-questions') and erased`,
    [ref],
  );
  const keys = new Map<string, Set<string>>();
  for (const { list, key } of rows) keys.set(list, (keys.get(list) ?? new Set()).add(key));
  const questions = erasedQuestions.map(({ key }) => Number(key));
  return { keys, questions: new Set(questions.filter(Number.isSafeInteger)) };
}

/**
 * Ends the removal in a lane. Deletes the stored ids of the sink's objects, except those of items that an operator
 * still has to remove.
 */
export async function settleErasingLane(
  tx: Queryable,
  { sinkId, ref, erasure }: { readonly sinkId: number; readonly ref: number; readonly erasure: number },
): Promise<void> {
  await tx.query(
    `delete from sink_objects o using erasing e
     where e.sink_id = $1 and e.ref = $2 and e.erasure = $3 and not ${isLeft('e')}
       and exists (select 1 from items i where i.ref = e.ref and i.list = e.list and i.key = e.key and i.erased)
       and o.sink_id = e.sink_id and o.ref = e.ref and o.list = e.list and o.key = e.key`,
    [sinkId, ref, erasure],
  );
}
