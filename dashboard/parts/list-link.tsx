import { grouped } from '../../base/words.js';

/** A number that leads to what it counts; 0 leads nowhere. */
export function listLink(n: number, to: string) {
  return n === 0 ? '0' : <a href={to}>{grouped(n)}</a>;
}
