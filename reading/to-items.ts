import { dayStartMs, instantMs, spellInstant } from '../base/instant.js';
import { canonicalJson } from '../ledger/canonical-json.js';
import { withoutIdentity, personRuleOf } from '../ledger/visibility.js';
import { hashedForm, type Fields } from '../ledger/item-form.js';
import type { KeyedHash } from '../ledger/keyed-hash.js';
import type { Consent, SeenItem } from '../ledger/seen-item.js';
import { questionLists, type ServiceListName, serviceTraits } from '../base/lists.js';

/** A page's items in the ledger's form. The code that stores and delivers them does not use the service's types. */
export interface PageItems {
  readonly items: ReadItem[];
  /**
   * Number of rows of which nothing shows which item they are: no key can be formed from them, they are nested too deep,
   * or another row of the page has the same id and other content. Only the last one of such rows is stored. A list with
   * such rows does not show which items it lacks.
   */
  readonly unidentified: number;
  /**
   * Number of rows of other sessions, which the service returns if it ignores the filter by session, or answers for
   * another pigeonhole. They are not stored here: the stream of their own session stores them.
   */
  readonly foreign: number;
  /** The sessions of the foreign rows of a list that covers all sessions: the pigeonhole is not known to have them. */
  readonly strangers: readonly number[];
}

export interface ReadItem extends SeenItem {
  /** Creation instant, epoch ms; undefined if the row has none. */
  readonly at: number | undefined;
}

/** Maximum nesting of a row. The service's rows have four levels; thousands would overflow the stack. */
const deepestRow = 100;

/** Whether the items of a list have their own ids in the service. */
export function hasIds(list: ServiceListName): boolean {
  return serviceTraits[list].hasIds;
}

export interface ToItemsOptions {
  readonly list: ServiceListName;
  /** The session that a per-session stream requests; 0: the list is not read by session. */
  readonly sessionId: number;
  /** The sessions of the pigeonhole; null: they are not known, so a row may belong to any session. */
  readonly ownSessions: ReadonlySet<number> | null;
  /** Names of top-level fields that never enter the ledger. */
  readonly drop: readonly string[];
  readonly hash: KeyedHash;
}

/**
 * Converts a page's rows to items. In a list without ids, rows with the same stable fields get numbered keys: `k`,
 * `k#2`, `k#3`. Pure.
 */
export function toItems(rows: readonly Fields[], options: ToItemsOptions): PageItems {
  const copies = new Map<string, number>();
  const rowOf = new Map<string, Fields>();
  const items: ReadItem[] = [];
  let unidentified = 0;
  let foreign = 0;
  const strangers = new Set<number>();
  for (const row of rows) {
    const other = otherSession(row, options);
    if (other !== null) {
      foreign += 1;
      if (options.sessionId === 0) strangers.add(other);
      continue;
    }
    const key = isDeeperThan(row, deepestRow) || hasUnusableSession(row) ? undefined : keyOf(row, options, copies);
    if (key === undefined) {
      unidentified += 1;
      continue;
    }
    const before = rowOf.get(key);
    if (before !== undefined && canonicalJson(before) !== canonicalJson(row)) unidentified += 1;
    rowOf.set(key, row);
    items.push(toItem(row, key, options));
  }
  return { items, unidentified, foreign, strangers: [...strangers] };
}

/**
 * Returns the session of a row that belongs to another session than the requested one, or to none of the pigeonhole's
 * sessions; null for all other rows. A row without a session is kept, but sinks never receive its author's identity,
 * because the session decides whether the identity is visible.
 */
function otherSession(row: Fields, { sessionId, ownSessions }: ToItemsOptions): number | null {
  const own = integer(object(row['session'])?.['id']);
  if (own === null) return null;
  const isOwn = sessionId === 0 ? (ownSessions?.has(own) ?? true) : own === sessionId;
  return isOwn ? null : own;
}

/** Whether a row has the id of a session in a form that cannot be used. A row without a session is usable. */
function hasUnusableSession(row: Fields): boolean {
  const session = object(row['session']);
  return session?.['id'] !== undefined && integer(session['id']) === null;
}

function isDeeperThan(value: unknown, levels: number): boolean {
  if (value === null || typeof value !== 'object') return false;
  return levels === 0 || Object.values(value).some((each) => isDeeperThan(each, levels - 1));
}

