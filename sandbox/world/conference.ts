import type { JsonObject } from '../json.js';
import { isSpaceListName, type ListName } from '../list-name.js';
import { createStoredTable, type AnyTable, type ItemTable } from '../store/item-table.js';
import { Absences } from './absences.js';
import { FIRST_PIGEONHOLE_ID, planConference, type ConferenceSize } from './conference-plan.js';
import { pigeonholeItem, type PigeonholeFacts } from './pigeonhole-item.js';
import { PigeonholeSpace } from './pigeonhole-space.js';
import { childSeed } from './random.js';
import { zonedDateTime } from './zoned-time.js';

const YEAR_MS = 365 * 24 * 3_600_000;

/** Everything the service holds for one workspace. */
export class Conference {
  readonly size: ConferenceSize;
  readonly pigeonholes: ItemTable<JsonObject>;
  readonly subscriptions: ItemTable<JsonObject>;
  /** What was taken out of the lists, and when. */
  readonly absences = new Absences();
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

  /** The inside of a pigeonhole; undefined when there is none with that id (any more). */
  space(pigeonholeId: number): PigeonholeSpace | undefined {
    return this.pigeonholes.has(pigeonholeId) ? this.#spaces.get(pigeonholeId) : undefined;
  }

  spaces(): PigeonholeSpace[] {
    return [...this.#spaces.values()].filter((space) => this.pigeonholes.has(space.id));
  }

  /** A list, or undefined when it needs a pigeonhole and that one does not exist. */
  table(list: ListName, pigeonholeId: number | null): AnyTable | undefined {
    if (list === 'pigeonholes') return this.pigeonholes;
    if (list === 'subscriptions') return this.subscriptions;
    return isSpaceListName(list) && pigeonholeId !== null ? this.space(pigeonholeId)?.table(list) : undefined;
  }

  /** Changes whenever something changes that an item of the list shows, copies from other lists included. */
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

  /** Puts a pigeonhole there as given, with nothing inside. */
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
