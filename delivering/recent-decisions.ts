import { isLacking } from './decide-delivery.js';

interface Decisions {
  /** Changes sent, whether the destination accepted them or not. */
  readonly sent: number;
  /** Changes withheld because the mapping found no value. */
  readonly lacking: number;
}

/** Weighted counts of the recent decisions about a list: older decisions lose weight as newer ones arrive. */
export interface Recent extends Decisions {
  /**
   * The decisions that are no longer recent, as the measure of what is usual. While many recent decisions lack a value,
   * none are added: otherwise, a lasting fault would soon count as usual. Absent on lanes of older versions.
   */
  readonly usual?: Decisions;
}

/** By list. */
export type RecentByList = Readonly<Record<string, Recent>>;

/** Maximum number of decisions that the counts cover. */
const remembered = 200;
/** From this share of recent decisions without a value on, they do not count as usual. */
const unusualShare = 0.25;

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
  for (const [list, sum] of added) after[list] = withAdded(before[list] ?? { sent: 0, lacking: 0 }, sum);
  return after;
}

function withAdded(old: Recent, added: Decisions): Recent {
  const sum = { sent: old.sent + added.sent, lacking: old.lacking + added.lacking };
  const kept = Math.max(0, 1 - (added.sent + added.lacking) / remembered);
  const scale = Math.min(1, remembered / (added.sent + added.lacking));
  const recent = {
    sent: rounded(old.sent * kept + added.sent * scale),
    lacking: rounded(old.lacking * kept + added.lacking * scale),
  };
  const usual = old.usual ?? { sent: 0, lacking: 0 };
  if ([old, recent].some(({ sent, lacking }) => lacking > 0 && lacking / (sent + lacking) >= unusualShare)) {
    return { ...recent, usual };
  }
  return {
    ...recent,
    usual: {
      sent: rounded(usual.sent + sum.sent - recent.sent),
      lacking: rounded(usual.lacking + sum.lacking - recent.lacking),
    },
  };
}

/** Rounds to one decimal place, which keeps the stored text short. */
function rounded(n: number): number {
  return Math.round(n * 10) / 10;
}
