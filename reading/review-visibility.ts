import { groupBy } from '../base/grouping.js';
import { decidingLists } from '../base/lists.js';
import { listSet } from '../ledger/sql-expressions.js';
import type { Queryable } from '../ledger/drivers/database.js';
import { hashedForm, type Fields } from '../ledger/item-form.js';
import type { Ledger } from '../ledger/ledger.js';
import { isKnownSince, judgedLists, loadJudge, type Visibility } from '../ledger/visibility.js';
import { lockPlace } from '../ledger/lock-order.js';
import { forgetDigests } from '../ledger/pages.js';
import { sweepStreams } from '../ledger/streams-due.js';
import type { DifferingItem } from '../ledger/items/compare-items.js';
import { type PageScope, writeChanges } from '../ledger/items/write-changes.js';

/** Maximum number of items that one transaction revises. A session with more items is revised in slices. */
const sliceSize = 500;

const reviewedLists = [...judgedLists];

const reviewed = `list, key, session_id as "sessionId", stream_id as "streamId", revision,
  last_sequence as "lastSequence", payload::text, visibility, attendee_id as "attendeeId", rules, origin, seen_at as "seenAt"`;
const isReviewed = 'payload is not null and not expired and visibility is not null';

/**
 * SQL condition for the items of a session in the list `l.list` after a key. It is written as a range of the index
 * `items_by_session`. With plain equalities, the planner may instead scan the whole list by the primary key, because
 * that has the same order (decision 0038).
 */
const bySession = (pigeonholeNumber: string, sessionId: string, after: string): string =>
  `pigeonhole_number = ${pigeonholeNumber} and session_id is not null
     and (session_id, list, key) > (${sessionId}, l.list, ${after}) and (session_id, list) <= (${sessionId}, l.list)`;

interface ReviewedRow {
  readonly list: string;
  readonly key: string;
  readonly sessionId: number | null;
  readonly streamId: number;
  readonly revision: number;
  readonly lastSequence: number;
  readonly payload: string;
  readonly visibility: Visibility;
  readonly attendeeId: number | null;
  readonly rules: string;
  readonly origin: Buffer | null;
  /** Instant of the request that the item was last written from. */
  readonly seenAt: Date;
}

/**
 * Writes a new revision of every item whose visibility changed because of a session or a question, in the transaction
 * that stores the session or question. If there are more items than one slice, stores only which sessions are affected,
 * and `continueReview` revises the items later. Until then, no identity is shown that has to be hidden, because
 * delivery determines the visibility of each item again.
 */
export async function reviewVisibility(
  ledger: Ledger,
  tx: Queryable,
  scope: PageScope,
  about: { sessionIds: readonly number[]; questionKeys: readonly string[] },
): Promise<{ changed: number; left: boolean }> {
  const rows = await tx.query<ReviewedRow>(
    `select i.* from unnest($2::int8[]) as s (id) cross join unnest($4::text[]) as l (list)
       cross join lateral (select ${reviewed} from items
         where ${bySession('$1', 's.id', `''`)} and ${isReviewed} order by session_id, list, key limit ${sliceSize + 1}) i
     union
     select i.* from unnest($3::text[]) as n (key)
       cross join lateral (select ${reviewed} from items
         where pigeonhole_number = $1 and list = 'questions' and key = n.key and ${isReviewed} limit 1) i
     order by list, key limit ${sliceSize + 1}`,
    [scope.pigeonholeNumber, about.sessionIds, about.questionKeys, reviewedLists],
  );
  if (rows.length <= sliceSize) return { changed: await revise(ledger, tx, scope, rows), left: false };
  await tx.query(
    `insert into visibility_reviews (pigeonhole_number, session_id, after_list, after_key)
     select $1, id, '', '' from unnest($2::int8[]) as s (id)
     on conflict (pigeonhole_number, session_id) do update set after_list = '', after_key = '', needs = null`,
    [scope.pigeonholeNumber, about.sessionIds],
  );
  return { changed: 0, left: true };
}

/**
 * Stores that the items of these sessions have to be reviewed once the lists that decide about anonymity were read by
 * requests after an instant.
 */
export async function reviewLater(
  tx: Queryable,
  pigeonholeNumber: number,
  sessionIds: readonly (number | null)[],
  needs: Date,
): Promise<void> {
  const ids = [...new Set(sessionIds)].filter((id) => id !== null);
  if (ids.length === 0) return;
  await tx.query(
    `insert into visibility_reviews as r (pigeonhole_number, session_id, after_list, after_key, needs)
     select $1, id, '', '', $3 from unnest($2::int8[]) as s (id)
     on conflict (pigeonhole_number, session_id) do update set after_list = '', after_key = '',
       needs = greatest(r.needs, excluded.needs)`,
    [pigeonholeNumber, ids, needs],
  );
}

/**
 * SQL condition: the review `r` is due, because the sessions and the questions with flags were read since the instant
 * that it needs. A list that cannot be read does not keep the items of other lists undecided.
 */
const isReviewDue = `(r.needs is null or not exists (select 1 from streams s
  where s.pigeonhole_number = r.pigeonhole_number and s.wanted
  and s.list in ${listSet(decidingLists)} and coalesce(s.swept_from < r.needs, true)
  and (s.list = 'sessions' or s.failures = 0)))`;

