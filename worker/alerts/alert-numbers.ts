import type { AlertFacts } from '../../ledger/queries/alerts/looks.js';

/** Numbers of alerts as people read them: `1,500 deletions`, `1 deletion`. */
export function count(n: AlertFacts[string] | undefined, what: string): string {
  return `${grouped(n ?? 0)} ${what}${n === 1 ? '' : 's'}`;
}

export function grouped(n: string | number): string {
  return Number(n).toLocaleString('en-US');
}
