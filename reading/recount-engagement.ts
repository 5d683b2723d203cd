import type { Queryable } from '../ledger/drivers/database.js';
import {
  countedLists,
  engagementRule,
  promptLists,
  promptOf,
  toEngagementItem,
  countEngagement,
} from './engagement.js';
import { engagementList } from '../base/lists.js';
import type { Ledger } from '../ledger/ledger.js';
import { readableJson } from '../ledger/sql-expressions.js';
import { readingRules } from '../ledger/item-form.js';
import { lockPlace } from '../ledger/lock-order.js';
import { type PageWrite, writeChanges } from '../ledger/items/write-changes.js';
import type { SeenItem } from '../ledger/seen-item.js';
import { deleteItems } from './delete-items.js';
import { compareItems } from '../ledger/items/compare-items.js';

/** Maximum number of changes, and of attendees, in one transaction. */
const changesAtOnce = 200;
const peopleAtOnce = 200;
/** Maximum number of changes that one statement searches for changes of the counted lists. */
const sequencesAtOnce = 5000;
/**
 * If this number of changes follows the stored position and none is of a counted list, the position moves past them, so
 * that later searches skip them.
 */
const farBehind = 1000;
/**
 * Minimum interval between two passes over everyone if their cause is a new poll or question, which changes every
 * attendee's row.
 */
const offeredEveryMs = 10 * 60_000;

export interface Recount {
  /** True if more attendees have to be counted. */
  readonly more: boolean;
  /** Names of the sinks to wake. */
  readonly woken: readonly string[];
}

/**
 * Recounts the engagement of the attendees whose items have changed since the last call. If no item has changed,
 * recounts the next attendees in a pass over everyone. Stores the differences, and a change for each, in one
 * transaction. Safe to run twice, also concurrently: the pigeonhole's row is locked, and the counts come from the items
 * stored at that moment.
 *
 * A pass over everyone is due in three cases: an item has become anonymous, so that its attendee is no longer known;
 * the counting rule has changed; there are new polls or questions (then at most every 10 min).
 * @param sinks names of the sinks that want the list
 */
export async function recountEngagement(
  ledger: Ledger,
  pigeonholeNumber: number,
  sinks: readonly string[],
): Promise<Recount> {
  if (!(await hasWork(ledger, pigeonholeNumber))) return { more: false, woken: [] };
  return await ledger.db.transaction(async (tx) => {
    const place = await lockPlace(tx, pigeonholeNumber);
    if (place === undefined) return { more: false, woken: [] };
    await tx.query(
      `insert into engagement_counts (pigeonhole_number, rule) values ($1, $2) on conflict (pigeonhole_number)
         do nothing`,
      [pigeonholeNumber, engagementRule],
    );
    const scope = { ...place, list: engagementList, streamId: 0 }; // a computed list is not read from the service, so it has no stream
    const end = place.nextSequence - 1;
    const news = await changesToCount(tx, pigeonholeNumber, end);
    const until = news.rows.length < changesAtOnce ? news.end : news.rows.at(-1)!.sequence;
    const isCaughtUp = until === end;
    const hasNewPrompts = await notePrompts(tx, pigeonholeNumber, news.position, until);
    await storePosition(tx, pigeonholeNumber, until, {
      everyone: news.rows.some(turnedAnonymous),
      soon: hasNewPrompts,
    });
    const shown = news.rows.flatMap((row) => [row.attendeeId ?? undefined, attendeeBefore(row)]);
    const touched = [...new Set(shown.filter((id) => id !== undefined))];
    const people = news.rows.length > 0 || !isCaughtUp ? touched : await nextOfPass(tx, pigeonholeNumber);
    const changed = await storeCounts({ ledger, tx, scope }, people);
    return { more: await hasMore(tx, pigeonholeNumber, isCaughtUp), woken: changed ? sinks : [] };
  });
}

/** Whether there is anything to count. Runs in every cycle, so it locks and writes nothing. */
async function hasWork(ledger: Ledger, pigeonholeNumber: number): Promise<boolean> {
  const [row] = await ledger.db.query<{ work: boolean }>(
    `select coalesce(e.rule <> $3 or e.after_attendee is not null or e.pass_due_at <= now()
         or p.next_sequence - e.position > ${farBehind}
         or exists (select 1 from changes c
           where c.pigeonhole_number = p.pigeonhole_number and c.sequence > e.position
             and c.list = any($2::text[])), true) as work
     from pigeonholes p left join engagement_counts e on e.pigeonhole_number = p.pigeonhole_number
     where p.pigeonhole_number = $1`,
    [pigeonholeNumber, countedLists, engagementRule],
  );
  return row?.work ?? false;
}

