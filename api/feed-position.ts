import type { FeedPosition } from '../ledger/read-changes.js';

/** One that leads further is cut off by what sends headers (Node takes 16 KiB of them). */
const longestText = 12_000;

const part = /^([0-9a-z]{1,7})-([0-9a-z]{1,11})$/;

/**
 * A position as the id of an event: each pigeonhole's number and sequence. Sequences rise within a pigeonhole alone, so
 * nothing shorter says where all of them stand.
 * @returns undefined when there are too many for one
 */
export function positionText(position: FeedPosition): string | undefined {
  const text = [...position].map(([ref, sequence]) => `${ref.toString(36)}-${sequence.toString(36)}`).join('.');
  return text.length > longestText ? undefined : text;
}

/** @returns undefined for what is no position */
export function positionFrom(text: string): FeedPosition | undefined {
  if (text.length > longestText) return undefined;
  if (text === '') return new Map();
  const parts = text.split('.').map((each) => part.exec(each));
  if (parts.includes(null)) return undefined;
  return new Map(parts.map((each) => [parseInt(each![1]!, 36), parseInt(each![2]!, 36)]));
}
