import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Queryable } from '../ledger/drivers/database.js';
import { StoreError } from '../ledger/drivers/store-error.js';
import type { Ledger } from '../ledger/ledger.js';
import { lastOfEachKey, type SeenItem } from '../ledger/seen-item.js';
import { endWalk, type WalkEnd } from './end-walk.js';
import { withoutForgotten } from '../ledger/without-forgotten.js';
import { lockPigeonhole, type StreamWrite } from '../ledger/lock-pigeonhole.js';
import { insertNewItems, type NewItems } from '../ledger/new-items.js';
import { forgetDigests, isKnownPage, savePage, type SweptPage } from '../ledger/pages.js';
import { type DifferingItem, compareItems, asNewItems } from '../ledger/compare-items.js';
import { reviewVisibility } from '../ledger/review-visibility.js';
import type { StreamLease } from '../ledger/streams.js';
import { wakeSinks } from '../ledger/sinks.js';
import type { OpenWalk } from '../ledger/walk.js';
import { isAllNew, type Source, writeChanges } from '../ledger/write-changes.js';

/** The data stored for every page, whether or not its items have changed. */
interface PageBasics {
  /** The walk's position after this page; null: the response to a filtered request, which belongs to no walk. */
  readonly walk: OpenWalk | null;
  /** The end of the walk; null: the walk continues. */
  readonly end: WalkEnd | null;
  /** The service's page size. */
  readonly perPage: number;
  /** Instant of the request. Rows that a later request has seen are newer than this page and are not changed. */
  readonly requestedAt: Date;
  /**
   * Sinks to wake if the page has changes: those that want this list, and those that may show a person differently
   * after this page (`sinkIdsFor`).
   */
  readonly sinkIds: readonly number[];
}

/** A page as read: its items and the walk's position. */
export interface PageRecord extends PageBasics, Source {
  readonly items: readonly SeenItem[];
  /** `readingRules` under which the items were read. */
  readonly rules: string;
  /** Highest id on the page; null if the list has no ids. */
  readonly highestId: number | null;
  /** True if the ids prove that all items are new, so that they need no comparison (`compareIds` in walk-stream.ts). */
  readonly allNew: boolean;
  /** Result of `prepareNewItems`, used if all items are new and the walk continues. */
  readonly prepared?: NewItems | undefined;
  /** The digest and keys that a sweep stores about the page; null for pages of other reads. */
  readonly swept: SweptPage | null;
  /** Called when the store begins to write, so that the caller can work meanwhile. */
  readonly onWriting?: (() => void) | undefined;
}

/** A page whose rows are identical, byte for byte, to those that the previous sweep saw. */
interface SamePage extends PageBasics {
  readonly walk: OpenWalk;
  readonly swept: Pick<SweptPage, 'ordinal' | 'cursor' | 'digest'>;
}

export interface PageResult {
  readonly created: number;
  readonly updated: number;
  readonly deleted: number;
  /** Sinks whose wake flag this page set: the caller wakes their workflows. */
  readonly woken: readonly string[];
  /**
   * True if the page affects the visibility of more items than one transaction may change: the rest are reviewed later.
   */
  readonly reviewsLeft: boolean;
}

/**
 * Stores a page in one transaction: items, changes, the walk's position or end, and the wake flags of the sinks.
 * Unchanged items are not written. Storing the same page again changes nothing.
 * @throws {LedgerError} kind `stale` if another reader has taken over the stream
 */
export async function recordPage(ledger: Ledger, lease: StreamLease, page: PageRecord): Promise<PageResult> {
  try {
    return await recordOnce(ledger, lease, page);
  } catch (error) {
    // An item was already stored: compare the page item by item.
    if (page.allNew && error instanceof StoreError && error.kind === 'constraint') {
      return await recordOnce(ledger, lease, { ...page, allNew: false });
    }
    throw error;
  }
}

async function recordOnce(ledger: Ledger, lease: StreamLease, page: PageRecord): Promise<PageResult> {
  const { prepared } = page;
  const isPrepared = page.allNew && prepared !== undefined && needsNoResults(lease, page);
  const result = await ledger.db.transaction(
    (tx) =>
      isPrepared ? recordPrepared(ledger, tx, lease, { ...page, prepared }) : recordItems(ledger, tx, lease, page),
    { beginsByLocking: true, onSent: page.onWriting },
  );
  return { ...result, woken: await result.woken };
}

/**
 * A result before the commit. `woken` may still be a promise: its statement is sent together with the commit, so its
 * result arrives only then.
 */
type SentResult = Omit<PageResult, 'woken'> & { readonly woken: readonly string[] | Promise<readonly string[]> };

