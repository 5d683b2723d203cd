import fc from 'fast-check';
import type { Database } from '../../ledger/drivers/database.js';
import { anyDeadlyHistory, anyHistory, type History } from './history.js';
import { differences } from './meaning.js';
import { liveThrough, type Lived } from './live-through.js';

export interface RememberingRuns {
  readonly runs: number;
  /** Seed of the first run; each further run has the next number. Every third history has processes that die. */
  readonly seed: number;
  readonly shrink?: boolean;
  readonly onRun?: (done: number, figures: RememberingFigures) => void;
}

/** Totals over all runs. */
export interface RememberingFigures {
  requests: number;
  /** Rounds of remembering readers that sent no statement but those for permits. */
  quietRounds: number;
  readonly failures: { readonly seed: number; readonly what: string; readonly history: History }[];
}

/**
 * Compares the ledgers of a reader that remembers and of one that forgets everything before each round, after the same
 * history. Empties the store before each.
 */
export async function runRemembering(
  db: Database,
  { runs, seed, shrink, onRun }: RememberingRuns,
): Promise<RememberingFigures> {
  const figures: RememberingFigures = { requests: 0, quietRounds: 0, failures: [] };
  for (let run = 0; run < runs; run += 1) {
    const isDeadly = (seed + run) % 3 === 0;
    let last: { what: string; history: History } | undefined;
    const property = fc.asyncProperty(isDeadly ? anyDeadlyHistory : anyHistory, async (history) => {
      const what = await differenceOf(history, db, { isDeadly, figures }).catch((error: unknown) =>
        error instanceof Error ? `${error.stack} ${String(error.cause)}` : String(error),
      );
      if (what !== '') last = { what, history };
      return what === '';
    });
    await fc.check(property, { seed: seed + run, numRuns: 1, unbiased: true, endOnFailure: shrink !== true });
    if (last !== undefined) figures.failures.push({ seed: seed + run, ...last });
    onRun?.(run + 1, figures);
  }
  return figures;
}

/**
 * Returns the first differences; empty if there are none. What a process had not stored when it died is read again, so
 * deletions are then proved later, and states between them may be missed: only the items are compared at the end.
 */
export async function differenceOf(
  history: History,
  db: Database,
  { isDeadly, figures }: { readonly isDeadly: boolean; readonly figures?: RememberingFigures },
): Promise<string> {
  const remembering = await liveThrough(history, db, { remembers: true, endsQuietly: isDeadly });
  const forgetting = await liveThrough(history, db, { remembers: false, endsQuietly: isDeadly });
  if (figures !== undefined) {
    figures.requests += remembering.requests;
    figures.quietRounds += remembering.quietRounds;
  }
  if (isDeadly) return presentItems(remembering, forgetting);
  const step = remembering.changes.findIndex((changes, index) => changes !== forgetting.changes[index]);
  const found = differences(remembering.meaning, forgetting.meaning);
  if (step >= 0) found.unshift(`other changes after step ${step}`);
  return found.slice(0, 10).join('\n');
}

/** Compares the items that exist, without their revisions. */
function presentItems(remembering: Lived, forgetting: Lived): string {
  const present = ({ meaning }: Lived): string[] =>
    [...meaning.items]
      .filter(([, { payload }]) => payload !== null)
      .map(([name, { revision: _, ...item }]) => `${name} ${JSON.stringify(item)}`);
  const [one, other] = [present(remembering), present(forgetting)];
  const onlyIn = (these: readonly string[], those: readonly string[]): string[] =>
    these.filter((text) => !those.includes(text));
  return [
    ...onlyIn(one, other).map((text) => `only remembered: ${text}`),
    ...onlyIn(other, one).map((text) => `only forgotten: ${text}`),
  ].join('\n');
}
