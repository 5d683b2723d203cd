import { type Fields, type ItemForm, itemForm } from './item-form.js';
import type { KeyedHash } from './keyed-hash.js';
import { effective, type Visibility } from './visibility.js';

/** The form in which an item is compared and delivered, with its hashes. */
export interface HashedForm {
  /** Without the person unless named. */
  readonly form: ItemForm;
  readonly hash: Buffer;
  /** Null where the list has no copies of other items. */
  readonly copiesHash: Buffer | null;
}

/** Pure but for the keyed hash. */
export function hashedForm(hash: KeyedHash, list: string, fields: Fields, visibility: Visibility | null): HashedForm {
  const form = shownForm(list, fields, visibility);
  const copiesHash = form.copies === null ? null : hash.content(form.copies);
  return { form, hash: hash.content(form.content), copiesHash };
}

/** What an item of that visibility shows. */
export function shownForm(list: string, fields: Fields, visibility: Visibility | null): ItemForm {
  return itemForm(list, fields, visibility === null || effective(visibility) === 'named' ? 'with' : 'without');
}