/**
 * Revises the next slice of an affected session. Can run at any time and in several processes: it locks the
 * pigeonhole's row, and skips items that are up to date.
 * @param sinks names of the sinks to wake if an item changes
 * @returns `more` false if nothing was left to revise
 */
export async function continueReview(
  ledger: Ledger,
  pigeonholeNumber: number,
  sinks: readonly string[],
): Promise<{ more: boolean; woken: readonly string[] }> {
  // This runs in every cycle, so it neither locks nor writes if nothing is left.
  const left = await ledger.db.query(
    `select 1 from visibility_reviews r where pigeonhole_number = $1 and ${isReviewDue} limit 1`,
    [pigeonholeNumber],
  );
  if (left.length === 0) return { more: false, woken: [] };
  return await ledger.db.transaction(async (tx) => {
    const place = await lockPlace(tx, pigeonholeNumber);
    const [review] = await tx.query<{ session_id: number; after_list: string; after_key: string }>(
      `select session_id, after_list, after_key from visibility_reviews r where pigeonhole_number = $1
         and ${isReviewDue}
       order by session_id limit 1`,
      [pigeonholeNumber],
    );
    if (place === undefined || review === undefined) return { more: false, woken: [] };
    const rows = await tx.query<ReviewedRow>(
      `select i.* from unnest($5::text[]) as l (list)
         cross join lateral (select ${reviewed} from items
           where ${bySession('$1', '$2::int8', `case when l.list = $3 then $4 else '' end`)} and ${isReviewed}
           order by session_id, list, key limit ${sliceSize}) i
       where l.list >= $3 order by i.list, i.key limit ${sliceSize}`,
      [pigeonholeNumber, review.session_id, review.after_list, review.after_key, reviewedLists],
    );
    const changed = await revise(ledger, tx, { ...place, list: '', streamId: 0 }, rows);
    const last = rows.at(-1);
    if (last === undefined || rows.length < sliceSize) {
      await tx.query('delete from visibility_reviews where pigeonhole_number = $1 and session_id = $2', [
        pigeonholeNumber,
        review.session_id,
      ]);
    } else {
      await tx.query(
        'update visibility_reviews set after_list = $3, after_key = $4 where pigeonhole_number = $1 and session_id = $2',
        [pigeonholeNumber, review.session_id, last.list, last.key],
      );
    }
    return { more: true, woken: changed > 0 ? sinks : [] };
  });
}

async function revise(ledger: Ledger, tx: Queryable, scope: PageScope, rows: readonly ReviewedRow[]): Promise<number> {
  const judge = await loadJudge(tx, scope.pigeonholeNumber, rows);
  const moved = rows
    .map((row) => ({ row, ...judge(row) }))
    .filter(({ row, visibility }) => visibility !== row.visibility)
    // The setting may have been another one when the item was read.
    .filter(({ row, ...judged }) => judged.visibility !== 'named' || isKnownSince(judged, row.seenAt));
  let changed = 0;
  for (const group of byStream(moved.filter(({ row }) => row.visibility !== 'anonymous'))) {
    const { list, streamId } = group[0]!.row;
    const part = { ...scope, list, streamId };
    const differingItems = group.map(({ row, visibility }) => toDiffering(ledger, row, visibility));
    const { created, updated } = await writeChanges({ ledger, tx, scope: part }, differingItems, null);
    changed += created + updated;
    await forgetDigests(tx, part, null);
    scope.nextSequence = part.nextSequence;
  }
  // The ledger has dropped the identity of anonymous items, so items that become named have to be read from the service
  // again.
  const toRead = moved.filter(({ row, visibility }) => row.visibility === 'anonymous' && visibility === 'named');
  if (toRead.length > 0) {
    await sweepStreams(tx, [...new Set(toRead.map(({ row }) => row.streamId))]);
    for (const list of new Set(toRead.map(({ row }) => row.list)))
      await forgetDigests(tx, { pigeonholeNumber: scope.pigeonholeNumber, list }, null);
  }
  return changed;
}

function byStream<T extends { row: ReviewedRow }>(entries: readonly T[]): T[][] {
  return [...groupBy(entries, ({ row }) => `${row.list} ${row.streamId}`).values()];
}

function toDiffering(ledger: Ledger, row: ReviewedRow, visibility: Visibility): DifferingItem {
  const fields = JSON.parse(row.payload) as Fields;
  const hashed = hashedForm(ledger.hash, row.list, fields, visibility);
  const before = hashedForm(ledger.hash, row.list, fields, row.visibility);
  const sameContent = before.hash.equals(hashed.hash);
  const { key, sessionId, attendeeId, revision, lastSequence, rules } = row;
  const origin = row.origin ?? undefined;
  return {
    item: { key, sessionId, attendeeId, saysAnonymous: null, consent: null, origin, visibility: 'judge', fields },
    visibility,
    rules,
    ...hashed,
    known: {
      revision,
      lastSequence,
      sameContent,
      sameCopies: true,
      differsByRules: false,
      rules,
      deleted: false,
      sessionId,
      saysAnonymous: null,
      origin: row.origin,
    },
  };
}
