import type { Item } from '../kit/compare-with-truth.js';

/** Path of an item's id if it is not at the top level. Source: the specification's examples. */
const holders: Readonly<Record<string, string>> = {
  questions: 'question',
  answers: 'answer',
  answer_ratings: 'answerRating',
};

/** Returns the key of an item in a sink: its id, or null for votes, which show none. */
export function keyOf(list: string, item: Item): string | null {
  if (list === 'votes') return null;
  const holder = holders[list] === undefined ? item : (item[holders[list]] as Item | undefined);
  return String(holder?.['id']);
}
