import type { Queryable } from '../ledger/drivers/database.js';
import type { Ledger } from '../ledger/ledger.js';
import { type DeletionLimits, isHeld } from '../ledger/missing-evidence.js';
import { deleteItems } from './delete-items.js';
import { wakeSinks } from '../ledger/sinks.js';
import type { PageScope } from '../ledger/write-changes.js';

/** Period in which the deletions of a list are added up and compared with its limits. */
const countedForMs = 60 * 60_000;

/** Items that a response or a walk did not show. */
export interface Absence {
  readonly keys: readonly string[];
  /** Instant of the request that proved the absence. */
  readonly at: Date;
}

/**
 * Deletes items whose absence is proved. If the items are too large a part of the list, stores them as a hold instead,
 * which an operator has to confirm. Requires the lock on the pigeonhole's row.
 * @returns the number of deleted items
 */
export async function deleteOrHold(
  tx: Queryable,
  scope: PageScope,
  { keys, at }: Absence,
  limits: DeletionLimits,
): Promise<number> {
  if (keys.length === 0) return 0;
  const before = await recentDeletions(tx, scope);
  const held = await heldKeys(tx, scope);
  const items = before + held + keys.length;
  // The size of the list matters only if the deletions exceed the limit for items.
  if (items > limits.holdAbove.items) {
    const [row] = await tx.query<{ n: number }>(
      'select count(*)::int as n from items where ref = $1 and list = $2 and payload is not null',
      [scope.ref, scope.list],
    );
    const ofItems = row!.n + before;
    if (isHeld(limits, items, ofItems)) {
      await hold(tx, scope, keys, ofItems);
      return 0;
    }
  }
  const deleted = await deleteItems(tx, scope, keys, at);
  await tx.query(
    `insert into recent_deletions (ref, list, since, items) values ($1, $2, clock_timestamp(), $3)
     on conflict (ref, list) do update set
       since = case when recent_deletions.since < clock_timestamp() - $4 * interval '1 millisecond' then excluded.since
         else recent_deletions.since end,
       items = case when recent_deletions.since < clock_timestamp() - $4 * interval '1 millisecond' then excluded.items
         else recent_deletions.items + excluded.items end`,
    [scope.ref, scope.list, deleted, countedForMs],
  );
  return deleted;
}

async function recentDeletions(tx: Queryable, scope: PageScope): Promise<number> {
  const [row] = await tx.query<{ items: number }>(
    `select items from recent_deletions
     where ref = $1 and list = $2 and since >= clock_timestamp() - $3 * interval '1 millisecond'`,
    [scope.ref, scope.list, countedForMs],
  );
  return row?.items ?? 0;
}

async function heldKeys(tx: Queryable, scope: PageScope): Promise<number> {
  const [row] = await tx.query<{ n: number }>(
    `select count(*)::int as n from missing where ref = $1 and list = $2 and state = 'held'`,
    [scope.ref, scope.list],
  );
  return row!.n;
}

async function hold(tx: Queryable, scope: PageScope, keys: readonly string[], ofItems: number): Promise<void> {
  await tx.query(
    `with added as (insert into holds (ref, list, items, of_items) values ($1, $2, $3, $4) returning id)
     update missing m set state = 'held', hold = added.id from added
     where m.ref = $1 and m.list = $2 and m.key = any($5::text[])`,
    [scope.ref, scope.list, keys.length, ofItems, keys],
  );
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
     from holds h join pigeonholes p on p.ref = h.ref
       left join missing m on m.ref = h.ref and m.list = h.list and m.state = 'held' and m.hold = h.id
       left join items i on i.ref = m.ref and i.list = m.list and i.key = m.key
     where h.decision is null group by h.id, p.ref, i.session_id order by h.id, i.session_id`,
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
      `select p.ref, h.list, 0 as "streamId", p.workspace, p.pigeonhole_id as "pigeonholeId",
         p.next_sequence as "nextSequence", h.found_at as "foundAt"
       from pigeonholes p join holds h on h.ref = p.ref where h.id = $1 and h.decision is null for no key update`,
      [holdId],
    );
    if (place === undefined) return undefined;
    await tx.query('update holds set decision = $2, decided_at = clock_timestamp() where id = $1', [holdId, decision]);
    const rows = await tx.query<{ key: string }>(
      decision === 'rejected'
        ? `update missing set state = 'kept' where hold = $1 and state = 'held' returning key`
        : `delete from missing where hold = $1 and state = 'held' returning key`,
      [holdId],
    );
    const keys = rows.map(({ key }) => key);
    if (decision === 'rejected') return { items: keys.length, woken: [] };
    const items = await deleteItems(tx, place, keys, place.foundAt);
    if (items === 0) return { items, woken: [] };
    const lanes = await tx.query<{ id: number }>('select sink_id as id from lanes where ref = $1', [place.ref]);
    const sinkIds = lanes.map(({ id }) => id);
    return { items, woken: await wakeSinks(tx, sinkIds) };
  });
}