async function recordPrepared(
  ledger: Ledger,
  tx: Queryable,
  lease: StreamLease,
  page: PageRecord & { readonly prepared: NewItems },
): Promise<SentResult> {
  const items = page.prepared;
  const scope = await lockPigeonhole(tx, lease);
  // A prepared item may belong to a person who has been erased since the page was prepared.
  if (scope.hasForgottenPeople === true)
    return await recordDiffering({ ledger, tx, lease, scope }, page, await compare(ledger, tx, lease, page));
  const writing = Promise.all([
    insertNewItems(tx, scope, items, page),
    rememberPage(tx, lease, page, { written: items.count, known: [], outdated: false }),
  ]);
  return await sendWithCommit(tx, page, items.count, writing);
}

async function recordItems(ledger: Ledger, tx: Queryable, lease: StreamLease, page: PageRecord): Promise<SentResult> {
  // Both statements are sent together. The store executes them in order, so the second runs under the lock.
  const [scope, comparison] = await Promise.all([lockPigeonhole(tx, lease), compare(ledger, tx, lease, page)]);
  return await recordDiffering({ ledger, tx, lease, scope }, page, comparison);
}

async function compare(ledger: Ledger, tx: Queryable, lease: StreamLease, page: PageRecord) {
  const items = lastOfEachKey(page.items);
  return await (page.allNew ? asNewItems : compareItems)(ledger, tx, lease, { ...page, items });
}

async function recordDiffering(
  write: StreamWrite,
  page: PageRecord,
  { differingItems: seen, outdated }: Awaited<ReturnType<typeof compare>>,
): Promise<SentResult> {
  const { ledger, tx, lease, scope } = write;
  const differingItems = scope.hasForgottenPeople === true ? await withoutForgotten(ledger, tx, scope, seen) : seen;
  const known = differingItems.filter((each) => each.known !== undefined);
  const writing = Promise.all([
    writeChanges(write, differingItems, page),
    rememberPage(tx, lease, page, { written: differingItems.length, known, outdated }),
  ]);
  if (isAllNew(differingItems) && needsNoResults(lease, page))
    return await sendWithCommit(tx, page, differingItems.length, writing);
  page.onWriting?.();
  const [written] = await writing;
  const reviewed = await reviewCauses(write, differingItems);
  const changes = written.created + written.updated + reviewed.changed;
  const ended = await endIfLast(write, page, changes > 0);
  const changed = changes + ended > 0;
  const woken = changed ? await wakeSinks(tx, page.sinkIds) : [];
  return {
    created: written.created,
    updated: written.updated + reviewed.changed,
    deleted: ended,
    woken,
    reviewsLeft: reviewed.left,
  };
}

/** Lists whose items decide whether authors in other lists are anonymous. */
const decidesAnonymity: ReadonlySet<string> = new Set(['sessions', 'qna-questions']);

/** Whether a page of new items can be stored without reading the result of any statement before the commit. */
function needsNoResults(lease: StreamLease, { end }: PageRecord): boolean {
  return end === null && !decidesAnonymity.has(lease.list);
}

/**
 * Sends all statements for a page of new items together with the commit, which fails if any of them fails.
 * @param writing the statements already issued
 */
async function sendWithCommit(
  tx: Queryable,
  page: PageRecord,
  created: number,
  writing: Promise<unknown>,
): Promise<SentResult> {
  let failure: unknown;
  writing.catch((error: unknown) => {
    failure = error;
  });
  const woken = created > 0 ? wakeSinks(tx, page.sinkIds) : Promise.resolve([]);
  woken.catch(() => undefined);
  // If the server reports an error, the commit fails. If a statement fails in this process before it is sent, the
  // commit would succeed without that statement, so the error is thrown here.
  await nextTurn();
  if (failure !== undefined) throw failure;
  return { created, updated: 0, deleted: 0, woken, reviewsLeft: false };
}

/**
 * Stores that a page is unchanged since the last sweep, without reading its items.
 * @returns undefined if the stored page has changed meanwhile: call `recordPage`
 * @throws {LedgerError} kind `stale` if another reader has taken over the stream
 */
export async function recordSamePage(
  ledger: Ledger,
  lease: StreamLease,
  page: SamePage,
): Promise<PageResult | undefined> {
  return await ledger.db.transaction(
    async (tx) => {
      const scope = await lockPigeonhole(tx, lease);
      if (!(await isKnownPage(tx, lease, page.swept))) return undefined;
      if (page.end === null) {
        await saveWalk(tx, lease, page.walk, { perPage: page.perPage, highestId: null, differs: false });
      }
      const deleted = await endIfLast({ ledger, tx, lease, scope }, page, false);
      const woken = deleted > 0 ? await wakeSinks(tx, page.sinkIds) : [];
      return { created: 0, updated: 0, deleted, woken, reviewsLeft: false };
    },
    { beginsByLocking: true },
  );
}

/**
 * Stores the walk's position and the page's digest, and drops the digests of other pages that hold the changed rows.
 */
