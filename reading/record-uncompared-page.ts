import { setImmediate as nextTurn } from 'node:timers/promises';
import { StoreError } from '../ledger/drivers/store-error.js';
import type { Ledger } from '../ledger/ledger.js';
import { lockPigeonhole } from '../ledger/lock-pigeonhole.js';
import { insertNewItems } from '../ledger/new-items.js';
import { isKnownPage, type SweptPage } from '../ledger/pages.js';
import { wakeSinks } from '../ledger/sinks.js';
import type { StreamLease } from '../ledger/streams.js';
import type { OpenWalk } from '../ledger/walk.js';
import { endIfLast, rememberPage, saveProgress } from './end-walk.js';
import type { PageBasics, PageRecord, PageResult } from './record-page.js';
import { decidesAnonymity } from './stream-reading.js';

/*
 * Two kinds of pages are stored without comparing their items with the ledger. Both only save time: `recordPage` would
 * store them in the same way.
 */

/**
 * Stores a page of prepared new items (decision 0034). All statements are sent together with the commit, which fails if
 * any of them fails. A first read needs this for its required speed.
 * @returns undefined if the page has to be compared: it is not prepared, it ends its walk, it may be doubtful, or its
 * items may be stored already or belong to a forgotten person
 * @throws {LedgerError} kind `stale` if another reader has taken over the stream
 */
export async function recordNewPage(
  ledger: Ledger,
  lease: StreamLease,
  page: PageRecord,
): Promise<PageResult | undefined> {
  const { prepared, end } = page;
  // The end of a walk, and the review of other items, need results of statements.
  if (prepared === undefined || end !== null || page.doubtIfNew !== null || decidesAnonymity.has(lease.list))
    return undefined;
  try {
    const sent = await ledger.db.transaction(
      async (tx) => {
        const scope = await lockPigeonhole(tx, lease);
        // A prepared item may belong to a person who has been erased since the page was prepared.
        if (scope.hasForgottenPeople === true) return undefined;
        let failure: unknown;
        Promise.all([
          insertNewItems(tx, scope, prepared, page),
          rememberPage(tx, lease, page, { written: prepared.count, known: [], outdated: false }),
        ]).catch((error: unknown) => {
          failure = error;
        });
        const woken = prepared.count > 0 ? wakeSinks(tx, page.sinkIds) : Promise.resolve([]);
        woken.catch(() => undefined);
        // If the server reports an error, the commit fails. If a statement fails in this process before it is sent, the
        // commit would succeed without that statement, so the error is thrown here.
        await nextTurn();
        if (failure !== undefined) throw failure;
        return { woken }; // its result arrives with that of the commit
      },
      { beginsByLocking: true, onSent: page.onWriting },
    );
    if (sent === undefined) return undefined;
    return { created: prepared.count, updated: 0, deleted: 0, woken: await sent.woken, reviewsLeft: false };
  } catch (error) {
    if (error instanceof StoreError && error.kind === 'constraint') return undefined; // an item was already stored
    throw error;
  }
}

/** A page whose rows are identical, byte for byte, to those that the previous sweep saw. */
interface SamePage extends PageBasics {
  readonly walk: OpenWalk;
  readonly swept: Pick<SweptPage, 'ordinal' | 'cursor' | 'digest'>;
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
        await saveProgress(tx, lease, page.walk, { perPage: page.perPage, highestId: null, differs: false });
      }
      const deleted = await endIfLast({ ledger, tx, lease, scope }, page, false);
      const woken = deleted > 0 ? await wakeSinks(tx, page.sinkIds) : [];
      return { created: 0, updated: 0, deleted, woken, reviewsLeft: false };
    },
    { beginsByLocking: true },
  );
}
