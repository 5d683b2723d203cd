import type { Collaborators } from '../cycles/collaborators.js';
import type { Queryable } from '../ledger/drivers/database.js';
import { groupBy } from '../base/grouping.js';
import { deliveriesOf, dropDeliveries } from '../ledger/deliveries-condensed.js';
import { expireAttempts } from '../ledger/attempts.js';
import { expireDeliveries } from '../ledger/deliveries.js';
import { dropChanges, historiesOf } from '../ledger/items/condensed-changes.js';
import { condense } from './condense-history.js';
import type { Ledger } from '../ledger/ledger.js';
import { lockPlace, lockPlaceWithLanes } from '../ledger/lock-order.js';
import { expireRows } from '../ledger/imports/erase-rows.js';
import { expireItems } from '../ledger/items/remove-items.js';
import { dropSnapshots, dropSnapshotsOf } from '../ledger/items/snapshots.js';
import { type AttendeeRow, keepCodes } from '../ledger/sign-ins.js';

/** Maximum time that one cycle of a workspace spends on retention; the next cycle continues. */
const budgetMs = 1000;

/**
 * Removes payloads and attempts whose retention has ended, in short transactions, so that reading continues. Safe to run twice, also
 * concurrently.
 * @returns whether there is more to do
 */
export async function keepRetention(
  { ledger, config, stopping, log }: Pick<Collaborators, 'ledger' | 'config' | 'stopping' | 'log'>,
  workspace: string,
  signal: AbortSignal,
): Promise<boolean> {
  const areAttemptsLeft = await expireAttempts(ledger.db, config.retention.attemptsMs);
  const lists = await expiringLists(ledger, workspace, config.retention);
  const until = performance.now() + budgetMs; // starts after the search, so that each cycle removes something
  for (const list of lists) {
    let after: string | null = list.after_key;
    while (after !== null) {
      if (performance.now() > until || stopping.aborted || signal.aborted) return true;
      after = await expireSlice(ledger, { ...list, after_key: after }, config.retention);
    }
    log.info(
      { workspace, pigeonholeNumber: list.pigeonholeNumber, list: list.list },
      'removed the payloads whose retention has ended',
    );
  }
  return areAttemptsLeft;
}

/** Maximum number of rows in one transaction and in one statement. */
const rowsAtOnce = 500;
/** Maximum number of sequences in which one statement looks for expired content. */
const rangeAtOnce = 2000;
/** Interval after which the same list gets another retention pass, because new items may have been read since. */
const passIntervalMs = 24 * 60 * 60_000;
const changesPassIntervalMs = 60 * 60_000;
/** Value of the column `list` in `retention_passes` for a pass over the earlier revisions of all lists. */
const changesPass = 'changes';

interface RetentionTerms {
  /** Retention by list, counted from the end of the event. */
  readonly listsMs: Readonly<Record<string, number>>;
  /** Retention of earlier revisions, each counted from its own change, not from the change that replaced it. */
  readonly changesMs: number;
}

interface ExpiringList {
  readonly pigeonholeNumber: number;
  readonly list: string;
  readonly after_key: string;
}

/** Returns the lists of a workspace whose retention has ended and that are due for a pass. */
async function expiringLists(
  ledger: Ledger,
  workspace: string,
  { listsMs, changesMs }: RetentionTerms,
): Promise<ExpiringList[]> {
  const lists = Object.entries(listsMs);
  return await ledger.db.query<ExpiringList>(
    `select p.pigeonhole_number as "pigeonholeNumber", n.list, coalesce(r.after_key, '') as after_key
     from pigeonholes p cross join unnest($2::text[], $3::float8[]) as n (list, after_ms)
       left join retention_passes r on r.pigeonhole_number = p.pigeonhole_number and r.list = n.list
     where p.workspace = $1
       and coalesce(p.ended_at, p.gone_at) + n.after_ms * interval '1 millisecond' <= now()
       and (r.passed_at is null or r.after_key is not null or r.passed_at < now() - $4::float8 * interval '1 millisecond')
     union all
     select p.pigeonhole_number as "pigeonholeNumber", $5, '' from pigeonholes p
       left join retention_passes r on r.pigeonhole_number = p.pigeonhole_number and r.list = $5
     where p.workspace = $1 and p.next_sequence > 1 and p.created_at + $6::float8 * interval '1 millisecond' <= now()
       and (r.passed_at is null or r.passed_at < now() - $7::float8 * interval '1 millisecond')
     order by 1, 2`,
    [
      workspace,
      lists.map(([list]) => list),
      lists.map(([, afterMs]) => afterMs),
      passIntervalMs,
      changesPass,
      changesMs,
      changesPassIntervalMs,
    ],
  );
}

