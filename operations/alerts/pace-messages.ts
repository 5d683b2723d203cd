import type { AlertRow, NewAlertMessage } from './looks.js';
import { gatherMessages } from './gather-messages.js';

/** How many messages of one occasion and kind may follow each other at once, and how often one more may come. */
export interface Pace {
  readonly most: number;
  readonly everyMs: number;
}

/** One sink among many is told of at once, by its name; a storm that lasts an hour is told a dozen times. */
export const usualPace: Pace = { most: 3, everyMs: 5 * 60_000 };

/** Something that is to be told, and what the ledger is to know of it then. */
export interface Telling {
  readonly row: AlertRow;
  readonly message: NewAlertMessage;
  /** What the ledger is to know instead when it is told later; undefined: what it knows already. */
  readonly rowIfLater: AlertRow | undefined;
}

/**
 * From when on `most` messages may be told at once again, by `paceKey`; one that is not there: now. Everything that a
 * pace has to remember is this instant (the "generic cell rate algorithm" of networks).
 */
export type Paces = ReadonlyMap<string, Date>;

export interface Paced {
  readonly rows: readonly AlertRow[];
  readonly messages: readonly NewAlertMessage[];
  /** Those that are others now. */
  readonly paces: Paces;
}

/** What a pace is kept for. */
export function paceKey({ occasion, kind }: Pick<NewAlertMessage, 'occasion' | 'kind'>): string {
  return `${occasion} ${kind}`;
}

/**
 * Keeps a storm from being as many messages as it has subjects: what of one occasion and kind is more than its pace
 * allows is one message that counts, and when the pace allows none, it waits for a later look, which gathers it with
 * what came meanwhile. Pure.
 */
export function paceMessages(tellings: readonly Telling[], paces: Paces, at: Date, pace: Pace): Paced {
  const rows: AlertRow[] = [];
  const messages: NewAlertMessage[] = [];
  const spent = new Map<string, Date>();
  for (const key of new Set(tellings.map(({ message }) => paceKey(message)))) {
    const group = tellings.filter(({ message }) => paceKey(message) === key);
    const fullAtMs = Math.max(paces.get(key)?.getTime() ?? 0, at.getTime());
    const allowed = pace.most - Math.ceil((fullAtMs - at.getTime()) / pace.everyMs);
    if (allowed <= 0) {
      rows.push(...group.flatMap(({ rowIfLater }) => rowIfLater ?? []));
      continue;
    }
    const own = group.map(({ message }) => message);
    const told = own.length <= allowed ? own : [gatherMessages(own)];
    rows.push(...group.map(({ row }) => row));
    messages.push(...told);
    spent.set(key, new Date(fullAtMs + told.length * pace.everyMs));
  }
  return { rows, messages, paces: spent };
}
