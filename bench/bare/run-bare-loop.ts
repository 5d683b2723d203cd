import type { BareDepth, BareResult } from './main.js';
import { join } from 'node:path';
import type { Run } from '../report.js';
import { Program } from '../processes/program.js';
import type { Measurement } from '../processes/print-measured.js';
import { sandboxKey } from '../processes/sandbox.js';
import type { FreshStore, Stage } from '../processes/stage.js';

/** Command-line settings of the bare loop. */
export interface BareTask {
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly pigeonholeId: number;
  readonly depth: BareDepth;
  /** Store for the rows of `upsert`. */
  readonly store?: FreshStore;
  /** Destination of each page after it is stored. */
  readonly deliver?: BareDelivery;
}

export interface BareDelivery {
  /** File for one line per item, synced after each page. */
  readonly file?: string;
  /** Receiver of one signed POST per item. */
  readonly webhook?: { readonly url: string; readonly secret: string };
}

/** The result, which is printed after the word `measured`. */
export type BareMeasurement = BareResult & Measurement;

/** Runs the bare loop once for all attendees of pigeonhole 101, in a separate process like the product. */
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
  const measured = await program.measured<BareMeasurement>(30 * 60_000);
  if (task.depth !== 'bodies' && measured.items !== items) {
    throw new Error(`the bare loop read ${measured.items} items where the sandbox has ${items}: see its request log`);
  }
  return { contender, ...measured, items };
}

/**
 * Reads the sandbox once before anything is measured, because the sandbox renders each page on its first request and
 * caches it.
 */
export async function warmUp(stage: Stage, items: number): Promise<void> {
  await runBareLoop('warming up', { folder: stage.folder, items }, { baseUrl: stage.sandbox.baseUrl, depth: 'bodies' });
}
