import type { JsonObject } from '../json.js';
import { isSpaceListName, type ListName, LISTS, type SpaceListName } from '../list-name.js';
import { type IdOrder, ID_STRIDE } from '../store/id-order.js';
import type { AnyTable } from '../store/item-table.js';
import type { Conference } from '../world/conference.js';
import {
  decodeCursor,
  encodeCursor,
  type CursorPosition,
  issueOf,
  readPage,
  readReordered,
  type IdPage,
  rankAfter,
} from './read-page.js';
import type { FaultKind, FaultRule } from './faults.js';
import { readFilters, type Filters } from './filters.js';
import type { CursorKind, InstantSpelling, Knobs, Order } from './knobs.js';
import { ServiceError } from './service-error.js';
import { mutate } from '../world/mutations.js';
import { addNewItem } from '../world/new-item.js';
import type { PigeonholeSpace } from '../world/pigeonhole-space.js';
import { draw } from '../world/random.js';

interface ListRequest {
  conference: Conference;
  knobs: Knobs;
  list: ListName;
  pigeonholeId: number | null;
  query: URLSearchParams;
  /** The request's scheme, host and path, for links.next. */
  url: string;
  /** Rules that affect this request. Rules about pages are applied here. */
  faults: ReadonlyMap<FaultKind, FaultRule>;
  nowMs: number;
}

const MAX_COUNT = 300;
const DEFAULT_COUNT = 30;

/**
 * Answers a list operation with the collection envelope, as JSON text.
 * @throws {ServiceError} 4504, 4509 or 6000, or the code of `staleCursor`
 */
export function listItems(request: ListRequest): string {
  const { conference, knobs, list, pigeonholeId, query } = request;
  const table = conference.table(list, pigeonholeId);
  if (table === undefined) throw new ServiceError(4504);
  const { order, cursor } = { order: knobs.order, cursor: knobs.cursor, ...definedOnly(knobs.lists[list]) };
  const { count, sent } = readCount(query.get('count'), knobs.maxPerPage);
  const isFiltered = !request.faults.has('ignoreFilters');
  const filters = readFilters(query, list, isFiltered ? LISTS[list].filters : []);
  const sessionIds = isFiltered ? checkSessions(request, filters) : null;

  const cursorText = query.get('cursor');
  if (cursorText !== null && cursorText !== '') refuseIfStale(request, cursorText);
  const place: CursorPosition =
    cursorText === null || cursorText === '' || request.faults.has('reorder')
      ? { kind: 'start' }
      : decodeCursor(cursorText, cursor);
  const { ids, matches } = chooseItems(table, filters, sessionIds, order);
  const page = request.faults.has('reorder')
    ? readReordered({ ids, matches, count, cursorText })
    : readPage({ ids, order, cursor, place, count, matches });
  const body = envelope(request, page, { table, count, sent, cursor, place, cursorText });
  changeAfterwards(request, page, { ids, order, sessionIds });
  return body;
}

/** Refuses a cursor that the rule `staleCursor` no longer accepts. */
function refuseIfStale({ conference, list, pigeonholeId, faults }: ListRequest, cursor: string): void {
  const rule = faults.get('staleCursor');
  if (rule === undefined) return;
  const issue = issueOf(cursor);
  const isCurrent =
    issue !== null &&
    (rule.issued === 'before'
      ? issue.number > (rule.cursorsIssued ?? 0)
      : issue.versions === conference.versionsOf(list, pigeonholeId));
  if (!isCurrent) throw new ServiceError(rule.code, { message: 'The cursor is no longer valid' });
}

/** Returns the page size, and the count to repeat in links.next, which is null if none was sent. */
function readCount(text: string | null, maxPerPage: number): { count: number; sent: string | null } {
  if (text === null) return { count: Math.min(DEFAULT_COUNT, maxPerPage), sent: null };
  const value = /^-?\d+$/.test(text) ? Number(text) : Number.NaN;
  if (value >= 1 && value <= MAX_COUNT) return { count: Math.min(value, maxPerPage), sent: text };
  throw new ServiceError(6000, { message: 'Invalid parameter value: count' });
}

/** Returns the sessions to show; null for all. */
function checkSessions(
  { conference, list, pigeonholeId }: ListRequest,
  { sessionIds }: Filters,
): readonly number[] | null {
  if (sessionIds === null) {
    if (LISTS[list].needsSession) throw new ServiceError(6000, { message: 'filter[sessionId] is required' });
    return null;
  }
  const space = pigeonholeId === null ? undefined : conference.space(pigeonholeId);
  const known = sessionIds.filter((id) => space?.sessions.has(id));
  if (known.length === 0) throw new ServiceError(4509);
  return known;
}

