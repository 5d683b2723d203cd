import type { DeliveryRow } from '../ledger/deliveries.js';
import { isLacking } from '../sinks/all-reasons.js';

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
   * none are added: otherwise, a lasting fault would soon count as usual.
   */
  readonly usual: Decisions;
  /**
   * The sequence up to which changes were decided before the sink's settings changed. If such a change lacks a value
   * again, it is not counted, because nothing has become worse.
   */
  readonly decidedTo?: number;
  /** True while the changes that the previous settings withheld are released, so that their number says nothing. */
  readonly isReleasing?: true;
}

/** By list. */
export type RecentByList = Readonly<Record<string, Recent>>;

/** Maximum number of decisions that the counts cover. Few, so that a change of the fields soon affects half of them. */
const remembered = 40;
/** Minimum number of decisions that show what is usual. */
export const minUsual = 20;
/** If at least this share of the recent decisions lacks a value, they do not count as usual. */
const unusualShare = 0.25;

type Decided = Pick<DeliveryRow, 'list' | 'sequence' | 'replay' | 'state' | 'reason'>;

/** Returns the counts with these decisions added. Leaves out decisions that say nothing about the mapping. */
export function addDecisions(before: RecentByList, decided: readonly Decided[]): RecentByList {
  const added = new Map<string, { sent: number; lacking: number }>();
  for (const { list, sequence, replay, state, reason } of decided) {
    const isSent = state === 'delivered' || state === 'dead';
    if (!isSent && !(state === 'withheld' && isLacking(reason ?? ''))) continue;
    if (!isSent && replay === 0 && sequence <= (before[list]?.decidedTo ?? 0)) continue;
    const sum = added.get(list) ?? { sent: 0, lacking: 0 };
    if (isSent) sum.sent += 1;
    else sum.lacking += 1;
    added.set(list, sum);
  }
  if (added.size === 0) return before;
  const after: Record<string, Recent> = { ...before };
  for (const [list, sum] of added) after[list] = withAdded(before[list] ?? none, sum);
  return after;
}

/**
 * Returns the counts after the sink's settings changed. Decisions under the previous settings become the measure of
 * what is usual, so that the first decisions under the new settings are not mixed with them. If many of them lacked a
 * value, they do not count as usual; they stay recent until decisions under the new settings replace them.
 * @param decidedTo the sequence up to which changes were decided under the previous settings
 */
export function withNewSettings(
  before: RecentByList,
  { lists, decidedTo }: { readonly lists: readonly string[]; readonly decidedTo: number },
): RecentByList {
  const after: Record<string, Recent> = { ...before };
  for (const list of new Set([...lists, ...Object.keys(before)])) {
    const old = before[list] ?? none;
    if (old.isReleasing) continue; // the process ended before it had released all changes
    const { usual } = old;
    if (!isUnusual(old)) {
      const sum = { sent: rounded(usual.sent + old.sent), lacking: rounded(usual.lacking + old.lacking) };
      after[list] = { ...noDecisions, usual: sum, decidedTo, isReleasing: true };
    } else if (usual.sent + usual.lacking >= minUsual) {
      after[list] = { ...old, decidedTo, isReleasing: true };
    } else {
      // Nothing shows whether this is usual, so the changes that are decided again count too.
      after[list] = { ...noDecisions, usual, isReleasing: true };
    }
  }
  return after;
}

/** Returns the counts once the changes that the previous settings withheld are due again. */
export function withReleased(before: RecentByList): RecentByList {
  return Object.fromEntries(Object.entries(before).map(([list, { isReleasing: _, ...recent }]) => [list, recent]));
}

const noDecisions: Decisions = { sent: 0, lacking: 0 };
const none: Recent = { ...noDecisions, usual: noDecisions };

function isUnusual({ sent, lacking }: Decisions): boolean {
  return lacking > 0 && lacking / (sent + lacking) >= unusualShare;
}

function withAdded(old: Recent, added: Decisions): Recent {
  const [known, more] = [old.sent + old.lacking, added.sent + added.lacking];
  const kept = Math.min(1, Math.max(0, remembered - more) / Math.max(1, known));
  const scale = Math.min(1, remembered / more);
  const recent = {
    sent: rounded(old.sent * kept + added.sent * scale),
    lacking: rounded(old.lacking * kept + added.lacking * scale),
  };
  const { usual } = old;
  if (isUnusual(old) || isUnusual(recent)) return { ...old, ...recent, usual };
  return {
    ...old,
    ...recent,
    usual: {
      sent: rounded(usual.sent + old.sent + added.sent - recent.sent),
      lacking: rounded(usual.lacking + old.lacking + added.lacking - recent.lacking),
    },
  };
}

/** Rounds to two decimal places, which keeps the stored text short. */
function rounded(n: number): number {
  return Math.round(n * 100) / 100;
}
