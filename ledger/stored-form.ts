import { itemForm } from './item-form.js';
import type { Ledger } from './ledger.js';
import type { PlacedItem } from './place-items.js';

/** The values of an item's row, beside its hashes. */
export interface StoredForm {
  readonly payload: string;
  readonly attendeeId: number | null;
  readonly subject: Buffer | null;
}

/**
 * Decides which data about a person the row holds. Anonymous: only a subject that matches no other. Unknown visibility:
 * the whole item, since it may still become named without being read again; until then sending leaves the person out.
 */
export function storedForm(
  ledger: Pick<Ledger, 'hash'>,
  place: { readonly workspace: string; readonly list: string },
  { item, visibility, form }: Pick<PlacedItem, 'item' | 'visibility' | 'form'>,
): StoredForm {
  const { attendeeId } = item;
  const anonymous = visibility === 'anonymous';
  const purpose = anonymous ? 'anonymous' : 'named';
  return {
    payload: visibility === 'unknown' ? itemForm(place.list, item.fields, 'with').payload : form.payload,
    attendeeId: anonymous ? null : attendeeId,
    subject: attendeeId === null ? null : ledger.hash.subject(place.workspace, attendeeId, purpose),
  };
}
