import { loadavg } from 'node:os';
import { startGuardedChild } from '../../worker/guarded-child.js';
import { type BenchOptions, type BenchReport, median } from '../report.js';
import type { Fleet } from './fleet.js';
import { pollsPerSecond, type ScaleTask, startPolling, withLivePigeonholes } from './polling.js';

/** Programs that compete for the CPU. With the processes of the benchmark, the load is about 30. */
const burners = 28;
const windowMs = 10_000;
const windowsBefore = 3;
const windowsAfter = 9;

/**
 * Measures whether a fleet on a starved machine keeps polling while one of its workers is restarted: polls a second in
 * windows of ten seconds before, during and after.
 */
export async function restartUnderLoad(task: ScaleTask, options: BenchOptions, report: BenchReport): Promise<void> {
  await withLivePigeonholes(task.pigeonholes, async (stage) => {
    const fleet = await startPolling(stage, task, options);
    const quiet = await pollsPerSecond(fleet, windowMs);
    const stopBurning = burn(task.quick ? 2 : burners);
    try {
      await pollsPerSecond(fleet, 2 * windowMs); // until the load has reached all of them
      const before = median(await windows(fleet, windowsBefore));
      const restarted = restartOneWorker(fleet);
      const after = await windows(fleet, windowsAfter);
      await restarted;
      const last = median(after.slice(-3));
      report.note(
        `polls a second: ${quiet.toFixed(2)} on the quiet machine, ${before.toFixed(2)} at load ${loadavg()[0]!.toFixed(0)}; in the windows of 10 s from the restart on: ${after.map((rate) => rate.toFixed(2)).join(', ')}`,
      );
      const limits = task.quick ? {} : { must: { atLeast: 0.5 }, aim: { atLeast: 0.8 } };
      report.figure({
        what: 'a minute after the restart of one worker, polls a second / before',
        value: last / before,
        ...limits,
      });
      report.figure({
        what: 'in the first minute after the restart / before',
        value: median(after.slice(0, 6)) / before,
      });
      report.figure({ what: 'worst 10 s after the restart / before', value: Math.min(...after) / before });
    } finally {
      await stopBurning();
    }
  });
}

async function windows(fleet: Fleet, count: number): Promise<number[]> {
  const rates: number[] = [];
  for (let n = 0; n < count; n += 1) rates.push(await pollsPerSecond(fleet, windowMs));
  return rates;
}

async function restartOneWorker(fleet: Fleet): Promise<void> {
  await fleet.stopOldestWorker();
  await fleet.startWorker();
}

/** Starts programs that compute until the returned function, or the end of this process, ends them. */
function burn(count: number): () => Promise<void> {
  const children = Array.from({ length: count }, () =>
    startGuardedChild({ command: process.execPath, args: ['-e', 'for (;;);'], env: {} }),
  );
  return async () => void (await Promise.all(children.map((child) => child.stop(0))));
}
