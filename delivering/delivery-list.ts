import type { Ledger } from '../ledger/ledger.js';
import { byOrder } from '../ledger/sql-expressions.js';

/** A delivery of a sink, in any pigeonhole. */
export interface ListedDelivery {
  readonly pigeonholeNumber: number;
  readonly workspace: string;
  readonly pigeonholeId: number;
  readonly sequence: number;
  readonly replay: number;
  readonly list: string;
  readonly key: string;
  readonly revision: number;
  readonly state: string;
  readonly reason: string | null;
  readonly detail: string | null;
  readonly attempts: number;
  readonly identity: boolean | null;
  readonly configuration: number;
  readonly dueAt: Date | null;
  readonly updatedAt: Date;
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

/** SQL conditions that only one index can serve, by state, and the order in which it returns the rows. */
const sources: Readonly<Record<ListedState, { readonly where: string; readonly order: string }>> = {
  open: {
    where: `${byOrder('d', 's.id', 'p.pigeonhole_number')} and d.state in ('waiting', 'retry')`,
    order: 'd.sequence desc, d.replay desc',
  },
  delivered: {
    where: `d.sink_id = s.id and d.pigeonhole_number = p.pigeonhole_number and d.state = 'delivered'`,
    order: 'd.sequence desc, d.replay desc',
  },
  // The index of these has no order: sorted by an expression, so that the planner does not read the whole lane by its key.
  withheld: {
    where: `d.sink_id = s.id and d.pigeonhole_number = p.pigeonhole_number and d.state = 'withheld'`,
    order: 'd.sequence + 0 desc, d.replay desc',
  },
  dead: {
    where: `d.sink_id = s.id and d.pigeonhole_number = p.pigeonhole_number and d.state = 'dead'`,
    order: 'd.sequence + 0 desc, d.replay desc',
  },
};

/**
 * Returns the deliveries of a sink in a state: by pigeonhole, and the newest change of each first. Reads only the lanes that
 * have such deliveries, as the kept counts say.
 */
export async function listDeliveries(ledger: Ledger, asked: DeliveryListRequest): Promise<ListedDelivery[]> {
  const { where, order } = sources[asked.state];
  const { after } = asked;
  const states = asked.state === 'open' ? ['waiting', 'retry'] : [asked.state];
  return await ledger.db.query<ListedDelivery>(
    `select p.pigeonhole_number as "pigeonholeNumber", p.workspace, p.pigeonhole_id as "pigeonholeId", d.*
     from sinks s join pigeonholes p on ($2::text is null or p.workspace = $2)
         and ($3::text is null or p.workspace || '/' || p.pigeonhole_id = $3) and p.pigeonhole_number >= coalesce($6::int4, 0)
       cross join lateral (
         select d.sequence, d.replay, d.list, d.key, d.revision, d.state, d.reason, d.detail, d.attempts, d.identity,
           d.configuration, d.due_at as "dueAt", d.updated_at as "updatedAt"
         from deliveries d
         where ${where} and ($4::text is null or d.reason = $4) and ($5::text is null or d.list = $5)
           and ($6::int4 is null or p.pigeonhole_number > $6 or (d.sequence, d.replay) < ($7::int8, $8::int4))
         order by ${order} limit $9) d
     where s.name = $1 and s.archived_at is null
       and exists (select 1 from delivery_counts k where k.sink_id = s.id and k.pigeonhole_number = p.pigeonhole_number
         and k.state = any($10::text[]) and k.changes > 0 and ($5::text is null or k.list = $5)
         and ($4::text is null or k.reason = $4))
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
