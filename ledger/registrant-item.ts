import { canonicalJson } from './canonical-json.js';
import { type Fields, droppedBy, readingRules, withoutFields } from './item-form.js';
import type { KeyedHash } from './keyed-hash.js';
import type { Consent, SeenItem } from './seen-item.js';

/** The derived list of who was registered by an import, with their sign-in. */
export const registrantsList = 'registrants';

/** Version of the rule that makes items. Raise it when the rule changes: pigeonpost then makes all items again. */
const registrantRule = 1;

/** A registrant who is there, as an import has settled it. */
export interface Registrant {
  /** HMAC of the attendee code. */
  readonly codeHash: Buffer;
  /** Canonical JSON, as it was sent. */
  readonly profile: string;
}

/** An attendee who came with a registrant's code, or under the id that the service has given the registrant. */
export interface LinkedAttendee {
  readonly attendeeId: number;
  readonly registrantId: number | null;
  /** As the service says it; null: not yet. */
  readonly signedInAt: string | null;
  readonly consent: Consent;
}

/** The key of a registrant's item: it tells nothing of the code, and is another one in each pigeonhole. */
export function registrantKey(hash: KeyedHash, ref: number, codeHash: Buffer): string {
  return hash.rowKey(canonicalJson([registrantsList, ref, codeHash.toString('hex')]));
}

/**
 * Makes a registrant an item of the list. Pure except for the keyed hash. Fields that pigeonpost sets override profile
 * fields of the same name.
 * @param list.rules as `registrantRules` gives them
 */
export function toRegistrantItem(
  { hash, ref, rules }: { readonly hash: KeyedHash; readonly ref: number; readonly rules: string },
  { codeHash, profile }: Registrant,
  attendees: readonly LinkedAttendee[],
): SeenItem {
  const speaker = speakerOf(attendees);
  const signedInAt = earliest(attendees);
  const ids = attendees.flatMap(({ registrantId }) => registrantId ?? []);
  const fields: Fields = {
    ...(JSON.parse(profile) as Fields),
    // Null where there is none, lest a profile field of this name be taken for it.
    registrantId: ids.length === 0 ? null : Math.min(...ids),
    attendeeId: speaker?.attendeeId ?? null,
    attendees: attendees.length,
    signedIn: signedInAt !== null,
    signedInAt,
    consent: speaker?.consent ?? 'not-known',
  };
  return {
    key: registrantKey(hash, ref, codeHash),
    sessionId: null,
    attendeeId: speaker?.attendeeId ?? null,
    saysAnonymous: null,
    // That of their attendee is looked up when the item is sent.
    consent: speaker === undefined ? 'not-known' : null,
    visibility: 'named',
    fields: withoutFields(fields, new Set(droppedBy(rules))),
  };
}

/** Fields of a registrant that derive from a field of their attendees. They are dropped together with that field. */
const knownBy: Readonly<Record<string, readonly string[]>> = {
  signInTime: ['signedIn', 'signedInAt'],
  attendeeCode: ['registrantId', 'attendeeId', 'attendees', 'signedIn', 'signedInAt', 'consent'],
};

/** Names of fields that the configuration leaves out. */
export interface DroppedFields {
  readonly attendees: readonly string[];
  readonly registrants: readonly string[];
}

/** The rules under which items are made, as a text. A field dropped from attendees is dropped from registrants as well. */
export function registrantRules({ attendees, registrants }: DroppedFields): string {
  return readingRules([...registrants, ...attendees, ...attendees.flatMap((field) => knownBy[field] ?? [])]);
}

/** Identifies how all items of the list are made: by these rules and by this version of the code. */
export function listRules(rules: string): string {
  return canonicalJson([registrantRule, rules]);
}

/** Consent states, the most restrictive first. */
const strictest: readonly Consent[] = ['refused', 'not-known', 'not-asked', 'obtained'];

/**
 * Chooses the attendee whose consent applies when several used one code; undefined when there is none. An attendee who
 * refused wins. Otherwise the choice is among those who signed in, or among all if nobody did: the most restrictive
 * consent, and of equal ones the earliest sign-in.
 */
function speakerOf(attendees: readonly LinkedAttendee[]): LinkedAttendee | undefined {
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

/** Epoch ms; what is no time comes last. */
function instant({ signedInAt }: LinkedAttendee): number {
  const at = Date.parse(signedInAt ?? '');
  return Number.isNaN(at) ? Number.MAX_SAFE_INTEGER : at;
}
