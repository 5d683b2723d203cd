import type { Json, JsonObject } from '../json.js';
import { isSpaceListName, type ListName } from '../list-name.js';
import { createStoredTable, type AnyTable, type ItemTable } from '../store/item-table.js';
import {
  FIRST_PIGEONHOLE_ID,
  planConference,
  type ConferenceSize,
  pigeonholeItem,
  type PigeonholeFacts,
} from './conference-plan.js';
import { PigeonholeSpace } from './pigeonhole-space.js';
import { childSeed } from './random.js';
import { zonedDateTime } from './zoned-time.js';

const YEAR_MS = 365 * 24 * 3_600_000;

/** The service's data of one workspace. */
export class Conference {
  readonly size: ConferenceSize;
  readonly pigeonholes: ItemTable<JsonObject>;
  readonly subscriptions: ItemTable<JsonObject>;
  /** Items removed from the lists, with the time of removal. */
  readonly absences = new Absences();
  /** Changes of attendees' consent, oldest first. Kept in memory for the life of the sandbox. */
  readonly consentChanges: ConsentChange[] = [];
  readonly #spaces = new Map<number, PigeonholeSpace>();

  /** @param workspaceKind a Personal workspace has no subscriptions, a Team workspace has two */
  constructor(size: ConferenceSize, workspaceKind: 'personal' | 'team') {
    this.size = size;
    this.pigeonholes = createStoredTable(FIRST_PIGEONHOLE_ID, size.seed);
    this.subscriptions = createStoredTable(7, size.seed);
    for (const plan of planConference(size)) {
      this.pigeonholes.insert(pigeonholeItem(plan.facts, size.seed), plan.facts.id);
      this.#spaces.set(plan.facts.id, new PigeonholeSpace(size, plan));
    }
    if (workspaceKind === 'team') {
      for (const [id, name, timezone] of [
        [7, 'Conference plan', 'Asia/Singapore'],
        [17, 'Town hall plan', 'Europe/Berlin'],
      ] as const) {
        const startDate = zonedDateTime(size.nowMs - YEAR_MS / 2, timezone);
        const endDate = zonedDateTime(size.nowMs + YEAR_MS / 2, timezone);
        this.subscriptions.insert({ id, name, startDate, endDate, timezone }, id);
      }
    }
  }

  /** Returns the contents of a pigeonhole; undefined if it does not exist or was deleted. */
  space(pigeonholeId: number): PigeonholeSpace | undefined {
    return this.pigeonholes.has(pigeonholeId) ? this.#spaces.get(pigeonholeId) : undefined;
  }

  spaces(): PigeonholeSpace[] {
    return [...this.#spaces.values()].filter((space) => this.pigeonholes.has(space.id));
  }

  /** Returns a list; undefined if it needs a pigeonhole that does not exist. */
  table(list: ListName, pigeonholeId: number | null): AnyTable | undefined {
    if (list === 'pigeonholes') return this.pigeonholes;
    if (list === 'subscriptions') return this.subscriptions;
    return isSpaceListName(list) && pigeonholeId !== null ? this.space(pigeonholeId)?.table(list) : undefined;
  }

  /** Returns a text that changes with every value that the list shows, including copies from other lists. */
  versionsOf(list: ListName, pigeonholeId: number | null): string {
    const own = this.table(list, pigeonholeId)?.version ?? 'none';
    const space = pigeonholeId === null || list === 'attendees' ? undefined : this.space(pigeonholeId);
    if (space === undefined) return String(own);
    return `${own}/${space.sessions.version}/${space.questions.version}/${space.attendees.version}`;
  }

  /** Creates an empty pigeonhole with the next id and returns it as the API shows it. */
  createPigeonhole(facts: Omit<PigeonholeFacts, 'id'>): JsonObject {
    const id = this.pigeonholes.freeId();
    const item = pigeonholeItem({ ...facts, id }, this.size.seed);
    this.addPigeonhole(id, item);
    return item;
  }

  /** Adds an empty pigeonhole as given. */
  addPigeonhole(id: number, item: JsonObject): void {
    this.pigeonholes.insert(item, id);
    if (this.#spaces.has(id)) return;
    const place = this.#spaces.size;
    const facts = { id, name: '', description: '', startDate: '', endDate: '', status: 'new', timezone: 'UTC' };
    this.#spaces.set(
      id,
      new PigeonholeSpace(
        { ...this.size, seed: childSeed(this.size.seed, id) },
        {
          place,
          facts: { ...facts, attendeeProfiles: true, registrants: false, attendeeCodeRequired: false },
          attendees: 0,
          opensAtMs: this.size.nowMs,
          closesAtMs: this.size.nowMs,
          sessions: [],
        },
      ),
    );
  }
}

/** A change of an attendee's `consent`, as the API showed it before and after; absent if the item had no such field. */
interface ConsentChange {
  readonly pigeonholeId: number;
  readonly id: number;
  readonly from: Json | undefined;
  readonly to: Json | undefined;
  /** ISO 8601. */
  readonly at: string;
}

/** Time of an item's removal, and whether it was restored. */
interface Absence {
  readonly list: ListName;
  /** Null for the two lists of the workspace. */
  readonly pigeonholeId: number | null;
  /** Null: every item of the list, when it was cleared. */
  readonly id: number | null;
  /** The item as last shown; null if the list was cleared. */
  readonly item: JsonObject | null;
  /** ISO 8601. */
  readonly goneAt: string;
  /** Null while the item is deleted. */
  backAt: string | null;
}

/**
 * Log of removals. Together with the truth, it distinguishes correct deletions from false ones. Kept in memory for the
 * life of the sandbox, with one entry per removal.
 */
class Absences {
  readonly #all: Absence[] = [];

  gone(absence: Omit<Absence, 'goneAt' | 'backAt'>, nowMs: number): void {
    this.#all.push({ ...absence, goneAt: new Date(nowMs).toISOString(), backAt: null });
  }

  /** Ends the open absence of an item. No effect if there is none. */
  back(list: ListName, pigeonholeId: number | null, id: number, nowMs: number): void {
    const open = this.#all.findLast(
      (each) => each.list === list && each.pigeonholeId === pigeonholeId && each.id === id && each.backAt === null,
    );
    if (open !== undefined) open.backAt = new Date(nowMs).toISOString();
  }

  all(): readonly Absence[] {
    return this.#all;
  }

  /** Returns the single items of a pigeonhole that are currently deleted, oldest first. */
  openIn(pigeonholeId: number): readonly (Absence & { readonly id: number })[] {
    return this.#all.filter(
      (each): each is Absence & { readonly id: number } =>
        each.pigeonholeId === pigeonholeId && each.id !== null && each.backAt === null,
    );
  }
}
