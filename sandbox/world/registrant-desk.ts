import type { JsonObject } from '../json.js';
import { ID_STRIDE } from '../store/id-order.js';
import { indexOfCode } from './attendee-code.js';
import { registrantIndexOfAttendee } from './attendee-source.js';
import type { PigeonholeSpace } from './pigeonhole-space.js';

/**
 * Who is registered in a pigeonhole: the generated registrants, whose codes can be computed, and those created
 * through the API. Remembers which of the latter have not signed in yet.
 */
export class RegistrantDesk {
  readonly #space: PigeonholeSpace;
  readonly #idByCode = new Map<string, number>();
  readonly #awaiting = new Set<number>();

  constructor(space: PigeonholeSpace) {
    this.#space = space;
  }

  /** The id of the registrant with a code; undefined when the code is free. */
  idOf(code: string): number | undefined {
    const created = this.#idByCode.get(code);
    if (created !== undefined) return created;
    const person = indexOfCode(code);
    if (person === null || person >= this.#space.generatedPeople) return undefined;
    const index = registrantIndexOfAttendee(person);
    const id = index === null ? undefined : this.#space.firstRegistrantId + index * ID_STRIDE;
    return id !== undefined && this.#space.registrants.has(id) ? id : undefined;
  }

  /** Creates a registrant and returns its id. The caller has made sure that the code is free. */
  register(profile: JsonObject & { attendeeCode: string }): number {
    const id = this.#space.registrants.freeId();
    this.#space.registrants.insert({ id, ...profile }, id);
    this.#idByCode.set(profile.attendeeCode, id);
    this.#awaiting.add(id);
    return id;
  }

  /** Writes over the profile of the registrant who has this code. */
  replace(profile: JsonObject & { attendeeCode: string }): void {
    const id = this.idOf(profile.attendeeCode);
    if (id !== undefined) this.#space.registrants.insert({ id, ...profile }, id);
  }

  /** The registrant created longest ago who has not signed in; undefined when there is none. */
  longestAwaiting(): number | undefined {
    return this.#awaiting.values().next().value;
  }

  /**
   * Signs a registrant in as an attendee with the registrant's code and profile, and returns the attendee's id;
   * undefined when there is no such registrant. Signing in twice makes two attendees, as two devices do.
   */
  signIn(registrantId: number, nowMs: number): number | undefined {
    const registrant = this.#space.registrants.item(registrantId);
    if (registrant === undefined) return undefined;
    this.#awaiting.delete(registrantId);
    const { id: _id, attendeeCode, ...profile } = registrant;
    const attendeeId = this.#space.attendees.add({
      index: this.#space.nextPersonIndex++,
      registrantId,
      attendeeCode: typeof attendeeCode === 'string' ? attendeeCode : '',
      signedInAtMs: nowMs,
    });
    this.#space.attendees.patch(attendeeId, profile);
    return attendeeId;
  }
}
