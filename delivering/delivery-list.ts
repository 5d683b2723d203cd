import type { Ledger } from '../ledger/ledger.js';
import { byOrder } from '../ledger/sql-expressions.js';
import type { DeliveryState } from './read-lanes.js';

/** A delivery of a sink, in any pigeonhole. */
export interface ListedDelivery extends DeliveryState {
  readonly pigeonholeNumber: number;
  readonly workspace: string;
  readonly pigeonholeId: number;
  readonly configuration: number;
}

export const deliveryStateChoices = ['open', 'delivered', 'withheld', 'dead'] as const;
export type ListedState = (typeof deliveryStateChoices)[number];

export interface DeliveryPosition {
  readonly pigeonholeNumber: number;
  readonly sequence: number;
  readonly replay: number;
}

interface DeliveryListRequest {
  readonly sink: string;
  readonly state: ListedState;
  /** The reason of a withheld delivery, the cause of a dead letter; null: any. */
  readonly reason: string | null;
  readonly list: string | null;
  readonly workspace: string | null;
  /** `<workspace>/<id>`; null: all. */
  readonly pigeonhole: string | null;
  readonly after: DeliveryPosition | null;
  readonly limit: number;
}

/** From this number on, deliveries of a lane in a state are found in its order, and not sorted. */
const many = 20_000;

interface Source {
  /** SQL conditions that only one index can serve. */
  readonly where: string;
  /** Order in which the index returns the rows; for an index without an order, one by which they are sorted. */
  readonly order: string;
}

const inLane = 'd.sink_id = s.id and d.pigeonhole_number = p.pigeonhole_number';
const byKey = 'd.sequence desc, d.replay desc';

/** Reads a lane from its newest change on. The condition on the state is one that no partial index can serve. */
function wholeLane(state: string): Source {
  return { where: `${inLane} and d.state || '' = '${state}'`, order: byKey };
}

/** The index of these has no order: sorted by an expression, so that the planner does not read the whole lane by its key. */
function parked(state: string): Source {
  return { where: `${inLane} and d.state = '${state}'`, order: 'd.sequence + 0 desc, d.replay desc' };
}

/** Sources by state: for lanes with few such deliveries, and with many. */
const sources: Readonly<Record<ListedState, { readonly few: Source; readonly many: Source | null }>> = {
  open: {
    few: {
      where: `${byOrder('d', 's.id', 'p.pigeonhole_number')} and d.state in ('waiting', 'retry')`,
      order: byKey,
    },
    many: null,
  },
  delivered: { few: { where: `${inLane} and d.state = 'delivered'`, order: byKey }, many: null },
  withheld: { few: parked('withheld'), many: wholeLane('withheld') },
  dead: { few: parked('dead'), many: wholeLane('dead') },
};

/**
 * Returns the deliveries of a sink in a state: by pigeonhole, and the newest change of each first. Reads only the lanes that
 * have such deliveries, as the kept counts say.
 */
export async function listDeliveries(ledger: Ledger, asked: DeliveryListRequest): Promise<ListedDelivery[]> {
  const { few, many: ofMany } = sources[asked.state];
  const { after } = asked;
  const states = asked.state === 'open' ? ['waiting', 'retry'] : [asked.state];
  const from = ({ where, order }: Source, lanes: string): string =>
    `(select d.sequence, d.replay, d.list, d.key, d.revision, d.state, d.reason, d.detail, d.attempts, d.identity,
        d.configuration, d.due_at as "dueAt", d.updated_at as "updatedAt"
      from deliveries d
      where ${lanes} and ${where} and ($4::text is null or d.reason = $4) and ($5::text is null or d.list = $5)
        -- where the index starts, and the exact position
        and d.sequence <= case when p.pigeonhole_number = $6::int4 then $7::int8 else ${Number.MAX_SAFE_INTEGER} end
        and ($6::int4 is null or p.pigeonhole_number > $6 or (d.sequence, d.replay) < ($7::int8, $8::int4))
      order by ${order} limit $9)`;
  return await ledger.db.query<ListedDelivery>(
    `select p.pigeonhole_number as "pigeonholeNumber", p.workspace, p.pigeonhole_id as "pigeonholeId", d.*
     from sinks s join pigeonholes p on ($2::text is null or p.workspace = $2)
         and ($3::text is null or p.workspace || '/' || p.pigeonhole_id = $3) and p.pigeonhole_number >= coalesce($6::int4, 0)
       cross join lateral (select sum(k.changes) as changes from delivery_counts k
         where k.sink_id = s.id and k.pigeonhole_number = p.pigeonhole_number and k.state = any($10::text[])
           and ($5::text is null or k.list = $5) and ($4::text is null or k.reason = $4)) n
       cross join lateral (${
         ofMany === null
           ? from(few, 'n.changes > 0')
           : `${from(few, `n.changes between 1 and ${many}`)} union all ${from(ofMany, `n.changes > ${many}`)}`
       }) d
     where s.name = $1 and s.archived_at is null
     order by p.pigeonhole_number, d.sequence desc, d.replay desc limit $9`,
    [
      asked.sink,
      asked.workspace,
      asked.pigeonhole,
      asked.reason,
      asked.list,
      after?.pigeonholeNumber ?? null,
      after?.sequence ?? null,
      after?.replay ?? null,
      asked.limit,
      states,
    ],
  );
}