async function rememberPage(
  tx: Queryable,
  lease: StreamLease,
  page: PageRecord,
  { written, known, outdated }: { written: number; known: readonly DifferingItem[]; outdated: boolean },
): Promise<void> {
  const { walk, swept, perPage, highestId } = page;
  // A sweep has seen the rows that it writes. It may not have seen rows that a poll or a filtered request writes, so it
  // must compare keys when it ends.
  const differs = written > 0 && walk?.kind !== 'sweep';
  await Promise.all([
    known.length > 0 ? forgetDigests(tx, lease, rangeOf(known)) : undefined,
    swept !== null ? savePage(tx, lease, swept, outdated ? null : swept.digest) : undefined,
    walk !== null
      ? saveWalk(tx, lease, walk, { perPage, highestId, differs })
      : differs && tx.query('update streams set differs = true where id = $1', [lease.streamId]),
  ]);
}

/** Returns the range of ids; null if the list has no ids, because its rows can then be on any page. */
function rangeOf(differingItems: readonly DifferingItem[]): { low: number; high: number } | null {
  const ids = differingItems
    .map(({ item }) => (/^\d+$/.test(item.key) ? Number(item.key) : null))
    .filter((id) => id !== null);
  return ids.length < differingItems.length ? null : { low: Math.min(...ids), high: Math.max(...ids) };
}

async function endIfLast(
  write: StreamWrite,
  { walk, end, perPage, requestedAt }: PageBasics,
  hasNews: boolean,
): Promise<number> {
  return walk === null || end === null ? 0 : await endWalk(write, walk, { ...end, hasNews, perPage, requestedAt });
}

/** Reviews the visibility of items whose session or Q&A question changed its anonymity. */
async function reviewCauses(
  { ledger, tx, scope }: StreamWrite,
  differingItems: readonly DifferingItem[],
): Promise<{ changed: number; left: boolean }> {
  if (!decidesAnonymity.has(scope.list)) return { changed: 0, left: false };
  const causes = differingItems.filter(
    ({ item, known }) =>
      item.saysAnonymous !== (known?.deleted === false ? known.saysAnonymous : null) || // the flag of a deleted item no longer applies
      (known !== undefined && known.sessionId !== item.sessionId),
  );
  if (causes.length === 0) return { changed: 0, left: false };
  const about =
    scope.list === 'sessions'
      ? { sessionIds: causes.map(({ item }) => Number(item.key)), questionKeys: [] }
      : { sessionIds: [], questionKeys: causes.map(({ item }) => item.key) };
  return await reviewVisibility(ledger, tx, scope, about);
}

/** The page's effect on its stream. */
interface PageEffects {
  readonly perPage: number;
  /** Highest id on the page; null if the list has no ids. */
  readonly highestId: number | null;
  /** True if rows were written that the sweep in progress, or the last one, has not seen. */
  readonly differs: boolean;
}

/** Stores a walk's position. The first page of a sweep also clears the sweep's due time. */
async function saveWalk(
  tx: Queryable,
  lease: StreamLease,
  walk: OpenWalk,
  { perPage, highestId, differs }: PageEffects,
): Promise<void> {
  await tx.query(
    `with stream as (
       update streams set per_page = $18, highest_id = greatest(highest_id, $19), failures = 0, failure = null,
         differs = case when $2 = 'sweep' and $14 = 1 then false else differs end or $20,
         -- keep the due time of a sweep that was requested after this sweep started
         sweep_due_at = case when $2 = 'sweep' and $14 = 1 and (sweep_due_at <= $4 or sweep_due_at > clock_timestamp())
           then null else sweep_due_at end
       where id = $1)
     insert into walks (stream_id, kind, number, started_at, first_at, cursor, checkpoint, check_key, direction,
       page_first, page_last, until_id, top_id, pages, items, set_aside, differs, through,
       foreign_rows)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $21, $22)
     on conflict (stream_id, kind) do update set number = excluded.number, started_at = excluded.started_at,
       first_at = excluded.first_at, cursor = excluded.cursor, checkpoint = excluded.checkpoint,
       check_key = excluded.check_key, direction = excluded.direction, page_first = excluded.page_first,
       page_last = excluded.page_last, until_id = excluded.until_id, top_id = excluded.top_id, pages = excluded.pages,
       items = excluded.items, set_aside = excluded.set_aside, differs = excluded.differs, through = excluded.through,
       foreign_rows = excluded.foreign_rows`,
    [
      lease.streamId,
      walk.kind,
      walk.number,
      walk.startedAt,
      walk.firstAt,
      walk.cursor,
      walk.checkpoint,
      walk.checkpointKey,
      walk.direction,
      walk.pageFirst,
      walk.pageLast,
      walk.untilId,
      walk.topId,
      walk.pages,
      walk.items,
      walk.setAside,
      walk.differs,
      perPage,
      highestId,
      differs,
      walk.through,
      walk.foreign,
    ],
  );
}
