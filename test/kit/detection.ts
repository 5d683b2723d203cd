import { passTime } from './pass-time.js';
import type { Scene } from './scene.js';
import type { Stage } from './stage.js';

/** Time from an event at the service until the ledger holds it. */
export interface Detection {
  /** Reads of the live pigeonhole, at its shortest interval. */
  readonly polls: number;
  readonly requests: number;
  /** CPU time of this machine, without waiting. */
  readonly ms: number;
}

/** The interval of a live pigeonhole, by default. */
const pollSeconds = 5;

/**
 * Lets the intervals of a live pigeonhole pass, one after another, until a condition holds of the ledger.
 * @throws when it does not within `maxPolls`
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

/** For the output of a test: one line that says when. */
export function say(what: string, on: string, { polls, requests, ms }: Detection): void {
  const seconds = polls * pollSeconds;
  console.log(`${what}, on ${on}: ${polls} polls (within ${seconds} s live), ${requests} requests, ${ms} ms of work`);
}

async function requestsOf(stage: Stage): Promise<number> {
  const { requests } = (await stage.control('GET', 'state')) as { requests: { total: number } };
  return requests.total;
}
