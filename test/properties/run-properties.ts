import fc from 'fast-check';
import type { Database } from '../../ledger/drivers/database.js';
import type { Faults } from './judge.js';
import { type Disturbances, noDisturbances, play, type Played } from './play.js';
import { anyScript, type Script } from './script.js';

export interface PropertyRuns {
  readonly runs: number;
  /** Seed of the first run; each further run has the next number. */
  readonly seed: number;
  /** Whether to look for the smallest script with the same failure, which takes minutes. */
  readonly shrink?: boolean;
  readonly onRun?: (done: number, figures: Figures) => void;
}

/** Totals over all runs. */
export interface Figures {
  requests: number;
  turns: number;
  changes: number;
  deletions: number;
  readonly disturbed: Record<keyof Disturbances, number>;
  readonly faults: Record<keyof Faults, number>;
  readonly failures: Failure[];
}

export interface Failure {
  readonly seed: number;
  /** The first faults, or the thrown error. */
  readonly what: string;
  readonly script: Script;
}

/** Plays the requested number of scripts, each from its own seed. Empties the store before each. */
export async function runProperties(db: Database, { runs, seed, shrink, onRun }: PropertyRuns): Promise<Figures> {
  const figures: Figures = {
    requests: 0,
    turns: 0,
    changes: 0,
    deletions: 0,
    disturbed: noDisturbances(),
    faults: { lost: 0, kept: 0, twice: 0, falselyDeleted: 0, untrue: 0, disordered: 0 },
    failures: [],
  };
  for (let run = 0; run < runs; run += 1) {
    let counted = false; // variants of a failing script are not counted
    let last: { what: string; script: Script } | undefined;
    const property = fc.asyncProperty(anyScript, async (script) => {
      const outcome = await outcomeOf(seed + run, script, db);
      if (!counted && typeof outcome !== 'string') count(figures, outcome);
      counted = true;
      const what = typeof outcome === 'string' ? outcome : describe(outcome.faults);
      if (what !== '') last = { what, script };
      return what === '';
    });
    // Unbiased, because the small lives that fast-check prefers have no second page.
    const parameters = { seed: seed + run, numRuns: 1, unbiased: true, endOnFailure: shrink !== true };
    const { errorInstance } = await fc.check(property, parameters);
    if (errorInstance instanceof EndlessRun) throw errorInstance;
    if (last !== undefined) figures.failures.push({ seed: seed + run, ...last });
    onRun?.(run + 1, figures);
  }
  return figures;
}

/** Time limit of a life, which usually takes a second. A longer one would never end. */
const endlessMs = 300_000;

class EndlessRun extends Error {
  constructor(seed: number, script: Script) {
    super(`seed ${seed}: a run has not ended in ${endlessMs} ms: ${JSON.stringify(script)}`);
  }
}

/** Plays a script. Returns the result, or a thrown error as text. */
async function outcomeOf(seed: number, script: Script, db: Database): Promise<Played | string> {
  let timer: NodeJS.Timeout | undefined;
  const endless = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new EndlessRun(seed, script)), endlessMs);
  });
  try {
    return await Promise.race([play(script, db), endless]);
  } catch (error) {
    if (error instanceof EndlessRun) throw error;
    return error instanceof Error ? (error.stack ?? error.message) : String(error);
  } finally {
    clearTimeout(timer);
  }
}

function count(figures: Figures, { faults, disturbed, requests, turns, changes, deletions }: Played): void {
  figures.requests += requests;
  figures.turns += turns;
  figures.changes += changes;
  figures.deletions += deletions;
  for (const name of Object.keys(disturbed) as (keyof Disturbances)[]) figures.disturbed[name] += disturbed[name];
  for (const name of Object.keys(faults) as (keyof Faults)[]) figures.faults[name] += faults[name].length;
}

/** Describes faults; empty if there are none. */
function describe(faults: Faults): string {
  return (Object.keys(faults) as (keyof Faults)[])
    .flatMap((name) => faults[name].slice(0, 3).map((item) => `${name}: ${item}`))
    .join('\n');
}
