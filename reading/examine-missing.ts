import { performance } from 'node:perf_hooks';
import { readingRules } from '../ledger/item-form.js';
import { lockPigeonhole } from '../ledger/lock-pigeonhole.js';
import { doubledItems, type LookUpResult, missingItems, storeLookUp, type ItemToLookUp } from './missing.js';
import { recordPage } from './record-page.js';
import { ApiError, type ApiErrorKind } from '../pigeonhole/api-error.js';
import type { ListRef } from '../pigeonhole/lists.js';
import { type ServiceListName, serviceTraits } from '../base/lists.js';
import type { Page } from '../pigeonhole/page.js';
import {
  deletionLimitsOf,
  listRef,
  reportPage,
  settingsReader,
  sinksFor,
  type StreamReading,
} from './stream-reading.js';
import { hasIds, toItems } from './to-items.js';

/** Maximum number of filtered sets requested in one cycle, each at most twice; the rest follow after the next sweep. */
const maxSets = 10;
/** Maximum number of items looked up in one cycle. */
const maxItems = 500;

/**
 * Looks up the items that a sweep did not show, if the list has a filter that is narrow enough. An item was deleted if
 * a response with the whole filtered set lacks it. In a list without ids, also looks up identical rows that the sweep
 * showed on several pages (`doubledItems`).
 */
export async function examineMissing(reading: StreamReading): Promise<void> {
  const { deps, place, lease, readLimits } = reading;
  const list = lease.list as ServiceListName;
  const missing = await missingItems(deps.ledger, lease, maxItems);
  const doubled = hasIds(list) ? [] : await doubledItems(deps.ledger, lease, maxItems);
  const groups = new Map<string, Group>();
  for (const item of [...missing, ...doubled]) {
    const set = filteredSet(place.pigeonholeId, lease, item);
    if (set === undefined) continue;
    const group = groups.get(set.name) ?? { set, missing: [], lackedInPlace: new Set() };
    if (missing.includes(item)) group.missing.push(item.key);
    if (item.walksWithout > 0) group.lackedInPlace.add(item.key);
    groups.set(set.name, group);
  }
  for (const [done, group] of [...groups.values()].slice(0, maxSets).entries()) {
    if (readLimits.halted() || readLimits.signal.aborted || deps.stopping.aborted) return;
    // If the service is slow, look up only one set per cycle, so that the other streams need not wait long.
    if (done > 0 && performance.now() > readLimits.latest) return;
    // Not concurrently, because these requests must not delay live reads.
    await lookUpGroup(reading, group);
  }
}

interface Group {
  readonly set: FilteredSet;
  /** Keys of missing items that the set contains if they exist. */
  readonly missing: string[];
  /** The keys that a walk lacked although it showed both of their neighbours. */
  readonly lackedInPlace: Set<string>;
}

async function lookUpGroup(reading: StreamReading, group: Group): Promise<void> {
  const first = await readSet(reading, group);
  // If no walk showed an item's neighbours without the item, the walks prove nothing: the item may have moved to a page
  // that was already read. The first response is then the only evidence, and a single response can be wrong.
  const needsSecond = first.gone.some((key) => !group.lackedInPlace.has(key));
  if (!needsSecond) return await storeResult(reading, first);
  const second = await readSet(reading, group);
  await storeResult(reading, { ...second, gone: second.gone.filter((key) => first.gone.includes(key)) });
}

