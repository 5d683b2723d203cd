import type { SpaceListName } from '../list-name.js';
import { ID_STRIDE, type IdOrder } from '../store/id-order.js';
import type { Conference } from '../world/conference.js';
import { mutate } from '../world/mutations.js';
import { addNewItem } from '../world/new-item.js';
import type { PigeonholeSpace } from '../world/pigeonhole-space.js';
import { draw } from '../world/random.js';
import type { FaultRule } from './faults.js';
import type { Order } from './knobs.js';
import { rankAfter } from './read-page.js';

/** The page that a walk has just received, and its list. */
export interface WalkedPage {
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
export function changeBetweenPages(page: WalkedPage, rule: FaultRule): void {
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
