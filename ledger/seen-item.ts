import type { HashedForm, Fields } from './item-form.js';
import type { Visibility } from './visibility.js';

export const consentStates = ['obtained', 'refused', 'not-asked', 'not-known'] as const;
export type Consent = (typeof consentStates)[number];

/** An item as a page showed it, without what never enters the ledger (dropped fields, a flagged row's person). */
export interface SeenItem {
  readonly key: string;
  readonly sessionId: number | null;
  /** The attendee who created it; null where the list has no attendees. An anonymous row stores only its subject. */
  readonly attendeeId: number | null;
  /** A session's `anonymousResponses`, a flagged row's `anonymous`; null where the list says nothing. */
  readonly saysAnonymous: boolean | null;
  readonly consent: Consent | null;
  /** `judge`: depends on its session and its question; else what the row itself says, null where it is no matter. */
  readonly visibility: Exclude<Visibility, 'unknown'> | 'judge' | null;
  readonly fields: Fields;
  /** Its form, where `visibility` is known before the ledger is asked: made while the page before is being written. */
  readonly hashed?: HashedForm | undefined;
}

/** Nothing promises that a page holds an item once, and PostgreSQL refuses to upsert one row twice (SQLSTATE 21000). */
export function lastOfEachKey(items: readonly SeenItem[]): SeenItem[] {
  return [...new Map(items.map((item) => [item.key, item])).values()];
}
