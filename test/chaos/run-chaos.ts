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
  /** Faults of the service and of the failing receiver. */
  readonly faults: number;
  /** Items that the source showed in the end. */
  readonly items: number;
  /** Changes that the sinks were given, repeats included; of those that hold records, what they hold. */
  readonly changes: number;
  readonly happened: Happened;
  readonly counts: Readonly<Record<FaultName, number>>;
  /** Everything else that must not be: processes left over, exit codes, no end of settling. */
  readonly wrong: readonly string[];
  readonly settledAfterMs: number;
  /** Ends of product processes that nobody asked for: a store that was away may end them. */
  readonly falls: number;
  readonly isGood: boolean;
  /** With logs, plan and findings; undefined when all was well and it was removed. */
  readonly folder: string | undefined;
}

/**
 * One run: the real processes under the plan of a seed, then quiet, then the comparison with the source.
 * @param say gets lines for a person who watches
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
