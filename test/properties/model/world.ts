import { type PigeonholeListName, pigeonholeLists } from '../../../base/lists.js';
import { contentOf, type Item, markOf, type Row, shownAs } from './row.js';

export type ListOrder = 'ascending' | 'descending' | 'unordered';

/** Properties of the service's lists. `perPage` and `orders` may change during a life. */
export interface WorldShape {
  readonly pigeonholeIds: readonly number[];
  readonly cursors: 'keyset' | 'offset';
  /** Whether a cursor contains its request, so that no two answers have the same cursor. */
  readonly signedCursors: boolean;
  /** Whether the service applies optional filters or ignores them. */
  readonly filters: boolean;
  readonly perPage: number;
  readonly orders: Readonly<Record<PigeonholeListName, ListOrder>>;
}

/** Rows of a mark in a list from an instant on: their number and contents (without persons and copies). */
interface Held {
  readonly tick: number;
  readonly count: number;
  readonly content: string | undefined;
}

/** A period of the world's time; both bounds are included. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

/**
 * The data of the model service and its history: the truth to compare a ledger with. An instant is a tick; every change
 * and every request advances the clock.
 */
export class ModelWorld {
  tick = 0;
  perPage: number;
  readonly orders: Record<PigeonholeListName, ListOrder>;
  readonly #rows = new Map<string, Row[]>();
  /** Deleted rows in their last form. */
  readonly #past = new Map<string, Row[]>();
  /** Rows before their latest change, by place and id. */
  readonly #former = new Map<string, Row>();
  readonly #held = new Map<string, Held[]>();

  constructor(readonly shape: WorldShape) {
    this.perPage = shape.perPage;
    this.orders = { ...shape.orders };
  }

  /** Returns rows as stored. The service sorts them for a page. */
  rows(pigeonholeId: number, list: PigeonholeListName): readonly Row[] {
    return this.#rows.get(placeOf(pigeonholeId, list)) ?? [];
  }

  /** Returns deleted rows that were not restored, latest last. */
  past(pigeonholeId: number, list: PigeonholeListName): readonly Row[] {
    return this.#past.get(placeOf(pigeonholeId, list)) ?? [];
  }

  shown(pigeonholeId: number, row: Row): Item {
    const find = (list: PigeonholeListName, id: number): Row | undefined =>
      this.rows(pigeonholeId, list).find((other) => other.id === id);
    return shownAs(row, { session: (id) => find('sessions', id), question: (id) => find('questions', id) });
  }

  put(pigeonholeId: number, row: Row): void {
    this.#write(pigeonholeId, row.list, [...this.rows(pigeonholeId, row.list), row]);
    const place = placeOf(pigeonholeId, row.list);
    this.#past.set(
      place,
      (this.#past.get(place) ?? []).filter(({ id }) => id !== row.id),
    );
  }

  /** Returns a row before its latest change; undefined if it never changed. */
  former(pigeonholeId: number, { list, id }: Row): Row | undefined {
    return this.#former.get(`${placeOf(pigeonholeId, list)} ${id}`);
  }

  replace(pigeonholeId: number, row: Row, by: Partial<Row>): void {
    this.#former.set(`${placeOf(pigeonholeId, row.list)} ${row.id}`, row);
    const rows = this.rows(pigeonholeId, row.list).map((other) => (other === row ? { ...row, ...by } : other));
    this.#write(pigeonholeId, row.list, rows);
  }

  remove(pigeonholeId: number, row: Row): void {
    const place = placeOf(pigeonholeId, row.list);
    this.#past.set(place, [...(this.#past.get(place) ?? []), row]);
    this.#write(
      pigeonholeId,
      row.list,
      this.rows(pigeonholeId, row.list).filter((other) => other !== row),
    );
  }

  /** Returns the first instant of a span at which the rows of a mark met a condition. */
  firstHeld(
    pigeonholeId: number,
    list: PigeonholeListName,
    mark: string,
    { from, to }: Span,
    meets: (held: Pick<Held, 'count' | 'content'>) => boolean,
  ): number | undefined {
    const all = [nothing, ...(this.#held.get(`${placeOf(pigeonholeId, list)} ${mark}`) ?? [])];
    for (const [index, held] of all.entries()) {
      const until = all[index + 1]?.tick ?? Infinity;
      if (held.tick <= to && until > from && meets(held)) return Math.max(held.tick, from);
    }
    return undefined;
  }

  #write(pigeonholeId: number, list: PigeonholeListName, rows: Row[]): void {
    const place = placeOf(pigeonholeId, list);
    this.tick += 1;
    const before = byMark(this.#rows.get(place) ?? []);
    const after = byMark(rows);
    this.#rows.set(place, rows);
    for (const mark of new Set([...before.keys(), ...after.keys()])) {
      const now = after.get(mark) ?? [];
      if (now.length === before.get(mark)?.length && now.every((row) => before.get(mark)!.includes(row))) continue;
      const [row] = now;
      const content = row === undefined ? undefined : contentOf(list, this.shown(pigeonholeId, row), false);
      const name = `${place} ${mark}`;
      this.#held.set(name, [...(this.#held.get(name) ?? []), { tick: this.tick, count: now.length, content }]);
    }
  }
}

const nothing: Held = { tick: 0, count: 0, content: undefined };

/** Returns the same order for every list. */
export function allOrders(order: ListOrder): Record<PigeonholeListName, ListOrder> {
  return Object.fromEntries(pigeonholeLists.map((list) => [list, order])) as Record<PigeonholeListName, ListOrder>;
}

function placeOf(pigeonholeId: number, list: string): string {
  return `${pigeonholeId} ${list}`;
}

function byMark(rows: readonly Row[]): Map<string, Row[]> {
  const marks = new Map<string, Row[]>();
  for (const row of rows) marks.set(markOf(row), [...(marks.get(markOf(row)) ?? []), row]);
  return marks;
}
