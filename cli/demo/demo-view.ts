import type { Status } from '../../operations/status-view.js';
import type { SandboxState } from './sandbox-state.js';

/** Everything that the demo shows, as it was at one instant. */
export interface DemoView {
  /** What is being waited for; null while all runs. */
  readonly note: string | null;
  readonly runningForMs: number;
  readonly source: SandboxState | null;
  readonly status: Status | null;
  /** Where to look. */
  readonly places: readonly Place[];
}

export interface Place {
  readonly label: string;
  /** Path or address. */
  readonly place: string;
  /** What is found there, in a few words; may be empty. */
  readonly holds: string;
}

export interface ListLine {
  readonly list: string;
  readonly source: number | null;
  readonly ledger: number;
}

/** Items in the ledger by list, beside those of the source, in the order of the service's lists. Pure. */
export function listLines(source: ReadonlyMap<string, number>, status: Status | null): ListLine[] {
  const ledger = new Map<string, number>();
  for (const { list, items } of status?.counts?.items ?? []) ledger.set(list, (ledger.get(list) ?? 0) + items);
  const lists = [...new Set([...source.keys(), ...ledger.keys()])];
  return lists.map((list) => ({ list, source: source.get(list) ?? null, ledger: ledger.get(list) ?? 0 }));
}

/** The end of the oldest last read of a list that is live now; null: none is live, or none was read. */
export function liveFreshness(status: Status): Date | null {
  const read = status.workspaces
    .flatMap(({ pigeonholes }) => pigeonholes)
    .flatMap(({ freshness }) => (freshness.liveLists === 0 || freshness.readAt === null ? [] : [freshness.readAt]));
  return read.length === 0 ? null : new Date(Math.min(...read.map((at) => Date.parse(at))));
}
