import type { JsonObject } from '../json.js';
import type { ListName } from '../list-name.js';

/** Since when an item has been gone, and whether it came back. */
export interface Absence {
  readonly list: ListName;
  /** Null for the two lists of the workspace. */
  readonly pigeonholeId: number | null;
  /** Null: every item of the list, when it was cleared. */
  readonly id: number | null;
  /** As the service showed it last; null where the list was cleared. */
  readonly item: JsonObject | null;
  /** ISO 8601. */
  readonly goneAt: string;
  /** Null while it is gone. */
  backAt: string | null;
}

/**
 * What left the lists and when: with the truth, all that is needed to tell a right deletion from a false one. Kept in
 * memory for the life of the sandbox, one entry a removal.
 */
export class Absences {
  readonly #all: Absence[] = [];

  gone(absence: Omit<Absence, 'goneAt' | 'backAt'>, nowMs: number): void {
    this.#all.push({ ...absence, goneAt: new Date(nowMs).toISOString(), backAt: null });
  }

  /** Ends the open absence of an item; nothing when there is none. */
  back(list: ListName, pigeonholeId: number | null, id: number, nowMs: number): void {
    const open = this.#all.findLast(
      (each) => each.list === list && each.pigeonholeId === pigeonholeId && each.id === id && each.backAt === null,
    );
    if (open !== undefined) open.backAt = new Date(nowMs).toISOString();
  }

  all(): readonly Absence[] {
    return this.#all;
  }

  /** Single items of a pigeonhole that are gone now, oldest first. */
  openIn(pigeonholeId: number): readonly (Absence & { readonly id: number })[] {
    return this.#all.filter(
      (each): each is Absence & { readonly id: number } =>
        each.pigeonholeId === pigeonholeId && each.id !== null && each.backAt === null,
    );
  }
}