function keyOf(row: Fields, { list, hash }: ToItemsOptions, copies: Map<string, number>): string | undefined {
  if (hasIds(list)) {
    const { idWithin } = serviceTraits[list];
    const value = (idWithin === null ? row : object(row[idWithin]))?.['id'];
    return typeof value === 'number' && Number.isSafeInteger(value) ? String(value) : undefined;
  }
  // Only these fields of a vote never change: its attendee, instant, session and question. Its texts are copied from
  // other items, which may be edited. The service may spell the same instant differently after an update.
  const stable = [row['attendeeId'], instantOf(row), object(row['session'])?.['id'], object(row['question'])?.['id']];
  if (stable[1] === undefined || integer(stable[3]) === null) return undefined;
  // Another form of the attendee's id would make another item of the same vote.
  if (stable[0] !== undefined && stable[0] !== null && integer(stable[0]) === null) return undefined;
  const key = hash.rowKey(canonicalJson([list, ...stable.map((value) => value ?? null)]));
  const count = (copies.get(key) ?? 0) + 1;
  copies.set(key, count);
  return count === 1 ? key : `${key}#${count}`;
}

/** Returns the creation instant in one spelling; as received if it is no instant. */
function instantOf({ createdAt }: Fields): unknown {
  return typeof createdAt === 'string' ? (spellInstant(createdAt) ?? createdAt) : createdAt;
}

/** Returns the origin of a question. Seconds are enough, and the two lists of questions may differ in precision. */
function originOf(hash: KeyedHash, row: Fields, attendeeId: number | null): Buffer | undefined {
  const instant = instantOf(row);
  if (typeof instant !== 'string' || attendeeId === null) return undefined;
  return hash.origin(instant.replace(/\..*$/, ''), attendeeId);
}

function toItem(row: Fields, key: string, options: ToItemsOptions): ReadItem {
  const { list, drop } = options;
  const rule = personRuleOf(list);
  const flagged = rule === 'flagged';
  const attendee = object(row['attendee']);
  // In a `judged` list, the session decides who is anonymous, because the specification has no flag `anonymous` in
  // these rows. If a row has the flag nevertheless, `true` makes it anonymous.
  const saysAnonymous = rule === 'judged' && (row['anonymous'] === true || attendee?.['anonymous'] === true);
  const judged = rule === 'judged' && !saysAnonymous;
  // In a flagged list, a row is anonymous unless the flag is exactly `false`: a missing flag must not reveal anyone.
  const anonymous = flagged ? attendee?.['anonymous'] !== false : saysAnonymous;
  const kept =
    drop.length === 0 ? row : Object.fromEntries(Object.entries(row).filter(([name]) => !drop.includes(name)));
  const fields = anonymous ? withoutIdentity(kept) : kept;
  const visibility = anonymous ? 'anonymous' : flagged ? 'named' : null;
  const attendeeId = integer(list === 'attendees' ? row['id'] : (row['attendeeId'] ?? attendee?.['id']));
  return {
    key,
    sessionId: integer(list === 'sessions' ? row['id'] : object(row['session'])?.['id']),
    attendeeId,
    saysAnonymous: list === 'sessions' ? boolean(row['anonymousResponses']) : flagged ? anonymous : null,
    consent: list === 'attendees' ? consentOf(row['consent']) : null,
    origin: questionLists.has(list) ? originOf(options.hash, row, attendeeId) : undefined,
    visibility: judged ? 'judge' : visibility,
    fields,
    hashed: judged ? undefined : hashedForm(options.hash, list, fields, visibility),
    at: happenedAt(row),
  };
}

/**
 * Returns the consent state. `not-known`: the pigeonhole does not ask for consent, so the row has no such field.
 * `not-asked`: the pigeonhole asks for consent, but there is no answer from this attendee. In this case, the service
 * itself shows N/A, for example for attendees whose profiles were created in advance or who used single sign-on.
 */
export function consentOf(value: unknown): Consent {
  const consent = object(value);
  if (consent === undefined) return value === null ? 'not-asked' : 'not-known';
  if (consent['obtained'] === true) return 'obtained';
  return consent['obtained'] === false ? 'refused' : 'not-asked';
}

function happenedAt(fields: Fields): number | undefined {
  const text = fields['createdAt'] ?? fields['signInTime'];
  return typeof text === 'string' ? (instantMs(text) ?? dayStartMs(text)) : undefined;
}

function object(value: unknown): Fields | undefined {
  return value !== null && typeof value === 'object' && !Array.isArray(value) ? (value as Fields) : undefined;
}

function integer(value: unknown): number | null {
  return typeof value === 'number' && Number.isSafeInteger(value) ? value : null;
}

function boolean(value: unknown): boolean | null {
  return typeof value === 'boolean' ? value : null;
}