/** Returns the narrowest order that contains all matching items, and a test for the remaining filters. */
function chooseItems(
  table: AnyTable,
  filters: Filters,
  sessionIds: readonly number[] | null,
  order: Order,
): { ids: IdOrder; matches: ((id: number) => boolean) | null } {
  const arrangement = order === 'unordered' ? 'shuffled' : 'byId';
  const single = sessionIds?.length === 1 ? (sessionIds[0] ?? null) : null;
  const ids = table.order(single, arrangement);
  const { fields, item } = filters;
  if (fields === null && item === null && (sessionIds === null || single !== null)) return { ids, matches: null };
  const sessions = single === null && sessionIds !== null ? new Set(sessionIds) : null;
  const matches = (id: number): boolean => {
    if (item !== null) {
      const rendered = table.item(id);
      if (rendered === undefined || !item(rendered)) return false;
    }
    if (fields === null && sessions === null) return true;
    const found = table.fields(id);
    if (found === undefined || (fields !== null && !fields(found))) return false;
    return sessions === null || (found.sessionId !== undefined && sessions.has(found.sessionId));
  };
  return { ids, matches };
}

interface PageSetting {
  table: AnyTable;
  count: number;
  sent: string | null;
  cursor: CursorKind;
  place: CursorPosition;
  cursorText: string | null;
}

function envelope(request: ListRequest, page: IdPage, setting: PageSetting): string {
  const { conference, faults, knobs, list, nowMs, pigeonholeId } = request;
  const { table, count, place, cursorText } = setting;
  const issue = { text: knobs.cursorText, nowMs, versions: conference.versionsOf(list, pigeonholeId) };
  let ids = page.ids;
  let hasMore = page.next !== null;
  let nextCursor =
    page.next === null
      ? null
      : encodeCursor(page.next, page.walk === undefined ? issue : { ...issue, nonce: page.walk });
  if (faults.has('emptyPage')) {
    ids = [];
    hasMore = true;
    nextCursor = encodeCursor(place, { ...issue, nonce: page.ids.length + (cursorText?.length ?? 0) });
  }
  const short = faults.get('shortList');
  if (short !== undefined) [ids, hasMore, nextCursor] = [ids.slice(0, short.show), false, null];
  if (faults.has('earlyEnd')) [hasMore, nextCursor] = [false, null];
  if (faults.has('circle') && !hasMore) [hasMore, nextCursor] = [true, encodeCursor({ kind: 'start' }, issue)];
  if (faults.has('lastPageAgain') && !hasMore) [hasMore, nextCursor] = [true, encodeCursor(place, issue)];
  if (faults.has('repeatCursor') && cursorText !== null) [hasMore, nextCursor] = [true, cursorText];
  if (faults.has('moreWithoutCursor')) [hasMore, nextCursor] = [true, null];

  const bad = faults.get('badRows');
  const parts: string[] = [];
  for (const id of ids) {
    const item = table.item(id);
    if (item === undefined) continue;
    parts.push(spellInstants(bad === undefined ? JSON.stringify(item) : spoiled(item, bad.as), knobs.instants));
  }
  const links = JSON.stringify({ next: nextCursor === null ? null : nextUrl(request, setting, nextCursor) });
  const meta = JSON.stringify({ perPage: count, nextCursor, hasMore });
  return `{"data":[${parts.join(',')}],"links":${links},"meta":${meta}}`;
}

