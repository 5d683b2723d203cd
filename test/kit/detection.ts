import { passTime } from './pass-time.js';
import type { Scene } from './scene.js';
import type { Stage } from './stage.js';

/** Effort from an event in the service until the ledger has it. */
export interface Detection {
  /** Number of reads of the live pigeonhole at its shortest interval. */
  readonly polls: number;
  readonly requests: number;
  /** Time on this machine without waits. */
  readonly ms: number;
}

/** The default interval of a live pigeonhole. */
const pollSeconds = 5;

/**
 * Lets intervals of a live pigeonhole pass until a condition on the ledger is true.
 * @throws if it is not true within `maxPolls`
 */
export async function detect(
  stage: Stage,
  scene: Scene,
  condition: () => Promise<boolean>,
  maxPolls: number,
): Promise<Detection> {
  await stage.control('DELETE', 'requests');
  const startedAt = Date.now();
  for (let polls = 1; polls <= maxPolls; polls += 1) {
    await passTime(stage.db, pollSeconds * 1000);
    await scene.settle();
    if (await condition()) return { polls, requests: await requestsOf(stage), ms: Date.now() - startedAt };
  }
  throw new Error(`nothing was detected in ${maxPolls} polls and ${await requestsOf(stage)} requests`);
}

/** Prints one line about the detection in the output of a test. */
export function say(what: string, on: string, { polls, requests, ms }: Detection): void {
  const seconds = polls * pollSeconds;
  console.log(`${what}, on ${on}: ${polls} polls (within ${seconds} s live), ${requests} requests, ${ms} ms of work`);
}

async function requestsOf(stage: Stage): Promise<number> {
  const { requests } = (await stage.control('GET', 'state')) as { requests: { total: number } };
  return requests.total;
}
