import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { carryOut } from './carry-out.js';
import { describePlan } from './describe-plan.js';
import { dumpStore } from './dump-store.js';
import { failedWorkflows } from './failed-workflows.js';
import { countClockJumps, type Happened } from './happened.js';
import { faultNames, type FaultName } from './judge.js';
import { type PlanOptions, planChaos } from './plan.js';
import { formatTable } from './report.js';
import { settle } from './settle.js';
import { readAbsences } from './source.js';
import { openStage } from './stage.js';

export interface ChaosResult {
  readonly seed: number;
  readonly store: string;
  readonly minutes: number;
  readonly kills: number;
  /** Number of planned actions other than kills and immediate reads. */
  readonly faults: number;
  /** Number of items in the source at the end. */
  readonly items: number;
  /** Number of changes that sinks received, repeats included, or of records in sinks that store records. */
  readonly changes: number;
  readonly happened: Happened;
  readonly counts: Readonly<Record<FaultName, number>>;
  /** Other problems: remaining processes, exit codes, or changes that were never settled. */
  readonly wrong: readonly string[];
  readonly settledAfterMs: number;
  /** Unexpected exits of product processes, which an unavailable store may cause. */
  readonly falls: number;
  readonly isGood: boolean;
  /** Folder with logs, plan and findings; undefined if it was removed after a good run. */
  readonly folder: string | undefined;
}

/**
 * Performs one run: carries out the plan of a seed with real processes, waits until everything is settled, and compares
 * the sinks with the source.
 * @param say receives progress messages
 */
export async function runChaos(
  options: PlanOptions & { readonly keep: boolean },
  say: (line: string) => void,
): Promise<ChaosResult> {
  const plan = planChaos(options);
  say(describePlan(plan));
  const stage = await openStage(plan, options.deletions);
  writeFileSync(join(stage.folder, 'plan.json'), JSON.stringify(plan, null, 1));
  say(`ready; logs in ${stage.folder}`);
  let closed: string[] | undefined;
  try {
    const deeds = await carryOut(plan, stage, say);
    const happened = { ...deeds, clockJumps: countClockJumps(stage) };
    const { verdict, source, tookMs, isSettled } = await settle(stage, options.deletions, say);
    const falls = [...stage.parent.falls, ...(stage.worker?.falls ?? [])];
    for (const last of falls) say(`a process exited unexpectedly; its last line: ${last}`);
    const failed = await failedWorkflows(stage);
    if (!isSettled || [...verdict.values()].some(({ findings: found }) => found.length > 0)) {
      await dumpStore(stage);
      writeFileSync(join(stage.folder, 'absences.json'), JSON.stringify(await readAbsences(stage.sandboxUrl), null, 1));
    }
    closed = await stage.close();
    const findings = [...verdict].flatMap(([sink, { findings: found }]) => found.map((each) => ({ sink, ...each })));
    const counts = Object.fromEntries(
      faultNames.map((name) => [name, findings.filter(({ fault }) => fault === name).length]),
    ) as Record<FaultName, number>;
    const wrong = [...failed, ...closed, ...(isSettled ? [] : [`not settled within ${Math.round(tookMs / 1000)} s`])];
    const isGood = findings.length === 0 && wrong.length === 0;
    writeFileSync(join(stage.folder, 'findings.json'), JSON.stringify({ wrong, findings }, null, 1));
    say(formatTable(verdict));
    if (isGood && !options.keep) rmSync(stage.folder, { recursive: true });
    return {
      seed: plan.seed,
      store: plan.store,
      minutes: Math.round(plan.durationMs / 600) / 100,
      kills: plan.deeds.filter(({ deed }) => deed.do === 'kill').length,
      faults: plan.deeds.filter(({ deed }) => deed.do !== 'kill' && deed.do !== 'poll-now').length,
      items: source.items.length,
      changes: [...verdict.values()].reduce((sum, { lines }) => sum + lines, 0),
      happened,
      counts,
      wrong,
      settledAfterMs: tookMs,
      falls: falls.length,
      isGood,
      folder: isGood && !options.keep ? undefined : stage.folder,
    };
  } finally {
    if (closed === undefined) await stage.close();
  }
}
