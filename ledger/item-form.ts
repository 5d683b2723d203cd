import { spellInstant } from '../base/instant.js';
import { type ListName, listTraits } from '../base/lists.js';
import { canonicalJson } from './canonical-json.js';
import { withoutIdentity, effective, type Visibility } from './visibility.js';
import type { KeyedHash } from './keyed-hash.js';
import { namesOf } from './person-names.js';
import type { Ledger } from './ledger.js';
import type { DifferingItem } from './items/compare-items.js';

export type Fields = Readonly<Record<string, unknown>>;

/** The texts of an item: `payload` is stored and delivered, `content` is hashed to detect changes. */
export interface ItemForm {
  /** Canonical JSON of the whole item. */
  readonly payload: string;
  /** The item without copies of other items' texts, and with its instants in one spelling. */
  readonly content: string;
  /** The copies of other items' texts; null if the list has none. */
  readonly copies: string | null;
}

/**
 * Members that pigeonpost never stores. `links` holds addresses of administrators' pages, which anyone can open
 * (docs/service-contract.md).
 */
const neverKept: ReadonlySet<string> = new Set(['links']);

/** Matches the service's instants in canonical JSON. A quote within a text is escaped, so no text can contain a match. */
const instants = /"(createdAt|signInTime|signedInAt|obtainedAt|startDate|endDate)":"([^"\\]{16,40})"/g;

/**
 * Spells the instants of an item in one way. If the service writes `+00:00` instead of `Z`, no item has changed.
 */
function withSpelledInstants(canonical: string): string {
  return canonical.replace(instants, (member, name: string, text: string) => {
    const instant = spellInstant(text);
    return instant === undefined ? member : `"${name}":${instant}`;
  });
}

/** Returns the texts of an item with or without the person's identity. Pure. */
export function itemForm(list: string, fields: Fields, identity: 'with' | 'without'): ItemForm {
  const shown = identity === 'with' ? fields : withoutIdentity(fields);
  const payload = canonicalJson(shown, neverKept);
  const copied = Object.hasOwn(listTraits, list) ? listTraits[list as ListName].copies : [];
  if (copied.length === 0) return { payload, content: withSpelledInstants(payload), copies: null };
  const content: Record<string, unknown> = { ...shown };
  const copies: Record<string, unknown> = {};
  for (const name of copied) {
    const member = shown[name];
    if (member === null || typeof member !== 'object' || Array.isArray(member)) continue;
    const { id, anonymous, ...texts } = member as Record<string, unknown>;
    content[name] = { id, anonymous };
    copies[name] = texts;
  }
  return {
    payload,
    content: withSpelledInstants(canonicalJson(content, neverKept)),
    copies: withSpelledInstants(canonicalJson(copies, neverKept)),
  };
}

/** The form in which an item is compared and delivered, with its hashes. */
export interface HashedForm {
  /** The texts without the identity, unless the item is named or its list has no visibility. */
  readonly form: ItemForm;
  readonly hash: Buffer;
  /** Null if the list has no copies of other items. */
  readonly copiesHash: Buffer | null;
}

/** Returns the texts and hashes of an item that has this visibility. Pure except for the keyed hash. */
export function hashedForm(hash: KeyedHash, list: string, fields: Fields, visibility: Visibility | null): HashedForm {
  const form = shownForm(list, fields, visibility);
  const copiesHash = form.copies === null ? null : hash.content(form.copies);
  return { form, hash: hash.content(form.content), copiesHash };
}

/** Returns the texts of an item, with the person's identity only if this visibility allows it. */
export function shownForm(list: string, fields: Fields, visibility: Visibility | null): ItemForm {
  return itemForm(list, fields, visibility === null || effective(visibility) === 'named' ? 'with' : 'without');
}

/** The columns of an item's row that depend on whether the person may be shown. */
export interface StoredForm {
  readonly payload: string;
  readonly attendeeId: number | null;
  readonly subject: Buffer | null;
  /** `namesOf` of an attendee's record; null in other lists. */
  readonly names: string | null;
}

/**
 * Decides which data about a person the item's row holds. An anonymous item keeps only a subject hash, which differs
 * from the subject hash of the person's named items. An item of unknown visibility is stored whole, because it may
 * become named without being read again. Until then, sinks receive it without the identity.
 */
export function storedForm(
  ledger: Pick<Ledger, 'hash'>,
  place: { readonly workspace: string; readonly list: string },
  { item, visibility, form }: Pick<DifferingItem, 'item' | 'visibility' | 'form'>,
): StoredForm {
  const { attendeeId } = item;
  const anonymous = visibility === 'anonymous';
  const purpose = anonymous ? 'anonymous' : 'named';
  return {
    payload: visibility === 'unknown' ? itemForm(place.list, item.fields, 'with').payload : form.payload,
    attendeeId: anonymous ? null : attendeeId,
    subject: attendeeId === null ? null : ledger.hash.subject(place.workspace, attendeeId, purpose),
    names: place.list === 'attendees' && !anonymous ? namesOf(ledger.hash, item.fields) : null,
  };
}

/** Version of the rules in this file (which members are copies, which are never kept). Raise it when they change. */
const readerVersion = 1;

/**
 * Returns the rules under which an item is stored, as a text that is equal for equal rules. It is stored with each
 * item, because a difference that only the rules cause is not a change of the item.
 * @param drop names of top-level fields that do not enter the ledger
 */
export function readingRules(drop: readonly string[]): string {
  return canonicalJson([readerVersion, ...[...new Set(drop)].toSorted()]);
}

/** Returns the names of the fields that these rules leave out. */
export function droppedBy(rules: string): string[] {
  return (JSON.parse(rules) as unknown[]).filter((part) => typeof part === 'string');
}

export function withoutFields(fields: Fields, names: ReadonlySet<string>): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !names.has(name)));
}
