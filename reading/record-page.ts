import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Queryable } from '../ledger/drivers/database.js';
import { StoreError } from '../ledger/drivers/store-error.js';
import type { Ledger } from '../ledger/ledger.js';
import { lastOfEachKey, type SeenItem } from '../ledger/seen-item.js';
import { endWalk, type WalkEnd } from './end-walk.js';
import { withoutForgotten } from '../ledger/without-forgotten.js';
import { lockPigeonhole } from '../ledger/lock-pigeonhole.js';
import { insertNewItems, type NewItems } from '../ledger/new-items.js';
import { forgetDigests, isKnownPage, savePage, type SweptPage } from '../ledger/pages.js';
import { type DifferingItem, compareItems, toComparedItems } from '../ledger/compare-items.js';
import { reviewVisibility } from '../ledger/review-visibility.js';
import type { StreamLease } from '../ledger/streams.js';
import { wakeSinks } from '../ledger/wake-sinks.js';
import type { OpenWalk } from '../ledger/walk.js';
import { isAllNew, type PageScope, type Source, writeChanges } from '../ledger/write-changes.js';

/** What is stored with a page, whatever it shows. */
interface PageBasics {
  /** As it stands behind this page; null: an answer to a filter, which belongs to no walk. */
  readonly walk: OpenWalk | null;
  /** What ends with this page; null: the walk goes on. */
  readonly end: WalkEnd | null;
  /** Size in force at the service. */
  readonly perPage: number;
  /** Sinks that want this list, or one whose items it speaks for: their wake flag rises with the page. */
  readonly sinkIds: readonly number[];
}

/** A page as read: its items and where it leaves the walk. */
export interface PageRecord extends PageBasics, Source {
  readonly items: readonly SeenItem[];
  /** A row last seen by a later request is newer than this page and stays as it is. */
  readonly requestedAt: Date;
  /** `readingRules` of what was dropped from the items. */
  readonly rules: string;
  /** Of the items on the page; null where the list has no ids. */
  readonly highestId: number | null;
  /** Every item is above all that the stream ever stored, so that none can be known: nothing has to be compared. */
  readonly isNew: boolean;
  /** `prepareNewItems` of the items: taken where they are new, and where the walk goes on. */
  readonly prepared?: NewItems | undefined;
  /** What a sweep remembers of it; null for other pages. */
  readonly swept: SweptPage | null;
  /** Called when what there is to write has been sent: the store is at work, and whoever called has time. */
  readonly onWriting?: (() => void) | undefined;
}

/** A page whose items are those that its sweep's predecessor saw, byte for byte. */
interface SamePage extends PageBasics {
  readonly walk: OpenWalk;
  readonly swept: Pick<SweptPage, 'ordinal' | 'cursor' | 'digest'>;
}

export interface PageResult {
  readonly created: number;
  readonly updated: number;
  readonly deleted: number;
  /** Sinks whose wake flag has risen with this page: they are to be told. */
  readonly woken: readonly string[];
  /** The page changed who may be shown on more items than one transaction should touch. */
  readonly reviewsLeft: boolean;
}

/**
 * Stores a page in one transaction: items, changes, the walk's progress or its end, and the wake flags of the sinks.
 * Rows whose keyed hash is the stored one are not sent and not written. Running it twice with one page changes
 * nothing twice.
 * @throws {LedgerError} kind `stale` when the stream has a newer reader
 */
export async function recordPage(ledger: Ledger, lease: StreamLease, page: PageRecord): Promise<PageResult> {
  try {
    return await recordOnce(ledger, lease, page);
  } catch (error) {
    // Should an item be known all the same, the page is compared after all: a wrong guess may cost time, never a page.
    if (page.isNew && error instanceof StoreError && error.kind === 'constraint') {
      return await recordOnce(ledger, lease, { ...page, isNew: false });
    }
    throw error;
  }
}