/** Requests a filtered set and stores its items if the response contains the complete set. */
async function readSet(reading: StreamReading, { set, missing }: Group): Promise<LookUpResult> {
  const { deps, place, lease, cycle } = reading;
  const list = lease.list as ServiceListName;
  reading.cursor = null;
  const page = await requestSet(reading, set);
  if (page === undefined) return { requested: missing, found: [], gone: [], at: deps.ledger.clock.now() };
  cycle.pages += 1;
  const rows = page.items.filter((row) => set.contains(row));
  const drop = place.plan.drop[list] ?? [];
  const { sessions: ownSessions } = reading;
  const seen = toItems(rows, { list, sessionId: lease.sessionId, ownSessions, drop, hash: deps.ledger.hash });
  const requestedAt = new Date(page.requestedAt);
  // A row outside the set shows that the service ignores the filter. A row whose key cannot be read may be the missing
  // item.
  const isOnlySet = rows.length === page.items.length && page.irregular.every(({ index }) => index !== null);
  const complete = !page.hasMore && isOnlySet && seen.unidentified + seen.foreign === 0;
  if (complete) {
    const result = await recordPage(deps.ledger, lease, {
      walk: null,
      end: null,
      swept: null,
      perPage: page.perPage,
      sinks: sinksFor(reading, list),
      items: seen.items,
      requestedAt,
      requestId: page.requestId,
      readAs: 'filtered answer',
      rules: readingRules(drop),
      highestId: null,
      readSettings: settingsReader(reading, 1),
      doubtIfNew: null,
    });
    if (typeof result === 'object') await reportPage(reading, page, seen, result);
  }
  const shown = new Set(seen.items.map(({ key }) => key));
  return {
    requested: missing,
    found: missing.filter((key) => shown.has(key)),
    gone: complete ? missing.filter((key) => !shown.has(key)) : [],
    at: requestedAt,
  };
}

/**
 * Error kinds by which the service refuses the filter, although it may still offer the list. For example, the question
 * whose votes are requested may have been deleted.
 */
const aboutTheFilter: ReadonlySet<ApiErrorKind> = new Set([
  'notFound',
  'invalidParameter',
  'invalid',
  'malformed',
  'unsupported',
]);

/** Requests a filtered set. Returns undefined if the service refuses the filter. */
async function requestSet({ deps, place, readLimits }: StreamReading, set: FilteredSet): Promise<Page | undefined> {
  const permit = { workspace: place.workspace, priority: 'live' } as const;
  try {
    return await deps.gate.page(deps, permit, set.ref, { cursor: null, signal: readLimits.signal });
  } catch (error) {
    if (error instanceof ApiError && aboutTheFilter.has(error.kind)) return undefined;
    throw error;
  }
}

async function storeResult(reading: StreamReading, result: LookUpResult): Promise<void> {
  const { deps, lease, cycle } = reading;
  const list = lease.list as ServiceListName;
  if (result.requested.length === 0) return;
  const { deleted, woken } = await deps.ledger.db.transaction(async (tx) => {
    const scope = await lockPigeonhole(tx, lease);
    const count = await storeLookUp({ ledger: deps.ledger, tx, lease, scope }, result, deletionLimitsOf(reading));
    return { deleted: count, woken: count > 0 ? sinksFor(reading, list) : [] };
  });
  cycle.deleted += deleted;
  if (woken.length > 0) await deps.orchestration.wakeSinks(woken);
}

type Row = Readonly<Record<string, unknown>>;

/** A request whose response contains an item if the item exists. It filters by a property that never changes. */
interface FilteredSet {
  /** One response covers all items whose sets have the same name. */
  readonly name: string;
  readonly ref: ListRef;
  /** Whether a row belongs to the set. Each row is checked, because the service ignores filters it does not support. */
  readonly contains: (row: Row) => boolean;
}

/**
 * Returns the smallest filtered set that contains an item. Returns undefined if the list has no filter that is narrow
 * enough, or if the filter's value is not known, like the attendee of an anonymous vote. A filter by session is not
 * used without another filter, because items move between sessions. Pure.
 */
export function filteredSet(
  pigeonholeId: number,
  { list, sessionId }: { list: string; sessionId: number },
  { attendeeId, payload }: Pick<ItemToLookUp, 'attendeeId' | 'payload'>,
): FilteredSet | undefined {
  const { lookUpBy, perSession } = serviceTraits[list as ServiceListName];
  if (lookUpBy === null) return undefined;
  const isByQuestion = lookUpBy === 'questionId';
  const value = isByQuestion ? idIn(JSON.parse(payload) as Row, 'question') : attendeeId;
  if (value === undefined || value === null) return undefined;
  const member = isByQuestion ? 'question' : 'attendee';
  return {
    name: `${member} ${value}`,
    ref: { ...listRef(pigeonholeId, { list, sessionId }), filters: { [lookUpBy]: value } } as ListRef,
    contains: (row) => idIn(row, member) === value && (perSession === null || idIn(row, 'session') === sessionId),
  };
}

function idIn(row: Row, member: string): number | undefined {
  const value = row[member];
  const id = value !== null && typeof value === 'object' ? (value as Row)['id'] : undefined;
  return typeof id === 'number' ? id : undefined;
}
