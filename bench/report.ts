import { availableParallelism, loadavg } from 'node:os';

/** Options of the benchmark `scale`; undefined: its default. */
export interface ScaleOptions {
  readonly mode: 'cost' | 'embedded' | 'restart';
  readonly pigeonholes: number | undefined;
  readonly intervalMs: number | undefined;
  readonly seconds: number | undefined;
  readonly workers: number | undefined;
  /** Folder with the build to measure; undefined: the own one. */
  readonly dist: string | undefined;
  /** A few pigeonholes for a few seconds, to show that the benchmark works. */
  readonly quick: boolean;
}

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
  readonly scale: ScaleOptions;
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

/** Limit of a figure. */
export type Limit = { readonly atLeast: number } | { readonly atMost: number };

/** A figure with its targets from docs/performance.md. */
export interface Figure {
  readonly bench: string;
  readonly what: string;
  readonly value: number;
  /** Unit after the number; absent for a ratio or a count. */
  readonly unit?: string;
  /** Required target. If it is missed, the command fails. */
  readonly must?: Limit;
  readonly aim?: Limit;
}

type Verdict = 'aim' | 'must' | 'missed' | 'no target';

export function verdictOf({ value, must, aim }: Figure): Verdict {
  if (must === undefined && aim === undefined) return 'no target';
  if (must !== undefined && !keeps(value, must)) return 'missed';
  if (aim !== undefined && keeps(value, aim)) return 'aim';
  return 'must';
}

function keeps(value: number, limit: Limit): boolean {
  return 'atLeast' in limit ? value >= limit.atLeast : value <= limit.atMost;
}

/** Returns the percentile by the nearest-rank method. @throws {RangeError} without values */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  const value = sorted[Math.min(sorted.length - 1, Math.max(0, Math.ceil(share * sorted.length) - 1))];
  if (value === undefined) throw new RangeError('there is no percentile of no values');
  return value;
}

/** Returns the middle value, or the mean of the two in the middle. @throws {RangeError} without values */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const upper = sorted[Math.floor(sorted.length / 2)];
  const lower = sorted[Math.floor((sorted.length - 1) / 2)];
  if (upper === undefined || lower === undefined) throw new RangeError('there is no median of no values');
  return (lower + upper) / 2;
}

const marks: Readonly<Record<Verdict, string>> = {
  aim: '✔ aim',
  must: '✔ must',
  missed: '✘ missed',
  'no target': '',
};

/** Formats the figures as a Markdown table for docs/performance.md. */
export function formatTable(figures: readonly Figure[]): string {
  const rows = [
    ['bench', 'figure', 'median', 'must', 'aim', ''],
    ...figures.map((figure) => [
      figure.bench,
      figure.what,
      numberText(figure.value, figure.unit),
      limitText(figure.must, figure.unit),
      limitText(figure.aim, figure.unit),
      marks[verdictOf(figure)],
    ]),
  ];
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  const lines = rows.map((row) => `| ${row.map((cell, column) => cell.padEnd(widths[column]!)).join(' | ')} |`);
  const rule = `|${widths.map((width) => '-'.repeat(width + 2)).join('|')}|`;
  return [lines[0], rule, ...lines.slice(1)].join('\n');
}

function limitText(limit: Limit | undefined, unit: string | undefined): string {
  if (limit === undefined) return '';
  return 'atLeast' in limit ? `≥ ${numberText(limit.atLeast, unit)}` : `≤ ${numberText(limit.atMost, unit)}`;
}

function numberText(value: number, unit: string | undefined): string {
  const digits = Number.isInteger(value) || Math.abs(value) >= 100 ? 0 : 2;
  const text = value.toLocaleString('en', { minimumFractionDigits: 0, maximumFractionDigits: digits });
  return unit === undefined ? text : `${text} ${unit}`;
}

/** Returns a note about the load of the machine, which affects the figures. */
export function busyNote(): string {
  return `busy: ${loadavg()[0]!.toFixed(1)} of ${availableParallelism()} cores in the last minute`;
}

/** One contender's run. */
export interface Run {
  readonly contender: string;
  readonly items: number;
  /** Time from the first measured request to the last commit. */
  readonly seconds: number;
  /** CPU seconds of the contender's process in that time. */
  readonly cpuSeconds: number;
  /** CPU seconds of the PostgreSQL server in that time; undefined if it used none. */
  readonly serverCpuSeconds?: number | undefined;
  /** Peak memory since the start of the process. */
  readonly peakRssMb: number;
  readonly requests: number;
}

export function itemsPerSecond({ items, seconds }: Run): number {
  return items / seconds;
}

/** Formats a run as one line. */
export function formatRun(run: Run): string {
  const cells = [
    run.contender.padEnd(34),
    `${Math.round(itemsPerSecond(run)).toLocaleString('en').padStart(9)} items/s`,
    `${run.seconds.toFixed(2).padStart(7)} s`,
    `${run.cpuSeconds.toFixed(2).padStart(6)} CPU s`,
    ...(run.serverCpuSeconds === undefined ? [] : [`+ ${run.serverCpuSeconds.toFixed(2)} of the server`]),
    `${Math.round(run.peakRssMb).toString().padStart(5)} MB`,
    `${run.requests.toString().padStart(6)} requests`,
  ];
  return cells.join('  ');
}
