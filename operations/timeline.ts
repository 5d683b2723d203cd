import { questionLists } from '../base/lists.js';
import type { Ledger } from '../ledger/ledger.js';
import { consentBehind } from '../delivering/candidates.js';

/** An item as the ledger stores it, without its payload. */
export interface KnownItem {
  readonly pigeonholeNumber: number;
  readonly workspace: string;
  readonly pigeonholeId: number;
  readonly sessionId: number | null;
  readonly revision: number;
  readonly deleted: boolean;
  readonly visibility: string | null;
  /** Consent of the attendee, or of the item's author; null: not known, or not shown. */
  readonly consent: string | null;
  readonly lastSequence: number;
  /** Instant of the request that last changed the row. */
  readonly seenAt: Date;
  /** Last poll of its stream. */
  readonly polledAt: Date | null;
  readonly sweptAt: Date | null;
  readonly failure: string | null;
  /** Instant at which a walk did not find it; pigeonpost is checking whether it was deleted. Null: it was not missing. */
  readonly missingSince: Date | null;
}

export interface KnownChange {
  readonly sequence: number;
  readonly revision: number;
  readonly kind: string;
  readonly foundAt: Date;
  readonly visibility: string | null;
  readonly requestId: string | null;
  readonly readAs: string | null;
}

export interface KnownDelivery {
  readonly sequence: number;
  readonly sink: string;
  readonly state: string;
  readonly reason: string | null;
  readonly detail: string | null;
  readonly attempts: number;
  readonly dueAt: Date | null;
  readonly identity: boolean | null;
  readonly configuration: number;
  readonly updatedAt: Date;
  readonly replay: string | null;
}

/** Progress of a sink in the item's pigeonhole. */
export interface KnownLane {
  readonly sink: string;
  readonly watermark: number;
  /** Lists that the sink accepts under the configuration in force; empty: not known yet. */
  readonly lists: readonly string[];
  readonly failure: string | null;
  /** The sink observes and is not approved. */
  readonly observes: boolean;
}

/** Returns the items with this list and key: at most one, unless several pigeonholes have the key. */
export async function findItems(
  ledger: Ledger,
  { list, key, pigeonhole }: { list: string; key: string; pigeonhole: string | null },
): Promise<KnownItem[]> {
  return await ledger.db.query<KnownItem>(
    `select i.pigeonhole_number as "pigeonholeNumber", p.workspace, p.pigeonhole_id as "pigeonholeId",
       i.session_id as "sessionId", i.revision, i.payload is null as deleted, i.visibility,
       case when i.list = 'attendees' or i.visibility = 'named' then ${consentBehind} end as consent,
       i.last_sequence as "lastSequence", i.seen_at as "seenAt", s.polled_at as "polledAt", s.swept_at as "sweptAt",
       s.failure, m.since as "missingSince"
     from pigeonholes p
       cross join lateral (select * from items where pigeonhole_number = p.pigeonhole_number and list = $1 and key = $2
         limit 1) i
       left join streams s on s.id = i.stream_id
       left join items a on a.pigeonhole_number = i.pigeonhole_number and a.list = 'attendees'
         and a.key = i.attendee_id::text
       left join missing m on m.pigeonhole_number = i.pigeonhole_number and m.list = i.list and m.key = i.key
     where ($3::text is null or p.workspace || '/' || p.pigeonhole_id = $3
       or p.pigeonhole_id::text = $3)
     order by p.workspace, p.pigeonhole_id`,
    [list, key, pigeonhole],
  );
}

/** Returns everything that the ledger knows about an item's past, oldest first. */
export async function timelineOf(
  ledger: Ledger,
  { pigeonholeNumber, lastSequence }: Pick<KnownItem, 'pigeonholeNumber' | 'lastSequence'>,
): Promise<{ changes: KnownChange[]; deliveries: KnownDelivery[]; lanes: KnownLane[] }> {
  const changes = await ledger.db.query<KnownChange>(
    `with recursive own (sequence) as (
       select $2::int8
       union all
       select c.previous_sequence from own o cross join lateral (select previous_sequence from changes
         where pigeonhole_number = $1 and sequence = o.sequence and previous_sequence is not null limit 1) c)
     select c.sequence, c.revision, c.kind, c.found_at as "foundAt", c.visibility, c.request_id as "requestId",
       c.read_as as "readAs"
     from own o cross join lateral (select * from changes where pigeonhole_number = $1 and sequence = o.sequence
       limit 1) c
     order by c.sequence`,
    [pigeonholeNumber, lastSequence],
  );
  const deliveries = await ledger.db.query<KnownDelivery>(
    `select d.sequence, s.name as sink, d.state, d.reason, d.detail, d.attempts, d.due_at as "dueAt", d.identity,
       d.configuration, d.updated_at as "updatedAt", r.id as replay
     from unnest($2::int8[]) as n (sequence) cross join sinks s
       cross join lateral (select * from deliveries where sink_id = s.id and pigeonhole_number = $1
         and sequence = n.sequence
         offset 0) d
       left join replays r on r.number = d.replay
     order by d.sequence, s.name, d.replay`,
    [pigeonholeNumber, changes.map(({ sequence }) => sequence)],
  );
  const lanes = await ledger.db.query<Omit<KnownLane, 'lists'> & { lists: string }>(
    `select s.name as sink, l.watermark, l.lists, l.failure,
       l.observed is not null and not exists (select 1 from approvals a where a.sink_id = s.id) as observes
     from lanes l join sinks s on s.id = l.sink_id
     where l.pigeonhole_number = $1 and s.archived_at is null order by s.name`,
    [pigeonholeNumber],
  );
  return {
    changes,
    deliveries,
    lanes: lanes.map(({ lists, ...lane }) => ({ ...lane, lists: lists.split(' ').filter(Boolean) })),
  };
}

/** The same question in the other list of questions, and the sinks that received it there. */
export interface KnownTwin {
  readonly list: string;
  readonly sinks: readonly string[];
}

/** Returns the same question in the other list of questions; null if the item is no question or stands alone. */
export async function twinOf(
  ledger: Ledger,
  { pigeonholeNumber, list, key }: { readonly pigeonholeNumber: number; readonly list: string; readonly key: string },
): Promise<KnownTwin | null> {
  if (!questionLists.has(list)) return null;
  const [twin] = await ledger.db.query<{ list: string; sinks: string | null }>(
    `select i.list, (select string_agg(distinct s.name, ' ') from deliveries d join sinks s on s.id = d.sink_id
         where d.pigeonhole_number = i.pigeonhole_number and d.list = i.list and d.key = i.key
           and d.state = 'delivered') as sinks
     from items i where i.pigeonhole_number = $1 and i.key = $2 and i.list = any($3::text[]) and i.list <> $4`,
    [pigeonholeNumber, key, [...questionLists], list],
  );
  return twin === undefined ? null : { list: twin.list, sinks: twin.sinks?.split(' ') ?? [] };
}
