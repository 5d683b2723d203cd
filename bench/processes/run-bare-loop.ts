import { join } from 'node:path';
import type { BareMeasurement, BareTask } from '../bare/bare-task.js';
import type { Run } from '../report/run.js';
import { Program } from './program.js';
import { sandboxKey } from './sandbox.js';

/** Runs the bare loop once, over all attendees of pigeonhole 101, as a process of its own like the product. */
export async function runBareLoop(
  contender: string,
  { folder, items }: { readonly folder: string; readonly items: number },
  task: Omit<BareTask, 'apiKey' | 'pigeonholeId'>,
): Promise<Run> {
  const whole: BareTask = { ...task, apiKey: sandboxKey, pigeonholeId: 101 };
  const program = new Program({
    program: 'bench/bare/main',
    args: [JSON.stringify(whole)],
    env: {},
    cwd: folder,
    logFile: join(folder, `${contender.replaceAll(/[^a-z0-9]+/gi, '-')}-${Date.now()}.log`),
  });
  const line = await program.lineLike(/^measured (.+)$/, 30 * 60_000);
  await program.ended(30_000);
  const measured = JSON.parse(line[1]!) as BareMeasurement;
  if (task.depth !== 'bodies' && measured.items !== items) {
    throw new Error(`the bare loop read ${measured.items} items where the sandbox has ${items}: see its request log`);
  }
  return { contender, ...measured, items };
}
