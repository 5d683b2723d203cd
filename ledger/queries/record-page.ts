import type { Queryable } from '../drivers/database.js';
import { StoreError } from '../drivers/store-error.js';
import type { Ledger } from '../ledger.js';
import { LedgerError } from '../ledger-error.js';
import type { SeenItem } from '../seen-item.js';
import { type PlacedItem, placeItems, placeNewItems } from './place-items.js';
import { reviewVisibility } from './review-visibility.js';
import type { StreamLease } from './streams.js';
import { wakeSinks } from './wake-sinks.js';
import { type Change, type PageScope, writeChanges } from './write-changes.js';

/** A page as read: its items and where it leaves the walk. */
export interface PageRecord {
  readonly items: readonly SeenItem[];
  /** Instant of the request. A row last seen by a later request is newer than this page and stays as it is. */
  readonly requestedAt: Date;
  /** `readingRules` of what was dropped from the items. */
  readonly rules: string;
  readonly walk: WalkProgress;
  /** Of the items on the page; null where the list has no ids. */
  readonly highestId: number | null;
  /** Every item is above all that the stream ever stored, so that none can be known: nothing has to be compared. */
  readonly isNew: boolean;
  /** Sinks that want this list, or one whose items it speaks for: their wake flag rises with the page. */
  readonly sinkIds: readonly number[];
  /** Called when what there is to write has been sent: the store is at work, and whoever called has time. */
  readonly onWriting?: () => void;
}

/** Where a walk stands after a page; stored with it, so that a retry goes on behind the last stored page. */
export interface WalkProgress {
  readonly cursor: string | null;
  readonly checkpoint: string | null;
  readonly checkpointKey: string | null;
  readonly lastId: number | null;
  readonly ascending: boolean;
  readonly pages: number;
  readonly items: number;
  readonly perPage: number;
}

export interface PageResult {
  readonly created: number;
  readonly updated: number;
  /** Sinks whose wake flag has risen with this page: they are to be told. */
  readonly woken: readonly string[];
  /** The page changed who may be shown on more items than one transaction should touch. */
  readonly reviewsLeft: boolean;
}

/**
 * Stores a page in one transaction: items, changes, the walk's progress, and the wake flags of the sinks. Rows whose
 * keyed hash is the stored one are not sent and not written. Running it twice with one page changes nothing twice.
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
  const items = lastOfEachKey(page.items);
  const result = await ledger.db.transaction(async (tx) => {
    // Sent together. They run one after the other, each on what is committed when it begins: the second under the lock.
    const [scope, placed] = await Promise.all([
      lockPigeonhole(tx, lease),
      (page.isNew ? placeNewItems : placeItems)(ledger, tx, lease, { ...page, items }),
    ]);
    const writing = Promise.all([
      writeChanges(ledger, tx, scope, placed, page.requestedAt),
      saveProgress(tx, lease, page),
    ]);
    if (isAllNew(placed) && !speaksForOthers.has(lease.list)) {
      // Nothing waits for an answer, so all of it goes in one flight, the commit included, which fails with any of it.
      writing.catch(() => undefined);
      const woken = placed.length > 0 ? wakeSinks(tx, page.sinkIds) : Promise.resolve([]);
      woken.catch(() => undefined);
      page.onWriting?.();
      return { created: placed.length, updated: 0, woken, reviewsLeft: false };
    }
    page.onWriting?.();
    const [written] = await writing;
    const reviewed = await reviewCauses(ledger, tx, scope, placed);
    const changed = written.changes.length + reviewed.changed > 0;
    const woken = changed ? await wakeSinks(tx, page.sinkIds) : [];
    return {
      created: written.changes.filter((change: Change) => change.kind === 'created').length,
      updated: written.changes.filter((change: Change) => change.kind === 'updated').length + reviewed.changed,
      woken,
      reviewsLeft: reviewed.left,
    };
  });
  return { ...result, woken: await result.woken };
}

/** Lists whose items say who is anonymous among those of others. */
const speaksForOthers: ReadonlySet<string> = new Set(['sessions', 'qna-questions']);

/** New items are plainly inserted: of no other row anything has to be asked or kept. */
function isAllNew(placed: readonly PlacedItem[]): boolean {
  return placed.every(({ known }) => known === undefined);
}

/**
 * Checks the lease and takes the lock under which sequences are given; held until commit, so commits are in sequence.
 * The pigeonhole's row first, as everywhere (rows are locked in the order in which FROM names them): a page of
 * sessions that revises items of other streams would else wait for a page that waits for it.
 */
async function lockPigeonhole(tx: Queryable, lease: StreamLease): Promise<PageScope> {
  const [row] = await tx.query<{ workspace: string; pigeonhole_id: number; next_sequence: number }>(
    `select p.workspace, p.pigeonhole_id, p.next_sequence
     from pigeonholes p join streams s on s.ref = p.ref
     where s.id = $1 and s.epoch = $2 for no key update`,
    [lease.streamId, lease.epoch],
  );
  if (row === undefined) {
    throw new LedgerError('stale', `stream ${lease.streamId} has a newer reader: this attempt is over`);
  }
  return {
    ref: lease.ref,
    workspace: row.workspace,
    pigeonholeId: row.pigeonhole_id,
    list: lease.list,
    streamId: lease.streamId,
    nextSequence: row.next_sequence,
  };
}

/** Nothing promises that a page holds an item once, and PostgreSQL refuses to upsert one row twice (SQLSTATE 21000). */
function lastOfEachKey(items: readonly SeenItem[]): SeenItem[] {
  return [...new Map(items.map((item) => [item.key, item])).values()];
}

/** A session or a question's twin that changed what it says about anonymity changes the items that it speaks for. */
async function reviewCauses(
  ledger: Ledger,
  tx: Queryable,
  scope: PageScope,
  placed: readonly PlacedItem[],
): Promise<{ changed: number; left: boolean }> {
  if (!speaksForOthers.has(scope.list)) return { changed: 0, left: false };
  const causes = placed.filter(
    ({ item, known }) =>
      item.saysAnonymous !== (known?.saysAnonymous ?? null) ||
      (known !== undefined && known.sessionId !== item.sessionId),
  );
  if (causes.length === 0) return { changed: 0, left: false };
  const about =
    scope.list === 'sessions'
      ? { sessionIds: causes.map(({ item }) => Number(item.key)), questionKeys: [] }
      : { sessionIds: [], questionKeys: causes.map(({ item }) => item.key) };
  return await reviewVisibility(ledger, tx, scope, about);
}

async function saveProgress(
  tx: Queryable,
  lease: StreamLease,
  { walk, highestId }: Pick<PageRecord, 'walk' | 'highestId'>,
): Promise<void> {
  await tx.query(
    `update streams set walk_cursor = $2, walk_checkpoint = $3, walk_check_key = $4, walk_last_id = $5,
       walk_ascending = $6, walk_pages = $7, walk_items = $8, per_page = $9, highest_id = greatest(highest_id, $10),
       failures = 0, failure = null
     where id = $1`,
    [
      lease.streamId,
      walk.cursor,
      walk.checkpoint,
      walk.checkpointKey,
      walk.lastId,
      walk.ascending,
      walk.pages,
      walk.items,
      walk.perPage,
      highestId,
    ],
  );
}
