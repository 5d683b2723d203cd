import type { Figure, Run } from './report.js';

export interface BenchOptions {
  /** Store for a benchmark that supports both; undefined: both. */
  readonly store: StoreKind | undefined;
  /** Number of items; undefined: the default of the benchmark. */
  readonly items: number | undefined;
  /** Delay of every response of the service. */
  readonly latencyMs: number;
  /** Number of alternating runs of product and baseline. */
  readonly pairs: number;
  /** Destination for a benchmark with several; undefined: all. */
  readonly into: string | undefined;
  /** Python interpreter with the packages of bench/peers/requirements.txt. */
  readonly python: string;
  /** Folder for CPU profiles of the product's processes; undefined: no profiles. */
  readonly profileFolder: string | undefined;
}

export type StoreKind = 'postgres' | 'embedded';

export const storeKinds: readonly StoreKind[] = ['postgres', 'embedded'];

/** Receives a bench's progress and results. */
export interface BenchReport {
  /** Reports a finished run. */
  run(run: Run): void;
  /** Reports a figure of this bench, with or without a target. */
  figure(figure: Omit<Figure, 'bench'>): void;
  /** Prints a sentence that explains the figures. */
  note(sentence: string): void;
}

/**
 * A benchmark of the speed or cost of the whole product. Starts processes as a user does, with a sandbox as the
 * service. Also runs a baseline, because only ratios are meaningful on a shared machine.
 */
export interface Bench {
  readonly name: string;
  readonly about: string;
  run(options: BenchOptions, report: BenchReport): Promise<void>;
}
