import { isJsonObject, mergePatch, type JsonObject } from '../json.js';
import { ID_STRIDE, IdOrder, type Arrangement } from './id-order.js';

/** Fields of an item that a filter can match; undefined if the list has no such field. */
export interface FilterFields {
  sessionId?: number | undefined;
  attendeeId?: number | undefined;
  questionId?: number | undefined;
  status?: string | undefined;
  rate?: number | undefined;
}

/** Consecutive generated items of one session; `sessionId` is null in lists without sessions. */
export interface Block {
  readonly sessionId: number | null;
  readonly count: number;
}

/**
 * Generates the items of a list. `Facts` is the minimal data of an item. Names and texts of other entities are looked
 * up when the item is rendered, so that every vote shows the new name of a renamed session.
 */
export interface ItemSource<Facts> {
  readonly firstId: number;
  readonly blocks: readonly Block[];
  facts(index: number): Facts;
  render(id: number, facts: Facts): JsonObject;
}

/** The view of a table for callers that do not need its facts. */
export interface AnyTable {
  readonly size: number;
  /** Increases with every change. A rendered page is valid while the versions it was rendered from are current. */
  readonly version: number;
  order(sessionId: number | null, arrangement: Arrangement): IdOrder;
  has(id: number): boolean;
  item(id: number): JsonObject | undefined;
  fields(id: number): FilterFields | undefined;
  insert(item: JsonObject, id?: number): number;
  patch(id: number, patch: JsonObject): JsonObject | undefined;
  remove(id: number): boolean;
  restore(id: number): boolean;
  clear(): void;
  freeId(near?: number): number;
}

/** An item that differs from its generated form: added, edited, or both. */
interface Stored<Facts> {
  /** Null for an item that was inserted as a whole. */
  facts: Facts | null;
  /** The whole item, if it has no facts. */
  whole: JsonObject | null;
  /** Edits in order. They are stored separately, since two merge patches cannot always be combined into one. */
  patches: readonly JsonObject[];
  sessionId: number | null;
}

/**
 * One list: generated items, and the changes made to them. Only the changes and the ids of lists that were read are
 * held in memory.
 */
export class ItemTable<Facts> implements AnyTable {
  readonly #source: ItemSource<Facts>;
  readonly #seed: number;
  #blocks: readonly Block[];
  #generated: number;
  /** The number of items that were generated before `clear`. */
  readonly #everGenerated: number;
  readonly #stored = new Map<number, Stored<Facts>>();
  /** Removed items in their last form (null: as generated), for items that still refer to them. */
  readonly #removed = new Map<number, Stored<Facts> | null>();
  /** Ids that `clear` removed, except those of generated items. */
  readonly #cleared = new Set<number>();
  readonly #orders = new Map<string, { sessionId: number | null; order: IdOrder }>();
  #lastId: number;
  #version = 0;

  constructor(source: ItemSource<Facts>, seed: number) {
    this.#source = source;
    this.#seed = seed;
    this.#blocks = source.blocks;
    this.#generated = source.blocks.reduce((sum, block) => sum + block.count, 0);
    this.#everGenerated = this.#generated;
    this.#lastId = source.firstId + (this.#generated - 1) * ID_STRIDE;
  }

  get size(): number {
    return this.order(null, 'byId').size;
  }

  get version(): number {
    return this.#version;
  }