/**
 * Removes payloads and earlier revisions of the next slice of a list. Key, hash, revision and subject stay, so that an
 * item that is read again does not count as changed, and the erasure of a person still finds the item by attendee id or
 * code. The last slice of the list `registrants` also removes the data of import rows. Safe to run twice.
 * @returns where the next slice starts; null if this was the last one
 */
export async function expireSlice(
  ledger: Ledger,
  { pigeonholeNumber, list, after_key: after }: ExpiringList,
  { changesMs }: Pick<RetentionTerms, 'changesMs'>,
): Promise<string | null> {
  if (list === changesPass) return await expireHistory(ledger, pigeonholeNumber, changesMs);
  return await ledger.db.transaction(async (tx) => {
    await lockPlace(tx, pigeonholeNumber);
    const rows = await tx.query<{ key: string }>(
      `select key from items where pigeonhole_number = $1 and list = $2 and key > $3 order by key limit ${rowsAtOnce}`,
      [pigeonholeNumber, list, after],
    );
    const keys = rows.map(({ key }) => key);
    if (list === 'attendees') await keepCodesOf(ledger, tx, pigeonholeNumber, keys);
    await expireItems(tx, { pigeonholeNumber, list }, keys);
    await dropSnapshotsOf(tx, { pigeonholeNumber, list }, keys);
    const next = rows.length < rowsAtOnce ? null : keys.at(-1)!;
    if (next === null && list === 'registrants') await expireRows(tx, pigeonholeNumber);
    await tx.query(
      `insert into retention_passes (pigeonhole_number, list, after_key, passed_at)
       values ($1, $2, $3, case when $3::text is null then now() end)
       on conflict (pigeonhole_number, list) do update set after_key = excluded.after_key,
         passed_at = coalesce(excluded.passed_at, retention_passes.passed_at)`,
      [pigeonholeNumber, list, next],
    );
    return next;
  });
}

async function keepCodesOf(
  ledger: Ledger,
  tx: Queryable,
  pigeonholeNumber: number,
  keys: readonly string[],
): Promise<void> {
  const [place] = await tx.query<{ workspace: string }>(
    'select workspace from pigeonholes where pigeonhole_number = $1',
    [pigeonholeNumber],
  );
  const rows = await tx.query<AttendeeRow>(
    `select key::int8 as "attendeeId", payload from items
     where pigeonhole_number = $1 and list = 'attendees' and key = any($2::text[]) and payload is not null
       and not expired`,
    [pigeonholeNumber, keys],
  );
  if (place !== undefined) await keepCodes(ledger, tx, { pigeonholeNumber, workspace: place.workspace }, rows);
}

/**
 * Continues the pass over the earlier revisions of a pigeonhole: removes their content, then the rows of the histories
 * that say nothing more.
 * @returns '' if there is more to do, else null
 */
async function expireHistory(ledger: Ledger, pigeonholeNumber: number, changesMs: number): Promise<string | null> {
  if (await expireSnapshots(ledger, pigeonholeNumber, changesMs)) return '';
  if (await condenseHistories(ledger, pigeonholeNumber, changesMs)) return '';
  await ledger.db.query(
    `insert into retention_passes (pigeonhole_number, list, passed_at) values ($1, '${changesPass}', now())
     on conflict (pigeonhole_number, list) do update set passed_at = excluded.passed_at`,
    [pigeonholeNumber],
  );
  return null;
}

/**
 * Removes the content of earlier revisions that are older than `changesMs`. A withheld delivery or dead letter of such a
 * revision can no longer be sent and becomes superseded with the reason `expired`.
 * @returns whether there may be more
 */
