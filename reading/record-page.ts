import { compareItems, type DifferingItem, type KnownRow } from '../ledger/items/compare-items.js';
import type { Ledger } from '../ledger/ledger.js';
import { lockPigeonhole, type StreamWrite } from '../ledger/lock-pigeonhole.js';
import { isKnownPage, type SweptPage } from '../ledger/pages.js';
import { reviewLater, reviewVisibility } from './review-visibility.js';
import { lastOfEachKey, type SeenItem } from '../ledger/seen-item.js';
import type { StreamLease } from '../ledger/streams.js';
import type { OpenWalk } from '../ledger/walk.js';
import { withoutForgotten } from '../people/without-forgotten.js';
import { type Source, writeChanges } from '../ledger/items/write-changes.js';
import { type DoubtfulPage, settleDoubt } from './doubt.js';
import { endIfLast, rememberPage, type WalkEnd } from './end-walk.js';
import { decidingLists } from '../base/lists.js';

/** A page as read: its items and the walk's position. */
export interface PageRecord extends Source {
  /** Null: the page equals `swept`, the page that the last sweep stored, so its items need not be compared. */
  readonly items: readonly SeenItem[] | null;
  /** The walk's position after this page; null: the response to a filtered request, which belongs to no walk. */
  readonly walk: OpenWalk | null;
  /** The end of the walk; null: the walk continues. */
  readonly end: WalkEnd | null;
  /** The service's page size. */
  readonly perPage: number;
  /** `readingRules` under which the items were read. */
  readonly rules: string;
  /** Highest id on the page; null if the list has no ids. */
  readonly highestId: number | null;
  /** The doubt that arises if the ledger has none of the items (`doubt.ts`); null: none does. */
  readonly doubtIfNew: Pick<DoubtfulPage, 'reason' | 'fitsSessions'> | null;
  /** The page as a sweep stores it; null for pages of other reads. */
  readonly swept: SweptPage | null;
  /**
   * Names of the sinks to wake if the page has changes: those that want this list, and those that may show a person differently
   * after this page (`sinksFor`).
   */
  readonly sinks: readonly string[];
  /**
   * Reads the lists that decide who may be named, by requests sent after this call. Absent for lists that depend on no
   * other list.
   */
  readonly readSettings?: (() => Promise<void>) | undefined;
}

export interface PageResult {
  readonly created: number;
  readonly updated: number;
  readonly deleted: number;
  /** Names of the sinks that the caller wakes. */
  readonly woken: readonly string[];
  /**
   * True if the page affects the visibility of more items than one transaction may change: the rest are reviewed later.
   */
  readonly reviewsLeft: boolean;
  /** True if a later request has already seen one of the rows, so that the ledger is newer than the page. */
  readonly isOutdated: boolean;
}

/**
 * Why nothing of a page was stored. `doubtful`: it may show another pigeonhole's list, and the stream is due again.
 * `differs`: the page that it equalled was replaced meanwhile, so its items have to be compared.
 */
type NotStored = 'doubtful' | 'differs';

/**
 * Stores a page in one transaction: items, changes, and the walk's position or end. Items are compared with their stored rows,
 * and unchanged ones are not written. Storing the same page again changes nothing.
 *
 * If the page has a new or changed item whose person may be named, first makes sure that the deciding setting was read
 * after the page. The service may have changed it since the last read, so that the person trusted in being anonymous.
 * @throws {LedgerError} kind `stale` if another reader has taken over the stream
 */
export async function recordPage(ledger: Ledger, lease: StreamLease, page: PageRecord): Promise<Stored> {
  if (page.readSettings !== undefined) {
    const settingsSince = ledger.clock.now();
    const result = await storePage(ledger, lease, page, { settingsSince, undecided: 'leave' });
    if (result !== 'undecided') return result;
    await page.readSettings();
  }
  return await storePage(ledger, lease, page, { settingsSince: page.requestedAt, undecided: 'hide' });
}

