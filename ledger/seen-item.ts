import type { HashedForm, Fields } from './item-form.js';
import type { Visibility } from './visibility.js';

export const consentStates = ['obtained', 'refused', 'not-asked', 'not-known'] as const;
export type Consent = (typeof consentStates)[number];

/**
 * An item as a page showed it, without data that never enters the ledger: dropped fields, and the person of an item
 * flagged as anonymous.
 */
export interface SeenItem {
  readonly key: string;
  readonly sessionId: number | null;
  /**
   * The attendee who created the item; null if the list has no attendees. The ledger stores only the subject hash for
   * anonymous items.
   */
  readonly attendeeId: number | null;
  /** `anonymousResponses` of a session, or `anonymous` of a flagged item; null if the list has no such field. */
  readonly saysAnonymous: boolean | null;
  readonly consent: Consent | null;
  /**
   * For `questions` and `qna-questions`: keyed hash of the creation instant and the author. The service may use an id
   * again, so a flag that shows the author counts only for the question with the same origin. Undefined if the row lacks
   * either of them, and for other lists.
   */
  readonly origin?: Buffer | undefined;
  /**
   * `judge`: the ledger decides from the item's session and question. Otherwise the visibility that the item itself
   * states; null if the list has no visibility.
   */
  readonly visibility: Exclude<Visibility, 'unknown'> | 'judge' | null;
  readonly fields: Fields;
  /**
   * The item's texts and hashes, if its visibility does not depend on the ledger. They are computed while the previous
   * page is being written.
   */
  readonly hashed?: HashedForm | undefined;
}

/**
 * Returns the last item of each key. The service does not promise that a page contains an item only once, and
 * PostgreSQL refuses to upsert one row twice in a statement (SQLSTATE 21000).
 */
export function lastOfEachKey(items: readonly SeenItem[]): SeenItem[] {
  return [...new Map(items.map((item) => [item.key, item])).values()];
}