interface ChangeRow {
  sequence: number;
  /** The item's attendee if the identity is visible, or was visible before the item was deleted. */
  attendeeId: number | null;
  shown: boolean;
  shownBefore: boolean;
  /** The item before an update, as canonical JSON; null if it showed nobody or is no longer stored. */
  before: string | null;
}

/**
 * Returns the next changes of counted lists. `lateral` looks each row up in an index even if tables lack statistics.
 */
async function changesToCount(
  tx: Queryable,
  pigeonholeNumber: number,
  last: number,
): Promise<{ position: number; end: number; rows: ChangeRow[] }> {
  const [state] = await tx.query<{ position: number }>(
    'select position from engagement_counts where pigeonhole_number = $1',
    [pigeonholeNumber],
  );
  const position = state!.position;
  const end = Math.min(last, position + sequencesAtOnce);
  const rows = await tx.query<ChangeRow>(
    `select c.sequence, case when i.visibility = 'named' then i.attendee_id end as "attendeeId",
       i.visibility = 'named' as shown, coalesce(b.visibility = 'named', false) as "shownBefore",
       case when c.kind = 'updated' and b.visibility = 'named' then b.snapshot end as before
     from changes c
       cross join lateral (select * from items where pigeonhole_number = c.pigeonhole_number and list = c.list
         and key = c.key limit 1) i
       left join lateral (select visibility, snapshot from changes
         where pigeonhole_number = c.pigeonhole_number and sequence = c.previous_sequence limit 1) b on true
     where c.pigeonhole_number = $1 and c.sequence > $2 and c.sequence <= $4 and c.list = any($3::text[])
     order by c.sequence limit ${changesAtOnce}`,
    [pigeonholeNumber, position, countedLists, end],
  );
  return { position, end, rows };
}

/**
 * Returns the attendee whom an item showed before an update. The service may attribute an item to another attendee, for
 * example when it merges two attendees. The count of the first one is then too high.
 */
function attendeeBefore({ before }: ChangeRow): number | undefined {
  if (before === null) return undefined;
  const { attendeeId, attendee } = JSON.parse(before) as { attendeeId?: unknown; attendee?: { id?: unknown } | null };
  const id = attendeeId ?? attendee?.id;
  return typeof id === 'number' && Number.isSafeInteger(id) ? id : undefined;
}

/**
 * Whether an item has become anonymous. Its attendee is no longer known, so only a pass over everyone corrects the
 * count.
 */
function turnedAnonymous({ shown, shownBefore }: ChangeRow): boolean {
  return shownBefore && !shown;
}

/** Stores the new polls and questions among the next changes. @returns whether there is one */
async function notePrompts(tx: Queryable, pigeonholeNumber: number, after: number, until: number): Promise<boolean> {
  const added = await tx.query(
    `insert into engagement_prompts (pigeonhole_number, session_id, prompt)
     select distinct i.pigeonhole_number, i.session_id, ${promptOf('r.payload')}
     from changes c
       cross join lateral (select * from items where pigeonhole_number = c.pigeonhole_number and list = c.list
         and key = c.key limit 1) i
       cross join lateral (select ${readableJson('i.payload')} as payload) r
     where c.pigeonhole_number = $1 and c.sequence > $2 and c.sequence <= $3 and c.list = any($4::text[])
       and i.payload is not null and i.session_id is not null and ${promptOf('r.payload')} is not null
     on conflict do nothing returning 1 as added`,
    [pigeonholeNumber, after, until, promptLists],
  );
  return added.length > 0;
}

/** Stores the position in the changes, and when the next pass over everyone is due. */
async function storePosition(
  tx: Queryable,
  pigeonholeNumber: number,
  position: number,
  due: { readonly everyone: boolean; readonly soon: boolean },
): Promise<void> {
  await tx.query(
    `update engagement_counts set position = $2, rule = $3,
       pass_due_at = case when $4 or rule <> $3 then now()
         when $5 then least(pass_due_at, coalesce(pass_began_at + $6 * interval '1 millisecond', now()))
         else pass_due_at end
     where pigeonhole_number = $1`,
    [pigeonholeNumber, position, engagementRule, due.everyone, due.soon, offeredEveryMs],
  );
}

/**
 * Returns the next attendees of the pass in progress, or of one that is due now. A pass covers everyone who has items.
 */