async function expireSnapshots(ledger: Ledger, pigeonholeNumber: number, changesMs: number): Promise<boolean> {
  return await ledger.db.transaction(async (tx) => {
    await lockPlaceWithLanes(tx, pigeonholeNumber);
    const rows = await tx.query<{ sequence: number; isOld: boolean }>(
      `select sequence, found_at < now() - $2::float8 * interval '1 millisecond' as "isOld" from changes
       where pigeonhole_number = $1 and snapshot is not null
         and sequence < ${rangeAtOnce} + (select sequence from changes where pigeonhole_number = $1
           and snapshot is not null
           order by sequence limit 1)
       order by sequence limit ${rowsAtOnce}`,
      [pigeonholeNumber, changesMs],
    );
    const sequences = rows.filter(({ isOld }) => isOld).map(({ sequence }) => sequence);
    if (sequences.length === 0) return false;
    await dropSnapshots(tx, pigeonholeNumber, sequences);
    await expireDeliveries(tx, pigeonholeNumber, sequences);
    return true;
  });
}

/** Minimum age of a change whose predecessors are condensed. Recent deliveries are counted (`withdrawalsLeft`). */
const minCondensedMs = 24 * 60 * 60_000;

/**
 * Condenses the histories of items (`condense`). Reaches each change once, when it is older than `changesMs` and every
 * lane has passed it, and then considers the changes of the same item before it. The work is therefore proportional to
 * the number of changes, and a ledger whose items do not change has none.
 * @returns whether there may be more
 */
async function condenseHistories(ledger: Ledger, pigeonholeNumber: number, changesMs: number): Promise<boolean> {
  return await ledger.db.transaction(async (tx) => {
    await lockPlaceWithLanes(tx, pigeonholeNumber);
    const reached = await nextToCondense(tx, pigeonholeNumber, Math.max(changesMs, minCondensedMs));
    if (reached.length === 0) return false;
    const later = reached.filter(({ previous }) => previous !== null).map(({ sequence }) => sequence);
    const histories = groupBy(await historiesOf(tx, pigeonholeNumber, later), ({ last }) => last);
    const inAnother = new Set([...histories.values()].flatMap((own) => own.slice(0, -1).map((each) => each.sequence)));
    const own = [...histories.values()].filter(([first]) => !inAnother.has(first!.last));
    const deliveries = groupBy(
      await deliveriesOf(
        tx,
        pigeonholeNumber,
        own.flat().map(({ sequence }) => sequence),
      ),
      ({ sequence }) => sequence,
    );
    const condensed = own.map((history) =>
      condense(
        history,
        history.flatMap(({ sequence }) => deliveries.get(sequence) ?? []),
      ),
    );
    await dropDeliveries(
      tx,
      pigeonholeNumber,
      condensed.flatMap((each) => each.deliveries),
    );
    await dropChanges(
      tx,
      pigeonholeNumber,
      condensed.flatMap(({ changes }) => changes),
      condensed.flatMap(({ links }) => links),
    );
    await tx.query(
      `insert into retention_passes (pigeonhole_number, list, position) values ($1, '${changesPass}', $2)
       on conflict (pigeonhole_number, list) do update set position = excluded.position`,
      [pigeonholeNumber, reached.at(-1)!.sequence],
    );
    return reached.length === rowsAtOnce;
  });
}

/**
 * Returns the next changes that are old enough, by sequence. Stops before a change that a lane may still send: one after
 * its watermark, unless only the items' last changes of that range are sent.
 */
async function nextToCondense(
  tx: Queryable,
  pigeonholeNumber: number,
  ageMs: number,
): Promise<{ readonly sequence: number; readonly previous: number | null }[]> {
  const rows = await tx.query<{ sequence: number; previous: number | null; isOld: boolean }>(
    `select sequence, previous_sequence as previous, found_at < now() - $2::float8 * interval '1 millisecond' as "isOld"
     from changes
     where pigeonhole_number = $1 and sequence > coalesce((select position from retention_passes
       where pigeonhole_number = $1 and list = '${changesPass}'), 0)
       and sequence <= coalesce((select min(greatest(l.watermark, l.history_until)) from lanes l
         join sinks s on s.id = l.sink_id where l.pigeonhole_number = $1
           and s.archived_at is null), 9223372036854775807)
     order by sequence limit ${rowsAtOnce}`,
    [pigeonholeNumber, ageMs],
  );
  const young = rows.findIndex(({ isOld }) => !isOld);
  return young === -1 ? rows : rows.slice(0, young);
}
