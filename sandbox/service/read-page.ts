import type { IdOrder } from '../store/id-order.js';
import type { CursorKind, Order, CursorText } from './knobs.js';
import { createHmac, randomUUID } from 'node:crypto';
import { ServiceError } from './service-error.js';
import { draw } from '../world/random.js';

interface PageQuery {
  /** Order of the whole list, or of one session's part of it. */
  ids: IdOrder;
  order: Order;
  cursor: CursorKind;
  place: CursorPosition;
  count: number;
  /** Null if every id matches. */
  matches: ((id: number) => boolean) | null;
}

export interface IdPage {
  ids: number[];
  /** The position after the page; null for the last page. */
  next: CursorPosition | null;
  /** The number of the walk whose order the page has; undefined: the order of the list. */
  walk?: number;
}

let walks = 0;

/**
 * Returns the ids of one page, in an order that only this walk has. A request without a cursor begins a new walk. A
 * position counts items, so a removal before it moves other items to pages that were already read.
 */
export function readReordered({
  ids,
  matches,
  count,
  cursorText,
}: Pick<PageQuery, 'ids' | 'matches' | 'count'> & { cursorText: string | null }): IdPage {
  const [, start = '0', number] = /^offset_(\d+)~(\d+)/.exec(Buffer.from(cursorText ?? '', 'base64').toString()) ?? [];
  const walk = number === undefined ? (walks += 1) : Number(number);
  const all = Array.from({ length: ids.size }, (_, rank) => ids.idAt(rank)!).filter((id) => matches?.(id) ?? true);
  const keyed = all.map((id) => ({ id, key: draw(walk, 0x5f, id) })).toSorted((one, other) => one.key - other.key);
  const offset = Number(start);
  const page = keyed.slice(offset, offset + count).map(({ id }) => id);
  const next = offset + page.length < keyed.length ? ({ kind: 'offset', offset: offset + page.length } as const) : null;
  return { ids: page, next, walk };
}

/**
 * Returns the ids of one page. A keyset cursor continues after an id, even if the id has moved. An offset counts items,
 * so insertions and deletions before it make it repeat or skip items. Tests need both.
 */
export function readPage(query: PageQuery): IdPage {
  const { ids, place, count, matches } = query;
  const size = ids.size;
  const idAt = (rank: number): number | undefined => ids.idAt(query.order === 'descending' ? size - 1 - rank : rank);

  let rank = 0;
  let toSkip = 0;
  if (place.kind === 'keyset') rank = rankAfter(ids, query.order, place.id);
  else if (place.kind === 'offset' && matches === null) rank = Math.max(place.offset, 0);
  else if (place.kind === 'offset') toSkip = place.offset;

  const page: number[] = [];
  for (; rank < size; rank += 1) {
    const id = idAt(rank);
    if (id === undefined || (matches !== null && !matches(id))) continue;
    if (toSkip > 0) {
      toSkip -= 1;
      continue;
    }
    if (page.length === count) return { ids: page, next: placeAfter(query, page) };
    page.push(id);
  }
  return { ids: page, next: null };
}

/** Returns the number of items up to and including an id, in reading order. */
export function rankAfter(ids: IdOrder, order: Order, id: number): number {
  const before = ids.rankOf(id);
  return order === 'descending' ? ids.size - before : before + (ids.has(id) ? 1 : 0);
}

function placeAfter(query: PageQuery, page: readonly number[]): CursorPosition {
  const last = page.at(-1);
  if (query.cursor === 'keyset' && last !== undefined) return { kind: 'keyset', id: last };
  const before = query.place.kind === 'offset' ? query.place.offset : 0;
  return { kind: 'offset', offset: before + page.length };
}

/**
 * A position in a list. `start` is before the first item, where a request without a cursor starts. Only faults issue a
 * cursor for it.
 */
export type CursorPosition = { kind: 'keyset'; id: number } | { kind: 'offset'; offset: number } | { kind: 'start' };

/** Key to sign cursors, valid for this process. */
const signingKey = randomUUID();
let cursorsSigned = 0;

/**
 * Encodes a cursor: base64 of `cursor_<id>` (like a published sample) or `offset_<n>`. `nonce` produces a different
 * string for the same position. A signed cursor also contains the time of issue, so that no two answers contain the
 * same cursor, and the versions of the data that the list shows.
 */
export function encodeCursor(
  place: CursorPosition,
  {
    text = 'plain',
    nonce,
    nowMs = 0,
    versions = '0',
  }: { text?: CursorText; nonce?: number; nowMs?: number; versions?: string } = {},
): string {
  const value =
    place.kind === 'keyset' ? `cursor_${place.id}` : place.kind === 'offset' ? `offset_${place.offset}` : 'start';
  const named = nonce === undefined ? value : `${value}~${nonce}`;
  if (text === 'plain') return Buffer.from(named).toString('base64');
  cursorsSigned += 1;
  const issued = `${named}@${nowMs}.${cursorsSigned}.${versions}`;
  return Buffer.from(`${issued}!${signatureOf(issued)}`).toString('base64');
}

/**
 * @param kind the kind of cursor that the list uses now; a cursor of the other kind was issued before the setting
 *   changed, and is refused
 * @throws {ServiceError} 6000 for anything this service did not issue
 */
export function decodeCursor(text: string, kind: CursorKind): CursorPosition {
  const decoded = unsigned(Buffer.from(text, 'base64').toString('latin1'));
  const match = /^(?:(cursor|offset)_(-?\d{1,15})|start)(?:~\d+)?$/.exec(decoded);
  if (match === null) throw refused();
  const value = Number(match[2]);
  if (match[1] === undefined) return { kind: 'start' };
  if (match[1] === 'cursor' && kind === 'keyset') return { kind: 'keyset', id: value };
  if (match[1] === 'offset' && kind === 'offset') return { kind: 'offset', offset: value };
  throw refused();
}

/** Returns how many cursors were signed so far. */
export function cursorsIssued(): number {
  return cursorsSigned;
}

/** Returns the number of a signed cursor, and the versions that it was issued for; null for any other text. */
export function issueOf(text: string): { number: number; versions: string } | null {
  const [, , number, versions] = signedForm.exec(Buffer.from(text, 'base64').toString('latin1')) ?? [];
  return number === undefined || versions === undefined ? null : { number: Number(number), versions };
}

const signedForm = /^(.*)@\d+\.(\d+)\.([\d/a-z]+)!([0-9a-f]{16})$/;

/** Removes time and signature. Both forms are always accepted, since a cursor outlives a change of the knob. */
function unsigned(decoded: string): string {
  const match = signedForm.exec(decoded);
  if (match === null) return decoded;
  const signature = match.at(-1)!;
  if (signature !== signatureOf(decoded.slice(0, -signature.length - 1))) throw refused();
  return match[1]!;
}

function signatureOf(text: string): string {
  return createHmac('sha256', signingKey).update(text).digest('hex').slice(0, 16);
}

function refused(): ServiceError {
  return new ServiceError(6000, { message: 'Invalid parameter value: cursor' });
}
