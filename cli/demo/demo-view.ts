import type { Status } from '../../api/status-view.js';
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

/** Since when the live pigeonholes may have changed unseen: the oldest last read among them. Null: one was never read whole. */
export function liveFreshness(status: Status): Date | null {
  const pigeonholes = status.workspaces.flatMap((workspace) => workspace.pigeonholes);
  const live = pigeonholes.filter((pigeonhole) => pigeonhole.status === 'live');
  const read = live.map(({ freshAsOf }) => freshAsOf);
  if (read.length === 0 || read.includes(null)) return null;
  return new Date(Math.min(...read.map((at) => Date.parse(at!))));
}
