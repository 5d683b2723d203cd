import type { Queryable } from '../ledger/drivers/database.js';
import type { Ledger } from '../ledger/ledger.js';
import { type DeletionLimits, itemsToCount, type Loss, whyHeld } from './missing-evidence.js';
import { endHold, holdMissing } from '../ledger/missing.js';
import { deleteItems } from './delete-items.js';
import { raiseAsked } from '../ledger/pigeonholes-asked.js';
import { namesOfSinks } from '../ledger/sinks.js';
import type { PageScope } from '../ledger/items/write-changes.js';

/** Period in which the deletions of a list are added up and compared with its limits. */
const countedForMs = 60 * 60_000;

/** Items that a response or a walk did not show. */
export interface Absence {
  readonly keys: readonly string[];
  /** Instant of the request that proved the absence. */
  readonly at: Date;
}

/**
 * Deletes items whose absence is proved. If the loss may be a mistake of the service (`whyHeld`), stores them as a hold
 * instead, which an operator has to confirm. The items must be in `missing`. Requires the lock on the pigeonhole's row.
 * @returns the number of deleted items
 */
export async function deleteOrHold(
  tx: Queryable,
  scope: PageScope,
  { keys, at }: Absence,
  limits: DeletionLimits,
): Promise<number> {
  if (keys.length === 0) return 0;
  const losses = await lossesOf(tx, scope, limits);
  const own = losses.find(({ list }) => list === scope.list)!;
  if (whyHeld(limits, own, losses) !== null) {
    await hold(tx, scope, keys);
    return 0;
  }
  const deleted = await deleteItems(tx, scope, keys, at);
  await tx.query(
    `insert into recent_deletions (pigeonhole_number, list, since, items) values ($1, $2, clock_timestamp(), $3)
     on conflict (pigeonhole_number, list) do update set
       since = case when recent_deletions.since < clock_timestamp() - $4 * interval '1 millisecond' then excluded.since
         else recent_deletions.since end,
       items = case when recent_deletions.since < clock_timestamp() - $4 * interval '1 millisecond' then excluded.items
         else recent_deletions.items + excluded.items end`,
    [scope.pigeonholeNumber, scope.list, deleted, countedForMs],
  );
  return deleted;
}

/**
 * Returns what the lists of the pigeonhole have lost: items that are missing or held, and items that were deleted in the
 * current hour. Lists without losses are left out. `ofItems` is exact only where it matters (`itemsToCount`). It leaves
 * out items that were created after the loss became evident, because a list that lost everything may fill again.
 */
async function lossesOf(tx: Queryable, { pigeonholeNumber }: PageScope, limits: DeletionLimits): Promise<Loss[]> {
  const lost = await tx.query<{ list: string; lost: number; deleted: number; evidentAt: Date | null }>(
    `select list, sum(lost)::int as lost, sum(deleted)::int as deleted, min(evident_at) as "evidentAt" from (
       select list, count(*) as lost, 0 as deleted, min(evident_at) as evident_at from missing
       where pigeonhole_number = $1 and state in ('open', 'held') group by list
       union all
       select list, items, items, null from recent_deletions
       where pigeonhole_number = $1 and since >= clock_timestamp() - $2 * interval '1 millisecond') as losses
         group by list`,
    [pigeonholeNumber, countedForMs],
  );
  const sizes = await tx.query<{ list: string; items: number }>(
    `select l.list, (select count(*)::int from (select 1 from items i
       where i.pigeonhole_number = $1 and i.list = l.list and i.payload is not null
         and not (i.revision = 1 and exists (select 1 from changes c
           where c.pigeonhole_number = i.pigeonhole_number and c.sequence = i.last_sequence
             and c.found_at >= l.evident_at))
       limit l.max) as counted) as items
     from unnest($2::text[], $3::int4[], $4::timestamptz[]) as l (list, max, evident_at)`,
    [
      pigeonholeNumber,
      lost.map(({ list }) => list),
      lost.map((each) => itemsToCount(limits, each.lost)),
      lost.map(({ evidentAt }) => evidentAt),
    ],
  );
  const sizeOf = new Map(sizes.map(({ list, items }) => [list, items]));
  return lost.map(({ list, deleted, ...each }) => ({ list, lost: each.lost, ofItems: sizeOf.get(list)! + deleted }));
}

