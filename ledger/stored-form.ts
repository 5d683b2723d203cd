import { itemForm } from './item-form.js';
import type { Ledger } from './ledger.js';
import type { PlacedItem } from './place-items.js';

/** What of an item stands in its row, beside its hashes. */
export interface StoredForm {
  readonly payload: string;
  readonly attendeeId: number | null;
  readonly subject: Buffer | null;
}

/**
 * What of a person stands in the row. Anonymous: nothing but a subject that joins with nothing. Not yet known: the
 * whole item, since it may still become named without being read again; sending leaves the person out until then.
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
