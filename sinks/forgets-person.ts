import type { Subject } from './sink.js';

/** Whether a removal is of a person, who is to be forgotten, and not only of an item that is there no more. */
export function forgetsPerson(removal: Subject['removal']): boolean {
  return removal === 'consent-withdrawn' || removal === 'erased';
}