async function recordOnce(ledger: Ledger, lease: StreamLease, page: PageRecord): Promise<PageResult> {
  const { prepared } = page;
  const isPrepared = page.isNew && prepared !== undefined && waitsForNothing(lease, page);
  const result = await ledger.db.transaction(
    (tx) => (isPrepared ? recordPrepared(ledger, tx, lease, page, prepared) : recordItems(ledger, tx, lease, page)),
    { beginsByLocking: true, onSent: page.onWriting },
  );
  return { ...result, woken: await result.woken };
}

/** The sinks' names come with the answer to the commit. */
type SentResult = Omit<PageResult, 'woken'> & { readonly woken: readonly string[] | Promise<readonly string[]> };

async function recordPrepared(
  ledger: Ledger,
  tx: Queryable,
  lease: StreamLease,
  page: PageRecord,
  items: NewItems,
): Promise<SentResult> {
  const scope = await lockPigeonhole(tx, lease);
  // What was made ready may be somebody's who is forgotten since.
  if (scope.forgets === true)
    return await recordPlaced(ledger, tx, lease, page, scope, await place(ledger, tx, lease, page));
  const writing = Promise.all([
    insertNewItems(tx, scope, items, page),
    rememberPage(tx, lease, page, { written: items.count, known: [], outdated: false }),
  ]);
  return await sendWhole(tx, page, items.count, writing);
}

async function recordItems(ledger: Ledger, tx: Queryable, lease: StreamLease, page: PageRecord): Promise<SentResult> {
  // Sent together. They run one after the other, each on what is committed when it begins: the second under the lock.
  const [scope, placed] = await Promise.all([lockPigeonhole(tx, lease), place(ledger, tx, lease, page)]);
  return await recordPlaced(ledger, tx, lease, page, scope, placed);
}

async function place(ledger: Ledger, tx: Queryable, lease: StreamLease, page: PageRecord) {
  const items = lastOfEachKey(page.items);
  return await (page.isNew ? toComparedItems : compareItems)(ledger, tx, lease, { ...page, items });
}