interface Undecided<What extends 'leave' | 'hide'> {
  /** Settings read by requests before this instant do not show anybody. */
  readonly settingsSince: Date;
  /** `leave`: store nothing if an item needs a later setting; `hide`: store such items without showing the person. */
  readonly undecided: What;
}

type Stored = PageResult | NotStored;

async function storePage(ledger: Ledger, lease: StreamLease, page: PageRecord, how: Undecided<'hide'>): Promise<Stored>;
async function storePage(
  ledger: Ledger,
  lease: StreamLease,
  page: PageRecord,
  how: Undecided<'leave'>,
): Promise<Stored | 'undecided'>;
async function storePage(
  ledger: Ledger,
  lease: StreamLease,
  page: PageRecord,
  { settingsSince, undecided }: Undecided<'leave' | 'hide'>,
): Promise<Stored | 'undecided'> {
  const items = lastOfEachKey(page.items ?? []);
  return await ledger.db.transaction(
    async (tx) => {
      // The statements are sent together. The store executes them in order, so all run under the lock.
      const [scope, isKnown, { differingItems: seen, outdated, undecidedIn }] = await Promise.all([
        lockPigeonhole(tx, lease),
        page.items !== null || (page.swept !== null && isKnownPage(tx, lease, page.swept)),
        compareItems(ledger, tx, lease, { ...page, items, settingsSince }),
      ]);
      if (!isKnown) return 'differs';
      const { doubtIfNew, requestedAt } = page;
      if (doubtIfNew !== null && items.length > 0 && seen.filter(isNewItem).length === items.length) {
        const keys = items.map(({ key }) => key);
        if (!(await settleDoubt(tx, lease, { keys, requestedAt, ...doubtIfNew }))) return 'doubtful';
      }
      if (undecidedIn.length > 0) {
        if (undecided === 'leave') return 'undecided';
        await reviewLater(tx, lease.pigeonholeNumber, undecidedIn, ledger.clock.now());
      }
      const write = { ledger, tx, lease, scope };
      const differingItems = scope.hasForgottenPeople === true ? await withoutForgotten(ledger, tx, scope, seen) : seen;
      const [{ created, updated }] = await Promise.all([
        writeChanges(write, differingItems, page),
        rememberPage(tx, lease, page, { differingItems, outdated }),
      ]);
      const reviewed = await reviewCauses(write, differingItems);
      const changes = created + updated + reviewed.changed;
      const deleted = await endIfLast(write, page, changes > 0);
      const woken = changes + deleted > 0 ? page.sinks : [];
      const counts = { created, updated: updated + reviewed.changed, deleted };
      return { ...counts, woken, reviewsLeft: reviewed.left, isOutdated: outdated };
    },
    { beginsByLocking: true },
  );
}

/** Whether a stored row and an item are the same question, and not one that got the id of a former question. */
function sameOrigin(known: Pick<KnownRow, 'origin'>, { origin }: SeenItem): boolean {
  return known.origin === null ? origin === undefined : origin?.equals(known.origin) === true;
}

function isNewItem({ known }: DifferingItem): boolean {
  return known === undefined;
}

/** Reviews the visibility of items whose session or Q&A question changed its anonymity. */
async function reviewCauses(
  { ledger, tx, scope }: StreamWrite,
  differingItems: readonly DifferingItem[],
): Promise<{ changed: number; left: boolean }> {
  if (!decidingLists.has(scope.list)) return { changed: 0, left: false };
  const causes = differingItems.filter(
    ({ item, known }) =>
      item.saysAnonymous !== (known?.deleted === false ? known.saysAnonymous : null) || // the flag of a deleted item no longer applies
      (known !== undefined && (known.sessionId !== item.sessionId || !sameOrigin(known, item))),
  );
  if (causes.length === 0) return { changed: 0, left: false };
  const about =
    scope.list === 'sessions'
      ? { sessionIds: causes.map(({ item }) => Number(item.key)), questionKeys: [] }
      : { sessionIds: [], questionKeys: causes.map(({ item }) => item.key) };
  return await reviewVisibility(ledger, tx, scope, about);
}
