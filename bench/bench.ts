import type { Figure, Run } from './report.js';

export interface BenchOptions {
  /** Store of a bench that runs on either; undefined: both. */
  readonly store: StoreKind | undefined;
  /** Undefined: the bench's own number. */
  readonly items: number | undefined;
  /** Every response of the service waits this long. */
  readonly latencyMs: number;
  /** Product and baseline are run this many times, in turn. */
  readonly pairs: number;
  /** Destination of a bench with several; undefined: all. */
  readonly into: string | undefined;
  /** The Python that has what bench/peers/requirements.txt names. */
  readonly python: string;
  /** Folder for CPU profiles of the product's processes; undefined: none are taken. */
  readonly profileFolder: string | undefined;
}

export type StoreKind = 'postgres' | 'embedded';

export const storeKinds: readonly StoreKind[] = ['postgres', 'embedded'];

/** Receives a bench's progress and results. */
export interface BenchReport {
  /** A run has ended. */
  run(run: Run): void;
  /** A figure that has, or has not, a target. */
  figure(figure: Figure): void;
  /** Prints a sentence that explains the figures. */
  note(sentence: string): void;
}

/**
 * One question about speed or cost, asked of the whole product: processes started as a user starts them, a sandbox as
 * the service, and a baseline in the same run, because only ratios mean something on a shared machine.
 */
export interface Bench {
  readonly name: string;
  readonly about: string;
  run(options: BenchOptions, report: BenchReport): Promise<void>;
}
