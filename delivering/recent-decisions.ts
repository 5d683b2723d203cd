import { isLacking } from './decide-delivery.js';

/** Weighted counts of the recent decisions about a list: older decisions lose weight as newer ones arrive. */
export interface Recent {
  /** Changes sent, whether the destination accepted them or not. */
  readonly sent: number;
  /** Changes withheld because the mapping found no value. */
  readonly lacking: number;
}

/** By list. */
export type RecentByList = Readonly<Record<string, Recent>>;

/** Approximate number of decisions that the counts cover. */
const remembered = 200;

/** A settled change. */
export interface Decided {
  readonly list: string;
  readonly state: string;
  readonly reason: string | null;
}

/** Returns the counts with these decisions added. Leaves out decisions that say nothing about the mapping. */
export function addDecisions(before: RecentByList, decided: readonly Decided[]): RecentByList {
  const added = new Map<string, { sent: number; lacking: number }>();
  for (const { list, state, reason } of decided) {
    const isSent = state === 'delivered' || state === 'dead';
    if (!isSent && !(state === 'withheld' && isLacking(reason ?? ''))) continue;
    const sum = added.get(list) ?? { sent: 0, lacking: 0 };
    if (isSent) sum.sent += 1;
    else sum.lacking += 1;
    added.set(list, sum);
  }
  if (added.size === 0) return before;
  const after: Record<string, Recent> = { ...before };
  for (const [list, sum] of added) {
    const old = before[list] ?? { sent: 0, lacking: 0 };
    const kept = Math.max(0, 1 - (sum.sent + sum.lacking) / remembered);
    after[list] = {
      sent: rounded(old.sent * kept + sum.sent),
      lacking: rounded(old.lacking * kept + sum.lacking),
    };
  }
  return after;
}

/** Rounds to one decimal place, which keeps the stored text short. */
function rounded(n: number): number {
  return Math.round(n * 10) / 10;
}
