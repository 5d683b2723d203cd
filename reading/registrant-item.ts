import { instantMs } from '../base/instant.js';
import { canonicalJson } from '../ledger/canonical-json.js';
import { type Fields, droppedBy, readingRules, withoutFields } from '../ledger/item-form.js';
import type { KeyedHash } from '../ledger/keyed-hash.js';
import type { Consent, SeenItem } from '../ledger/seen-item.js';
import type { LinkedAttendee } from '../ledger/sign-ins.js';
import { registrantKey } from '../ledger/registrant-key.js';

/**
 * Version of the rule by which registrants become items. Raise it when the rule changes: pigeonpost then derives all
 * items again.
 */
const registrantRule = 1;

/** A registrant who exists in the service according to the import that sent the row. */
export interface Registrant {
  /** HMAC of the attendee code. */
  readonly codeHash: Buffer;
  /** Canonical JSON of the profile, as it was sent. */
  readonly profile: string;
}

/**
 * Converts a registrant to an item of the derived list. Pure except for the keyed hash. Fields that pigeonpost sets
 * override profile fields of the same name.
 * @param list.rules the result of `registrantRules`
 */
export function toRegistrantItem(
  {
    hash,
    pigeonholeNumber,
    rules,
  }: { readonly hash: KeyedHash; readonly pigeonholeNumber: number; readonly rules: string },
  { codeHash, profile }: Registrant,
  attendees: readonly LinkedAttendee[],
): SeenItem {
  const attendee = decidingAttendee(attendees);
  const signedInAt = earliest(attendees);
  const ids = attendees.flatMap(({ registrantId }) => registrantId ?? []);
  const fields: Fields = {
    ...(JSON.parse(profile) as Fields),
    // Set to null if there is none, so that a profile field of this name does not appear instead.
    registrantId: ids.length === 0 ? null : Math.min(...ids),
    attendeeId: attendee?.attendeeId ?? null,
    attendees: attendees.length,
    signedIn: signedInAt !== null,
    signedInAt,
    consent: attendee?.consent ?? 'not-known',
  };
  return {
    key: registrantKey(hash, pigeonholeNumber, codeHash),
    sessionId: null,
    attendeeId: attendee?.attendeeId ?? null,
    saysAnonymous: null,
    // Null if there is an attendee: delivery then uses the current consent of the attendee.
    consent: attendee === undefined ? 'not-known' : null,
    visibility: 'named',
    fields: withoutFields(fields, new Set(droppedBy(rules))),
  };
}

/** Fields of a registrant that are computed from a field of attendees. They are dropped together with that field. */
const knownBy: Readonly<Record<string, readonly string[]>> = {
  signInTime: ['signedIn', 'signedInAt'],
  attendeeCode: ['registrantId', 'attendeeId', 'attendees', 'signedIn', 'signedInAt', 'consent'],
};

/** Names of fields that the configuration leaves out. */
export interface DroppedFields {
  readonly attendees: readonly string[];
  readonly registrants: readonly string[];
}

/**
 * Returns the rules under which registrants become items, as a text. A field dropped from attendees is dropped from
 * registrants as well.
 */
export function registrantRules({ attendees, registrants }: DroppedFields): string {
  return readingRules([...registrants, ...attendees, ...attendees.flatMap((field) => knownBy[field] ?? [])]);
}

/** Returns a text that identifies how items of the list are derived: the rules and the version of this code. */
export function listRules(rules: string): string {
  return canonicalJson([registrantRule, rules]);
}

/** Consent states, most restrictive first. */
const strictest: readonly Consent[] = ['refused', 'not-known', 'not-asked', 'obtained'];

/**
 * If several attendees used one code, chooses the attendee whose consent applies; undefined if there is none. An
 * attendee who refused consent comes first. Otherwise, attendees who signed in come before those who did not, then the
 * most restrictive consent, then the earliest sign-in.
 */
function decidingAttendee(attendees: readonly LinkedAttendee[]): LinkedAttendee | undefined {
  const [first] = attendees.toSorted(
    (a, b) =>
      Number(b.consent === 'refused') - Number(a.consent === 'refused') ||
      Number(b.signedInAt !== null) - Number(a.signedInAt !== null) ||
      strictest.indexOf(a.consent) - strictest.indexOf(b.consent) ||
      instant(a) - instant(b) ||
      a.attendeeId - b.attendeeId,
  );
  return first;
}

function earliest(attendees: readonly LinkedAttendee[]): string | null {
  const [first] = attendees
    .filter(({ signedInAt }) => signedInAt !== null)
    .toSorted((a, b) => instant(a) - instant(b) || a.attendeeId - b.attendeeId);
  return first?.signedInAt ?? null;
}

/** Returns the sign-in time in epoch ms. A missing or invalid time sorts last. */
function instant({ signedInAt }: LinkedAttendee): number {
  return instantMs(signedInAt ?? '') ?? Number.MAX_SAFE_INTEGER;
}