async function recordPlaced(
  ledger: Ledger,
  tx: Queryable,
  lease: StreamLease,
  page: PageRecord,
  scope: PageScope,
  { placed: seen, outdated }: Awaited<ReturnType<typeof place>>,
): Promise<SentResult> {
  const placed = scope.forgets === true ? await withoutForgotten(ledger, tx, scope, seen) : seen;
  const known = placed.filter((each) => each.known !== undefined);
  const writing = Promise.all([
    writeChanges(ledger, tx, scope, placed, page),
    rememberPage(tx, lease, page, { written: placed.length, known, outdated }),
  ]);
  if (isAllNew(placed) && waitsForNothing(lease, page)) return await sendWhole(tx, page, placed.length, writing);
  page.onWriting?.();
  const [written] = await writing;
  const reviewed = await reviewCauses(ledger, tx, scope, placed);
  const changes = written.created + written.updated + reviewed.changed;
  const ended = await endWith(ledger, tx, lease, scope, page, changes > 0);
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

/** Lists whose items say who is anonymous among those of others. */
const speaksForOthers: ReadonlySet<string> = new Set(['sessions', 'qna-questions']);

/** Where all of its items are new, nothing of such a page rests on what the store answers. */
function waitsForNothing(lease: StreamLease, { end }: PageRecord): boolean {
  return end === null && !speaksForOthers.has(lease.list);
}

/**
 * Sends all of a page of new items in one flight, with the commit behind it, which fails with any of it.
 * @param writing statements that have been given
 */
async function sendWhole(
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
  // What fails in the server fails the commit; what failed here, before it was sent, must not be committed in part.
  await nextTurn();
  if (failure !== undefined) throw failure;
  return { created, updated: 0, deleted: 0, woken, reviewsLeft: false };
}

/**
 * Stores that a page is the one the ledger holds: its keys count as seen, and no row of an item is looked at.
 * @returns undefined when it is that page no more: it has to be recorded
 * @throws {LedgerError} kind `stale` when the stream has a newer reader
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
      const deleted = await endWith(ledger, tx, lease, scope, page, false);
      const woken = deleted > 0 ? await wakeSinks(tx, page.sinkIds) : [];
      return { created: 0, updated: 0, deleted, woken, reviewsLeft: false };
    },
    { beginsByLocking: true },
  );
}

/** Where the walk stands, and what the page showed; what other pages remember of the rows it changes is forgotten. */
async function rememberPage(
  tx: Queryable,
  lease: StreamLease,
  page: PageRecord,
  { written, known, outdated }: { written: number; known: readonly DifferingItem[]; outdated: boolean },
): Promise<void> {
  const { walk, swept, perPage, highestId } = page;
  // A sweep sees what it writes itself; what anyone else writes, only a comparison of keys at its end can place.
  const differs = written > 0 && walk?.kind !== 'sweep';
  await Promise.all([
    known.length > 0 ? forgetDigests(tx, lease, rangeOf(known)) : undefined,
    swept !== null ? savePage(tx, lease, swept, outdated ? null : swept.digest) : undefined,
    walk !== null
      ? saveWalk(tx, lease, walk, { perPage, highestId, differs })
      : differs && tx.query('update streams set differs = true where id = $1', [lease.streamId]),
  ]);
}

/** Null: the list has no ids, so that nothing says on which pages the rows stand. */
function rangeOf(placed: readonly DifferingItem[]): { low: number; high: number } | null {
  const ids = placed.map(({ item }) => (/^\d+$/.test(item.key) ? Number(item.key) : null)).filter((id) => id !== null);
  return ids.length < placed.length ? null : { low: Math.min(...ids), high: Math.max(...ids) };
}

async function endWith(
  ledger: Ledger,
  tx: Queryable,
  lease: StreamLease,
  scope: PageScope,
  { walk, end, perPage }: PageBasics,
  hasNews: boolean,
): Promise<number> {
  return walk === null || end === null
    ? 0
    : await endWalk(ledger, tx, lease, scope, walk, end, { pageHasNews: hasNews, perPage });
}

/** A session or a question's twin that changed what it says about anonymity changes the items that it speaks for. */
async function reviewCauses(
  ledger: Ledger,
  tx: Queryable,
  scope: PageScope,
  placed: readonly DifferingItem[],
): Promise<{ changed: number; left: boolean }> {
  if (!speaksForOthers.has(scope.list)) return { changed: 0, left: false };
  const causes = placed.filter(
    ({ item, known }) =>
      item.saysAnonymous !== (known?.deleted === false ? known.saysAnonymous : null) || // a tombstone says nothing
      (known !== undefined && known.sessionId !== item.sessionId),
  );
  if (causes.length === 0) return { changed: 0, left: false };
  const about =
    scope.list === 'sessions'
      ? { sessionIds: causes.map(({ item }) => Number(item.key)), questionKeys: [] }
      : { sessionIds: [], questionKeys: causes.map(({ item }) => item.key) };
  return await reviewVisibility(ledger, tx, scope, about);
}

/** What a page tells of its stream, beside its items. */
interface StreamFacts {
  readonly perPage: number;
  /** Of the items on the page; null where the list has no ids. */
  readonly highestId: number | null;
  /** Rows were written that a sweep under way, or the last one, has not seen so. */
  readonly differs: boolean;
}

/** Stores where a walk stands. Its first page begins it: a sweep that was due is under way then. */
async function saveWalk(
  tx: Queryable,
  lease: StreamLease,
  walk: OpenWalk,
  { perPage, highestId, differs }: StreamFacts,
): Promise<void> {
  await tx.query(
    `with stream as (
       update streams set per_page = $18, highest_id = greatest(highest_id, $19), failures = 0, failure = null,
         differs = case when $2 = 'sweep' and $14 = 1 then false else differs end or $20,
         -- under way now; but for one that was asked for since it began
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
