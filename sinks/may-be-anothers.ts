import type { Subject } from './sink.js';

/**
 * Whether one of the values by which an item's record is found may find a record that is not the item's own. Pure. Asked
 * of canaries alone, whose own values all hold their digits: a record that is found by an id of the event, or by a text
 * that stands in the mapping, belongs to real people, and an invented item must not be written over it.
 */
export function mayBeAnothers({ canary }: Pick<Subject, 'canary'>, values: readonly (string | null)[]): boolean {
  return canary !== undefined && values.some((value) => value !== null && !value.includes(canary));
}

/** Why nothing is made of such a canary. */
export const notItsOwn = 'not-its-own';