/** Spells the instants of an item in another way, as the service may after an update. */
function spellInstants(item: string, spelling: InstantSpelling): string {
  if (spelling === 'fraction') return item;
  const zone = spelling === 'offset' ? '+00:00' : 'Z';
  return item.replace(
    /("(?:createdAt|signInTime|obtainedAt)":"\d{4}-\d\d-\d\dT[\d:]{8})(\.\d+)?Z"/g,
    (_, seconds: string, fraction = '') => `${seconds}${/[1-9]/.test(String(fraction)) ? fraction : ''}${zone}"`,
  );
}

/** Returns a row as JSON text, with ids in a form that the specification does not allow. */
function spoiled(item: JsonObject, as: FaultRule['as']): string {
  if (as === 'nothing') return 'null';
  const isId = (value: unknown): value is number => typeof value === 'number';
  const forms = {
    text: String,
    null: () => null,
    huge: (id: number) => 2 ** 53 + 2 * id,
    same: () => 1,
    'session-text': (id: number) => id,
  };
  return JSON.stringify(item, (name, value: unknown) => {
    if (name === 'id' && isId(value)) return forms[as](value);
    const isSession = as === 'session-text' && name === 'session' && typeof value === 'object' && value !== null;
    return isSession ? { ...value, id: JSON.stringify((value as JsonObject)['id']) } : value;
  });
}

function nextUrl({ query, url }: ListRequest, { sent }: PageSetting, nextCursor: string): string {
  const next = new URLSearchParams();
  for (const [name, value] of query) if (name.startsWith('filter[')) next.append(name, value);
  next.set('cursor', nextCursor);
  if (sent !== null) next.set('count', sent);
  return `${url}?${next.toString()}`;
}

function changeAfterwards(
  { conference, list, pigeonholeId, faults, nowMs }: ListRequest,
  page: IdPage,
  { ids, order, sessionIds }: { ids: IdOrder; order: Order; sessionIds: readonly number[] | null },
): void {
  const rule = faults.get('changeDuringWalk');
  const space = pigeonholeId === null ? undefined : conference.space(pigeonholeId);
  if (rule === undefined || space === undefined || !isSpaceListName(list)) return;
  const sessionId = sessionIds?.[0] ?? null;
  changeBetweenPages({ conference, space, list, sessionId, order, ids, pageIds: page.ids, nowMs }, rule);
}

function definedOnly<T extends object>(values: T | undefined): { [Key in keyof T]?: Exclude<T[Key], undefined> } {
  return Object.fromEntries(Object.entries(values ?? {}).filter(([, value]) => value !== undefined)) as never;
}

/** Returns an entity in `data`, as in the answers to single reads and creates. */
export function singleBody(item: JsonObject): string {
  return JSON.stringify({ data: item });
}

/** The page that a walk has just received, and its list. */
interface WalkedPage {
  conference: Conference;
  space: PigeonholeSpace;
  list: SpaceListName;
  /** The session that the walk is restricted to; null for a whole list. */
  sessionId: number | null;
  order: Order;
  ids: IdOrder;
  pageIds: readonly number[];
  nowMs: number;
}

/** Maximum number of tries to find an id on the wanted side of a shuffled list. */
const ATTEMPTS = 1000;

/**
 * Inserts and removes items on one side of a cursor between two pages of a walk. Items removed "behind" were on the
 * page just returned; items removed "ahead" would have been next.
 */
function changeBetweenPages(page: WalkedPage, rule: FaultRule): void {
  const { conference, space, list, pageIds, nowMs } = page;
  const lastId = pageIds.at(-1);
  if (lastId === undefined) return;
  for (const id of idsToRemove(page, rule, lastId)) {
    mutate(conference, { op: 'delete', list, pigeonholeId: space.id, id }, nowMs);
  }
  for (let count = 0; count < rule.insert; count += 1) {
    const id = freeIdOnSide(page, rule.where, lastId);
    if (id === undefined) return;
    const drawn = draw(conference.size.seed, 0x3a1c, id);
    const added = addNewItem({ space, list, drawn, nowMs, id, sessionId: page.sessionId ?? undefined });
    if (added === undefined) space.table(list).insert({ id }, id);
  }
}

function idsToRemove({ ids, order, pageIds }: WalkedPage, rule: FaultRule, lastId: number): number[] {
  if (rule.where === 'behind') return pageIds.slice(0, rule.remove);
  const after = rankAfter(ids, order, lastId);
  const ahead: number[] = [];
  for (let rank = after; rank < Math.min(after + rule.remove, ids.size); rank += 1) {
    const id = ids.idAt(order === 'descending' ? ids.size - 1 - rank : rank);
    if (id !== undefined) ahead.push(id);
  }
  return ahead;
}

function freeIdOnSide(page: WalkedPage, side: 'behind' | 'ahead', lastId: number): number | undefined {
  const { space, list, order, ids, pageIds } = page;
  const table = space.table(list);
  if (order === 'unordered') {
    for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
      const id = table.freeId() + attempt;
      if (ids.rankOf(id) < ids.rankOf(lastId) === (side === 'behind')) return id;
    }
    return undefined;
  }
  const firstId = pageIds[0] ?? lastId;
  // Items behind the cursor have lower ids in an ascending list, and higher ids in a descending one.
  const lower = (order === 'ascending') === (side === 'behind');
  const edge = side === 'behind' ? firstId : lastId;
  return table.freeId(lower ? edge : edge + ID_STRIDE);
}
