import type { Collaborators } from '../../cycles/collaborators.js';
import { type LaneLease, lockLane } from '../../ledger/lanes-leased.js';
import { type ItemObject, keepObjects } from '../../ledger/sink-objects.js';
import type { ExtraHeld, Fields, Lane, Outcome } from '../../sinks/sink.js';
import { addRepairLane } from '../replays.js';
import { type AuditedLane, expectEntries, type Slice, theseEntries } from './expected-entries.js';
import type { Verdict } from './judge-held.js';
import {
  dropFindings,
  type EntryName,
  noteReadAgain,
  noteRepairSent,
  releaseFindings,
  removalsToDo,
  type RepairPart,
  repairsToSend,
  type StoredFinding,
} from './parity-store.js';

interface RepairingLane {
  readonly deps: Pick<Collaborators, 'ledger'>;
  readonly audited: AuditedLane;
  readonly lane: Lane;
  readonly lease: LaneLease;
  /** Maximum number of entries in one comparison. */
  readonly size: number;
  /** Compares these entries up to the first that could not be read. */
  readonly compare: (entries: Slice['entries']) => Promise<Compared>;
}

/** The first `done` entries are compared. */
interface Compared {
  readonly done: number;
  readonly verdicts: readonly Verdict[];
  readonly problem: { readonly detail: string; readonly afterMs: number | undefined } | null;
}

type RepairStep =
  | { readonly kind: 'none' | 'more' }
  /** The destination cannot be changed now. */
  | { readonly kind: 'failed'; readonly detail: string; readonly afterMs: number | undefined };

/** Maximum number of removals in one call. */
const maxRemovals = 100;

/**
 * Continues the repairs of a lane under its lease: first removes what only `removeHeld` can remove, then passes all other
 * findings to the replay of the repair, which the lane delivers like any other. If the sink had to accept the destination
 * first, the findings are compared again, and only what still differs is sent. Safe to run twice.
 */
export async function sendRepairs(repairing: RepairingLane, signal: AbortSignal): Promise<RepairStep> {
  const { deps, audited, lane, lease } = repairing;
  const { ledger } = deps;
  const removals = await removalsToDo(ledger.db, lease, maxRemovals);
  const parts = removals.length > 0 ? [] : await repairsToSend(ledger.db, lease);
  if (removals.length === 0 && parts.length === 0) return { kind: 'none' };
  const accepted = await audited.sink.acceptHeld?.(lane, signal);
  if (accepted !== undefined && accepted.kind !== 'delivered') {
    return {
      kind: 'failed',
      detail: accepted.detail,
      afterMs: accepted.kind === 'retry' ? accepted.afterMs : undefined,
    };
  }
  if (removals.length > 0) return await removeExtras(repairing, removals, signal);
  const unread = accepted === undefined ? [] : parts.filter((part) => !part.isReadAgain).slice(0, repairing.size);
  if (unread.length > 0) return await readAgain(repairing, unread);
  await passToReplay(repairing, parts);
  return { kind: 'more' };
}

/**
 * Compares findings again, and drops those that are true no longer. To accept a destination can resolve many of them: a
 * file that had lost only its manifest has every line.
 */
async function readAgain(repairing: RepairingLane, parts: readonly RepairPart[]): Promise<RepairStep> {
  const { deps, audited, lease, compare } = repairing;
  const entries = await theseEntries(deps.ledger.db, audited, parts);
  const { done, verdicts, problem } = await compare(entries);
  const same = new Set(verdicts.flatMap((verdict) => (verdict.class === 'same' ? [nameOf(verdict)] : [])));
  const unread = new Set(entries.slice(done).map(nameOf));
  const numbersOf = (some: readonly RepairPart[]): number[] => some.map(({ number }) => number);
  await deps.ledger.db.transaction(
    async (tx) => {
      await lockLane(tx, lease);
      await dropFindings(tx, lease, numbersOf(parts.filter((part) => same.has(nameOf(part)))));
      await noteReadAgain(tx, lease, numbersOf(parts.filter((part) => !unread.has(nameOf(part)))));
    },
    { beginsByLocking: true },
  );
  return problem === null ? { kind: 'more' } : { kind: 'failed', ...problem };
}

async function removeExtras(
  { deps: { ledger }, audited, lane, lease }: RepairingLane,
  removals: readonly StoredFinding[],
  signal: AbortSignal,
): Promise<RepairStep> {
  const names = [...new Map(removals.map((each) => [nameOf(each), each])).values()];
  const entries = await theseEntries(ledger.db, audited, names);
  const expected = await expectEntries(ledger.db, audited, entries);
  const extras = expected.flatMap((entry): (ExtraHeld & { readonly name: string })[] => {
    if (entry === null) return [];
    const own = removals.filter((each) => nameOf(each) === nameOf(entry));
    return [{ ...entry.wanted, copies: own.map(({ copy }) => copy).filter(Boolean), name: nameOf(entry) }];
  });
  const outcomes = extras.length === 0 ? [] : await audited.sink.removeHeld!(extras, lane, signal);
  const outcomeOf = new Map(extras.map(({ name }, index) => [name, outcomes[index]]));
  const removed: number[] = [];
  const refused: number[] = [];
  let problem: Extract<Outcome, { kind: 'retry' | 'pause' }> | undefined;
  for (const removal of removals) {
    const outcome = outcomeOf.get(nameOf(removal));
    if (outcome?.kind === 'delivered') removed.push(removal.number);
    else if (outcome?.kind === 'retry' || outcome?.kind === 'pause') problem = outcome;
    else if (outcome?.kind !== 'unsent') refused.push(removal.number);
  }
  await ledger.db.transaction(
    async (tx) => {
      await lockLane(tx, lease);
      await dropFindings(tx, lease, removed);
      await releaseFindings(tx, lease, refused);
    },
    { beginsByLocking: true },
  );
  if (problem === undefined) return { kind: 'more' };
  return { kind: 'failed', detail: problem.detail, afterMs: problem.kind === 'retry' ? problem.afterMs : undefined };
}

/** Stores the objects as the destination has them, and lets the replays of the repairs send these findings. */
async function passToReplay({ deps: { ledger }, lease }: RepairingLane, parts: readonly RepairPart[]): Promise<void> {
  const objects = parts.flatMap(({ list, key, object }): ItemObject[] =>
    object === null ? [] : [{ list, key, value: JSON.parse(object) as Fields | null }],
  );
  await ledger.db.transaction(
    async (tx) => {
      await lockLane(tx, lease);
      await keepObjects(tx, lease, objects);
      for (const repair of new Set(parts.map((part) => part.repair))) {
        const own = parts.filter((part) => part.repair === repair);
        await addRepairLane(tx, lease, { repair, total: own.length });
      }
      await noteRepairSent(
        tx,
        lease,
        parts.map(({ number }) => number),
      );
    },
    { beginsByLocking: true },
  );
}

function nameOf({ list, key, entry }: EntryName): string {
  return `${list} ${entry} ${key}`;
}
