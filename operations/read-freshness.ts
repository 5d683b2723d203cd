import type { Ledger } from '../ledger/ledger.js';
import { type CadenceGroup, type ListReading, shortestGraceMs } from './freshness.js';

/** What the ledger knows about the freshness of one pigeonhole. */
export interface FreshnessFacts {
  readonly groups: CadenceGroup[];
  /** Every list that may be late. */
  readonly maybeLate: ListReading[];
}

/** Facts about all pigeonholes, with the instant at which the database took them. */
export interface AllFreshness {
  readonly at: Date;
  /** By the pigeonhole's `workspace/id`. */
  readonly byPlace: ReadonlyMap<string, FreshnessFacts>;
}

type OfPigeonhole = Record<string, unknown> & { readonly workspace: string; readonly pigeonholeId: number };
type GroupRow = CadenceGroup & OfPigeonhole & { readonly at: Date };
type LateRow = ListReading & OfPigeonhole;

/** Reads a group for each reason of each pigeonhole, and only those lists one by one that may be late. */
export async function readFreshness(ledger: Ledger): Promise<AllFreshness> {
  const [groups, late] = await Promise.all([
    ledger.db.query<GroupRow>(
      `select p.workspace, p.pigeonhole_id as "pigeonholeId", s.every_reason as reason, count(*)::int as lists,
         min(s.every_ms) as "everyMs", max(s.every_ms) as "longestEveryMs", max(s.wanted_ms) as "wantedMs",
         min(s.polled_at) as "readAt", min(s.due_at) as "nextAt", clock_timestamp() as at
       from streams s join pigeonholes p on p.ref = s.ref
       where s.wanted and s.gone_at is null group by p.ref, s.every_reason order by p.ref, min(s.every_ms) nulls first`,
    ),
    ledger.db.query<LateRow>(
      `select p.workspace, p.pigeonhole_id as "pigeonholeId", s.list, nullif(s.session_id, 0) as "sessionId",
         s.every_reason as reason, s.every_ms as "everyMs", s.polled_at as "readAt", s.due_at as "dueAt"
       from streams s join pigeonholes p on p.ref = s.ref
       where s.wanted and s.gone_at is null
         and coalesce(s.polled_at + s.every_ms * interval '1 millisecond', s.due_at)
           < clock_timestamp() - $1 * interval '1 millisecond'
       order by p.ref, s.polled_at nulls first, s.id`,
      [shortestGraceMs],
    ),
  ]);
  const byPlace = new Map<string, FreshnessFacts>();
  const factsOf = ({ workspace, pigeonholeId }: { workspace: string; pigeonholeId: number }): FreshnessFacts => {
    const name = `${workspace}/${pigeonholeId}`;
    const known = byPlace.get(name) ?? { groups: [], maybeLate: [] };
    byPlace.set(name, known);
    return known;
  };
  for (const { at: _at, workspace, pigeonholeId, ...group } of groups)
    factsOf({ workspace, pigeonholeId }).groups.push(group);
  for (const { workspace, pigeonholeId, ...list } of late) factsOf({ workspace, pigeonholeId }).maybeLate.push(list);
  return { at: groups[0]?.at ?? new Date(), byPlace };
}