async function hold(tx: Queryable, scope: PageScope, keys: readonly string[]): Promise<void> {
  const [added] = await tx.query<{ id: number }>(
    `insert into holds (pigeonhole_number, list, items, of_items)
     select $1, $2, $3, count(*) + coalesce((select items from recent_deletions where pigeonhole_number = $1
       and list = $2 and since >= clock_timestamp() - $4 * interval '1 millisecond'), 0)
     from items where pigeonhole_number = $1 and list = $2 and payload is not null returning id`,
    [scope.pigeonholeNumber, scope.list, keys.length, countedForMs],
  );
  await holdMissing(tx, scope, keys, added!.id);
}

/** A set of deletions that waits for an operator's decision. */
export interface Hold {
  readonly id: number;
  readonly workspace: string;
  readonly pigeonholeId: number;
  readonly list: string;
  readonly foundAt: Date;
  /** Number of items that are still missing, without those that have reappeared. */
  readonly items: number;
  /** Size of the list when the hold was created. */
  readonly ofItems: number;
  /** Number of items by session; `sessionId` is null for items without a session. */
  readonly sessions: readonly { readonly sessionId: number | null; readonly items: number }[];
}

/** Returns the open holds, oldest first. */
export async function openHolds(ledger: Ledger): Promise<Hold[]> {
  const rows = await ledger.db.query<Omit<Hold, 'sessions'> & Hold['sessions'][number]>(
    `select h.id, p.workspace, p.pigeonhole_id as "pigeonholeId", h.list, h.found_at as "foundAt",
       h.of_items as "ofItems", i.session_id as "sessionId", count(m.key)::int as items
     from holds h join pigeonholes p on p.pigeonhole_number = h.pigeonhole_number
       left join missing m on m.pigeonhole_number = h.pigeonhole_number and m.list = h.list and m.state = 'held'
         and m.hold = h.id
       left join items i on i.pigeonhole_number = m.pigeonhole_number and i.list = m.list and i.key = m.key
     where h.decision is null group by h.id, p.pigeonhole_number, i.session_id order by h.id, i.session_id`,
  );
  const holds = new Map<number, Hold>();
  for (const { sessionId, items, ...hold } of rows) {
    const before = holds.get(hold.id) ?? { items: 0, sessions: [] };
    const sessions = [...before.sessions, { sessionId, items }];
    holds.set(hold.id, { ...hold, items: before.items + items, sessions });
  }
  return [...holds.values()].filter(({ items }) => items > 0);
}

/** Returns the sorted keys of a hold. */
export async function heldItems(ledger: Ledger, holdId: number): Promise<string[]> {
  const rows = await ledger.db.query<{ key: string }>(
    `select key from missing where hold = $1 and state = 'held' order by length(key), key`,
    [holdId],
  );
  return rows.map(({ key }) => key);
}

/**
 * Carries out an operator's decision about the items of a hold that are still missing. `confirmed` deletes them, except
 * items that a read has shown since the hold was created. `rejected` keeps them until they reappear and go missing
 * again.
 * @returns the number of items and the sinks to wake; undefined if no such hold is open
 */
export async function decideHold(
  ledger: Ledger,
  holdId: number,
  decision: 'confirmed' | 'rejected',
): Promise<{ items: number; woken: readonly string[] } | undefined> {
  return await ledger.db.transaction(async (tx) => {
    const [place] = await tx.query<PageScope & { readonly foundAt: Date }>(
      `select p.pigeonhole_number as "pigeonholeNumber", h.list, 0 as "streamId", p.workspace,
         p.pigeonhole_id as "pigeonholeId", p.next_sequence as "nextSequence", h.found_at as "foundAt"
       from pigeonholes p join holds h on h.pigeonhole_number = p.pigeonhole_number where h.id = $1
         and h.decision is null for no key update`,
      [holdId],
    );
    if (place === undefined) return undefined;
    await raiseAsked(tx, [place.pigeonholeNumber]);
    await tx.query('update holds set decision = $2, decided_at = clock_timestamp() where id = $1', [holdId, decision]);
    const keys = await endHold(tx, holdId, decision);
    if (decision === 'rejected') return { items: keys.length, woken: [] };
    const items = await deleteItems(tx, place, keys, place.foundAt);
    if (items === 0) return { items, woken: [] };
    const lanes = await tx.query<{ id: number }>('select sink_id as id from lanes where pigeonhole_number = $1', [
      place.pigeonholeNumber,
    ]);
    const sinkIds = lanes.map(({ id }) => id);
    return { items, woken: await namesOfSinks(tx, sinkIds) };
  });
}
