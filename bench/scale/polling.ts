import { setTimeout as pause } from 'node:timers/promises';
import type { BenchOptions } from '../report.js';
import { type Stage, withStage } from '../processes/stage.js';
import { countPolls, prepareCounting } from './counters.js';
import { Fleet } from './fleet.js';

const defaults = { pigeonholes: 200, intervalMs: 5000, seconds: 60, workers: 2 } as const;
/** On a starved machine, a few pigeonholes are all that its workers can poll on time. */
const starved = { ...defaults, pigeonholes: 24 } as const;
const quick = { pigeonholes: 4, intervalMs: 1000, seconds: 6, workers: 2 } as const;

/** The measured part of a run, with its size. */
export interface ScaleTask {
  readonly pigeonholes: number;
  readonly intervalMs: number;
  /** Duration of each measured phase. */
  readonly seconds: number;
  readonly workers: number;
  readonly quick: boolean;
}

/** Returns the size of a run from the options. */
export function taskOf({ scale: given }: BenchOptions): ScaleTask {
  const base = given.quick ? quick : given.mode === 'restart' ? starved : defaults;
  return {
    pigeonholes: given.pigeonholes ?? base.pigeonholes,
    intervalMs: given.intervalMs ?? base.intervalMs,
    seconds: given.seconds ?? base.seconds,
    workers: given.workers ?? base.workers,
    quick: given.quick,
  };
}

/** Returns the ids of the first N live pigeonholes of a sandbox that have equal sizes. */
export function livePigeonholes(count: number): number[] {
  // Of seven, the first and the fifth are live. The very first is larger than the others.
  return Array.from({ length: count + 1 }, (_, n) => 101 + Math.floor(n / 2) * 7 + (n % 2) * 4).slice(1);
}

/** Sandbox with one running Q&A session in each pigeonhole, of one page a list, so that a poll makes eight requests. */
export async function withLivePigeonholes(count: number, use: (stage: Stage) => Promise<void>): Promise<void> {
  const sizes = { attendees: 500, sessions: 1, questions: 40 };
  await withStage({ ...sizes, pigeonholes: Math.ceil((count + 1) / 2) * 7 }, use);
}

/** Starts a fleet and waits until it has read everything and only polls. */
export async function startPolling(stage: Stage, task: ScaleTask, options: BenchOptions): Promise<Fleet> {
  const fleet = await Fleet.start(stage, {
    pigeonholes: livePigeonholes(task.pigeonholes),
    intervalMs: task.intervalMs,
    workers: task.workers,
    shards: task.quick ? 4 : 512,
    dist: options.scale.dist,
    profileFolder: options.profileFolder,
  });
  await fleet.untilSettled(15 * 60_000);
  await prepareCounting(fleet);
  await pause(Math.max(4 * task.intervalMs, task.seconds * 250)); // warm-up: the first polls after a first read differ
  return fleet;
}

/** Returns the polls a second in the next `ms`. */
export async function pollsPerSecond(fleet: Fleet, ms: number): Promise<number> {
  const before = await countPolls(fleet.sandbox);
  await pause(ms);
  const after = await countPolls(fleet.sandbox);
  return ((after.polls - before.polls) * 1000) / (after.atMs - before.atMs);
}