  /** Returns the order of the whole list or of one session's items. Later changes update it. */
  order(sessionId: number | null, arrangement: Arrangement): IdOrder {
    const name = `${arrangement}/${sessionId ?? 'all'}`;
    const known = this.#orders.get(name);
    if (known !== undefined) return known.order;
    const order = new IdOrder(this.#generatedIds(sessionId), arrangement, this.#seed);
    for (const id of this.#removed.keys()) order.remove(id);
    for (const [id, stored] of this.#stored) {
      if (sessionId === null || stored.sessionId === sessionId) order.put(id);
      else order.remove(id);
    }
    this.#orders.set(name, { sessionId, order });
    return order;
  }

  has(id: number): boolean {
    return this.#stored.has(id) || (this.#indexOf(id) !== null && !this.#removed.has(id));
  }

  /** Returns the item as the API shows it now; undefined if the list does not contain it. */
  item(id: number): JsonObject | undefined {
    const stored = this.#stored.get(id);
    if (stored !== undefined) return this.#render(id, stored);
    const index = this.#indexOf(id);
    if (index === null || (this.#removed.size > 0 && this.#removed.has(id))) return undefined;
    return this.#source.render(id, this.#source.facts(index));
  }

  /** Returns the item, or the last form of a removed one, since a vote may refer to a removed question. */
  itemOrRemoved(id: number): JsonObject | undefined {
    const removed = this.#removed.get(id);
    if (removed === undefined) return this.item(id);
    if (removed !== null) return this.#render(id, removed);
    const index = this.#indexOf(id);
    return index === null ? undefined : this.#source.render(id, this.#source.facts(index));
  }

  /** Returns the fields of an item that filters match. */
  fields(id: number): FilterFields | undefined {
    const item = this.item(id);
    return item === undefined ? undefined : fieldsOfItem(item);
  }

  /** Returns the facts of an item as generated or added, without edits. */
  facts(id: number): Facts | undefined {
    const stored = this.#stored.get(id);
    if (stored !== undefined) return stored.facts ?? undefined;
    const index = this.#indexOf(id);
    return index === null || this.#removed.has(id) ? undefined : this.#source.facts(index);
  }

  /** Adds an item with these facts and returns its id: the given id, or the next one. */
  add(facts: Facts, id = this.freeId()): number {
    const { sessionId = null } = fieldsOfItem(this.#source.render(id, facts));
    this.#store(id, { facts, whole: null, patches: [], sessionId });
    return id;
  }

  /** Adds an item exactly as given, valid or not, and replaces any item with that id. */
  insert(item: JsonObject, id = this.freeId()): number {
    this.#store(id, { facts: null, whole: item, patches: [], sessionId: fieldsOfItem(item).sessionId ?? null });
    return id;
  }

  /** Applies a merge patch to an item and returns it; undefined if no item has that id. */
  patch(id: number, patch: JsonObject): JsonObject | undefined {
    if (!this.has(id)) return undefined;
    const generated = { facts: this.facts(id) ?? null, whole: null, patches: [] };
    const before = this.#stored.get(id) ?? generated;
    const stored: Stored<Facts> = { ...before, patches: [...before.patches, patch], sessionId: null };
    const item = this.#render(id, stored);
    stored.sessionId = fieldsOfItem(item).sessionId ?? null;
    this.#store(id, stored);
    return item;
  }

  /** Removes an item from the list; returns false if it was not there. */
  remove(id: number): boolean {
    if (!this.has(id)) return false;
    this.#version += 1;
    this.#removed.set(id, this.#stored.get(id) ?? null);
    this.#stored.delete(id);
    for (const { order } of this.#orders.values()) order.remove(id);
    return true;
  }

  /** Restores a removed item unchanged; returns false if it was not removed. */
  restore(id: number): boolean {
    const removed = this.#removed.get(id);
    if (removed === undefined) return false;
    this.#removed.delete(id);
    if (removed !== null) {
      this.#store(id, removed);
      return true;
    }
    this.#version += 1;
    const own = this.fields(id)?.sessionId ?? null;
    for (const { sessionId, order } of this.#orders.values())
      if (sessionId === null || sessionId === own) order.put(id);
    return true;
  }

  /** Removes every item, as the service does when test mode ends. Ids keep counting up. */
  clear(): void {
    this.#version += 1;
    this.#blocks = [];
    this.#generated = 0;
    for (const id of [...this.#stored.keys(), ...this.#removed.keys()]) this.#cleared.add(id);
    this.#stored.clear();
    this.#removed.clear();
    this.#orders.clear();
  }

  /** Returns an id that was never used: the next one, or the nearest one below `near`. */
  freeId(near?: number): number {
    if (near === undefined) return this.#lastId + ID_STRIDE;
    let id = near - 1;
    while (this.#wasUsed(id)) id -= 1;
    return id;
  }

  #wasUsed(id: number): boolean {
    if (this.#stored.has(id) || this.#removed.has(id) || this.#cleared.has(id)) return true;
    return this.#positionOf(id) < this.#everGenerated;
  }

  #store(id: number, stored: Stored<Facts>): void {
    this.#version += 1;
    this.#stored.set(id, stored);
    this.#removed.delete(id);
    this.#lastId = Math.max(this.#lastId, id);
    for (const { sessionId, order } of this.#orders.values()) {
      if (sessionId === null || sessionId === stored.sessionId) order.put(id);
      else order.remove(id); // the item may have moved to another session
    }
  }

  #render(id: number, stored: Stored<Facts>): JsonObject {
    const item = stored.facts === null ? (stored.whole ?? {}) : this.#source.render(id, stored.facts);
    return stored.patches.reduce(mergePatch, item);
  }

  #generatedIds(sessionId: number | null): number[] {
    const idsFrom = (offset: number, count: number): number[] =>
      Array.from({ length: count }, (_, index) => this.#source.firstId + (offset + index) * ID_STRIDE);
    if (sessionId === null) return idsFrom(0, this.#generated);
    let offset = 0;
    for (const block of this.#blocks) {
      if (block.sessionId === sessionId) return idsFrom(offset, block.count);
      offset += block.count;
    }
    return [];
  }

  #indexOf(id: number): number | null {
    const index = this.#positionOf(id);
    return index < this.#generated ? index : null;
  }

  /** Returns the position at which the source generates the id, were the list long enough; infinite if it never does. */
  #positionOf(id: number): number {
    const index = (id - this.#source.firstId) / ID_STRIDE;
    return Number.isInteger(index) && index >= 0 ? index : Number.POSITIVE_INFINITY;
  }
}

/** Creates a list without generated items. */
export function createStoredTable(firstId: number, seed: number): ItemTable<JsonObject> {
  return new ItemTable<JsonObject>({ firstId, blocks: [], facts: () => ({}), render: (_id, item) => item }, seed);
}

/** Returns the fields of a rendered item that filters match. Their names differ between lists. */
function fieldsOfItem(item: JsonObject): FilterFields {
  const inner = (key: string): JsonObject => {
    const value = item[key];
    return isJsonObject(value) ? value : {};
  };
  const number = (value: unknown): number | undefined => (typeof value === 'number' ? value : undefined);
  const text = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);
  return {
    sessionId: number(inner('session')['id']),
    attendeeId: number(item['attendeeId']) ?? number(inner('attendee')['id']),
    questionId: number(inner('question')['id']),
    status: text(item['status']) ?? text(inner('answer')['status']) ?? text(inner('question')['status']),
    rate: number(inner('answerRating')['rate']),
  };
}
