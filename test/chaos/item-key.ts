import type { Item } from '../kit/compare-with-truth.js';

/** Path of an item's id where it is not at the top level. Source: the specification's examples. */
const holders: Readonly<Record<string, string>> = {
  questions: 'question',
  answers: 'answer',
  answer_ratings: 'answerRating',
};

/** The key by which a sink knows an item: its id; null for votes, which show none. */
export function keyOf(list: string, item: Item): string | null {
  if (list === 'votes') return null;
  const holder = holders[list] === undefined ? item : (item[holders[list]] as Item | undefined);
  return String(holder?.['id']);
}
