import type { Queryable } from '../ledger/drivers/database.js';
import type { Ledger } from '../ledger/ledger.js';
import { isLeft } from './erasure-states.js';

/** How far a sink has come in one pigeonhole with what it was told of the people of an erasure. */
export interface ErasingLane {
  readonly sinkId: number;
  readonly sink: string;
  /** Of its configuration. */
  readonly type: string;
  readonly archived: boolean;
  readonly ref: number;
  readonly workspace: string;
  readonly pigeonholeId: number;
  /** Items that it was told of. */
  readonly items: number;
  /** Of these, what came of the change that takes them back. */
  readonly delivered: number;
  readonly withheld: number;
  readonly dead: number;
  /** Still to be sent, or on the way. */
  readonly open: number;
  /** Never looked at, though the lane has passed them: the sink takes this list no more. */
  readonly passedBy: number;
  /** Why some were withheld, or parked, as codes. */
  readonly reasons: readonly string[];
  /** What destinations said of those that were parked; no personal data. */
  readonly details: readonly string[];
}

interface LaneRow extends Omit<ErasingLane, 'reasons' | 'details'> {
  reasons: string[] | null;
  details: string[] | null;
}

/** Every lane that has something to take back, by the name of its sink. */
export async function erasingLanes(ledger: Ledger, erasure: number): Promise<ErasingLane[]> {
  const rows = await ledger.db.query<LaneRow & Record<string, unknown>>(
    `select s.id as "sinkId", s.name as sink, s.type, s.archived_at is not null as archived, e.ref, p.workspace,
       p.pigeonhole_id as "pigeonholeId", count(*)::int as items,
       (count(*) filter (where d.state in ('delivered', 'superseded')))::int as delivered,
       (count(*) filter (where d.state = 'withheld' and i.erased))::int as withheld,
       (count(*) filter (where d.state = 'dead'))::int as dead,
       (count(*) filter (where d.state in ('waiting', 'sending', 'retry')
         or (d.state is null and coalesce(l.watermark, 0) < e.sequence)))::int as open,
       (count(*) filter (where d.state is null and l.watermark >= e.sequence and i.erased))::int as "passedBy",
       array_agg(distinct d.reason) filter (where d.reason is not null
         and (d.state = 'dead' or (d.state = 'withheld' and i.erased))) as reasons,
       array_agg(distinct d.detail) filter (where d.state = 'dead' and d.detail is not null) as details
     from erasing e join sinks s on s.id = e.sink_id join pigeonholes p on p.ref = e.ref
       join items i on i.ref = e.ref and i.list = e.list and i.key = e.key -- of others: what repeated words of theirs
       left join lanes l on l.sink_id = e.sink_id and l.ref = e.ref
       left join deliveries d on d.sink_id = e.sink_id and d.ref = e.ref and d.sequence = e.sequence and d.replay = 0
     where e.erasure = $1
     group by s.id, s.name, s.type, s.archived_at, e.ref, p.workspace, p.pigeonhole_id
     order by s.name, p.workspace, p.pigeonhole_id`,
    [erasure],
  );
  return rows.map(({ reasons, details, ...row }) => ({ ...row, reasons: reasons ?? [], details: details ?? [] }));
}

/** What a sink that keeps files has to take out of those of a pigeonhole: keys by list, and ids of questions. */
export async function erasedOfLane(
  ledger: Ledger,
  { sinkId, ref }: { readonly sinkId: number; readonly ref: number },
): Promise<{ readonly keys: ReadonlyMap<string, ReadonlySet<string>>; readonly questions: ReadonlySet<number> }> {
  const rows = await ledger.db.query<{ list: string; key: string }>(
    `select e.list, e.key from erasing e join items i on i.ref = e.ref and i.list = e.list and i.key = e.key
     where e.sink_id = $1 and e.ref = $2 and i.erased`,
    [sinkId, ref],
  );
  // All that there are: a sink that was never told of a question may have its words from the votes on it.
  const asked = await ledger.db.query<{ key: string }>(
    `select distinct key from items where ref = $1 and list in ('questions', 'qna-questions') and erased`,
    [ref],
  );
  const keys = new Map<string, Set<string>>();
  for (const { list, key } of rows) keys.set(list, (keys.get(list) ?? new Set()).add(key));
  const questions = asked.map(({ key }) => Number(key));
  return { keys, questions: new Set(questions.filter(Number.isSafeInteger)) };
}

/** Nothing of a lane is left to be taken back: what the sink has made of the items is forgotten, but where a person has to see to it. */
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