async function nextOfPass(tx: Queryable, pigeonholeNumber: number): Promise<number[]> {
  const [started] = await tx.query<{ after_attendee: number }>(
    `update engagement_counts set after_attendee = 0, pass_began_at = now(), pass_due_at = null
     where pigeonhole_number = $1 and pass_due_at <= now() returning after_attendee`,
    [pigeonholeNumber],
  );
  const [state] = await tx.query<{ after_attendee: number | null }>(
    'select after_attendee from engagement_counts where pigeonhole_number = $1',
    [pigeonholeNumber],
  );
  const after = started?.after_attendee ?? state!.after_attendee;
  if (after === null) return [];
  const people = await tx.query<{ attendeeId: number }>(
    `with recursive people (attendee_id, n) as (
       select $2::int8, 0
       union all
       select i.attendee_id, p.n + 1 from people p cross join lateral (select attendee_id from items
         where pigeonhole_number = $1 and attendee_id > p.attendee_id and visibility = 'named' and list <> 'attendees'
         order by attendee_id limit 1) i
       where p.n < ${peopleAtOnce})
     select attendee_id as "attendeeId" from people where n > 0 order by n`,
    [pigeonholeNumber, after],
  );
  await tx.query('update engagement_counts set after_attendee = $2 where pigeonhole_number = $1', [
    pigeonholeNumber,
    people.length < peopleAtOnce ? null : people.at(-1)!.attendeeId,
  ]);
  return people.map(({ attendeeId }) => attendeeId);
}

/**
 * Counts the items of these attendees and stores the counts. Keeps the counts of an attendee of whom retention has
 * removed the content of a counted item, because the polls that they answered can no longer be counted.
 * @returns whether anything changed
 */
async function storeCounts(page: PageWrite, attendeeIds: readonly number[]): Promise<boolean> {
  if (attendeeIds.length === 0) return false;
  const { ledger, tx, scope } = page;
  const rows = await tx.query<{ id: number }>(
    `select n.id from unnest($2::int8[]) as n (id) where (select true from items where pigeonhole_number = $1
       and attendee_id = n.id and visibility = 'named' and expired and list = any($3::text[]) limit 1) is null`,
    [scope.pigeonholeNumber, attendeeIds, countedLists],
  );
  const people = rows.map(({ id }) => id);
  if (people.length === 0) return false;
  const items = (await countEngagement(tx, scope.pigeonholeNumber, people)).map((each) =>
    toEngagementItem(ledger.hash, each),
  );
  const stored = await tx.query<StoredRow>(
    `select i.key, i.seen_at as "seenAt", clock_timestamp() as now, i.payload is null as gone
     from unnest($3::int8[]) as n (attendee_id) cross join lateral (select * from items
       where pigeonhole_number = $1 and attendee_id = n.attendee_id and visibility = 'named' and list = $2 offset 0) i`,
    [scope.pigeonholeNumber, scope.list, people],
  );
  return await storeDerived(page, { items, stored, rules: readingRules([]) });
}

async function hasMore(tx: Queryable, pigeonholeNumber: number, isCaughtUp: boolean): Promise<boolean> {
  if (!isCaughtUp) return true;
  const [row] = await tx.query<{ left: boolean }>(
    `select after_attendee is not null or coalesce(pass_due_at <= now(), false) as left
     from engagement_counts where pigeonhole_number = $1`,
    [pigeonholeNumber],
  );
  return row!.left;
}

/** The stored row of an item that is computed again. */
export interface StoredRow {
  key: string;
  seenAt: Date;
  /** Time of the query, by the database's clock. */
  now: Date;
  /** True for a tombstone. */
  gone: boolean;
}

/**
 * Stores the computed items of a derived list that differ from the stored ones, and a change for each. Requires the
 * lock on the pigeonhole's row.
 * @param stored all stored rows that the computation covers; a row without a computed item is deleted
 * @param rules the reading rules under which the items were computed
 * @returns whether anything changed
 */
export async function storeDerived(
  page: PageWrite,
  {
    items,
    stored,
    rules,
  }: { readonly items: readonly SeenItem[]; readonly stored: readonly StoredRow[]; readonly rules: string },
): Promise<boolean> {
  const { ledger, tx, scope } = page;
  // Later than the last write of each row, even if the clock was set back since then.
  const computedAt = new Date(
    Math.max(ledger.clock.nowMs(), ...stored.flatMap(({ seenAt, now }) => [seenAt.getTime() + 1, now.getTime()])),
  );
  const { differingItems } = await compareItems(ledger, tx, scope, {
    items,
    requestedAt: computedAt,
    rules,
    settingsSince: computedAt,
  });
  const { created, updated } = await writeChanges(page, differingItems, null);
  const kept = new Set(items.map(({ key }) => key));
  const obsolete = stored.filter(({ key, gone }) => !gone && !kept.has(key)).map(({ key }) => key);
  return created + updated + (await deleteItems(tx, scope, obsolete, computedAt)) > 0;
}
