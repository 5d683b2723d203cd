import { setTimeout as pause } from 'node:timers/promises';
import { type Bench, type BenchOptions, type BenchReport, busyNote, type Limit } from '../report.js';
import {
  type Counters,
  difference,
  forgetStatements,
  type ProcessKind,
  readCounters,
  rowsByTable,
  statementsOf,
} from './counters.js';
import { peakRssMbOf } from '../processes/program.js';
import { askQuestions, reportDelays } from './delays.js';
import { restingEmbedded } from './embedded.js';
import { livePigeonholes, type ScaleTask, startPolling, taskOf, withLivePigeonholes } from './polling.js';
import { restartUnderLoad } from './restart.js';

/**
 * Measures what a live pigeonhole costs in which nothing happens, on a real Temporal server and PostgreSQL, with several
 * worker processes. The cost of a poll is the slope between two loads of one run, half and all of the pigeonholes, so that
 * what the processes cost without any pigeonhole does not count.
 */
export const scale: Bench = {
  name: 'scale',
  about:
    'CPU, statements, WAL and delays with --pigeonholes N (200) live at --interval-ms N (5000) on --workers N (2), on a real Temporal server and PostgreSQL',
  async run(options, report) {
    const task = taskOf(options);
    if (options.scale.mode === 'embedded') return await restingEmbedded(task, options, report);
    if (options.scale.mode === 'restart') return await restartUnderLoad(task, options, report);
    const half = await load({ ...task, pigeonholes: Math.ceil(task.pigeonholes / 2) }, options, report);
    const all = await load(task, options, report, 'with questions');
    report.note(busyNote());
    reportSlope(task, [half, all], report);
  },
};

interface Load {
  /** Difference of all counters between start and end of the quiet phase. */
  readonly counted: Counters;
  /** Peak memory of the worker that used most. */
  readonly peakRssMb: number;
}

async function load(
  task: ScaleTask,
  options: BenchOptions,
  report: BenchReport,
  then?: 'with questions',
): Promise<Load> {
  let found: Load | undefined;
  await withLivePigeonholes(task.pigeonholes, async (stage) => {
    const startedAt = performance.now();
    const fleet = await startPolling(stage, task, options);
    const startSeconds = Math.round((performance.now() - startedAt) / 1000);
    await forgetStatements(fleet);
    const rowsBefore = await rowsByTable(fleet);
    const before = await readCounters(fleet, 'start');
    await pause(task.seconds * 1000);
    const after = await readCounters(fleet, 'end');
    const counted = difference(before, after);
    found = { counted, peakRssMb: Math.max(...fleet.workers.map(({ pid }) => peakRssMbOf(pid))) };
    const wanted = (task.pigeonholes * 1000) / task.intervalMs;
    report.note(
      `${task.pigeonholes} pigeonholes, started and read in ${startSeconds} s: ${perSecond(counted, 'polls').toFixed(2)} polls/s of ${wanted.toFixed(2)}, ${(counted.requests / counted.polls).toFixed(2)} requests a poll; CPU a second: ${cpuText(counted)}`,
    );
    if (perSecond(counted, 'polls') < 0.95 * wanted)
      report.note('fewer polls than configured: this machine is too small');
    reportStatements(await statementsOf(fleet), counted.polls, report);
    const grown = [...(await rowsByTable(fleet))].filter(([table, rows]) => rows > (rowsBefore.get(table) ?? 0));
    report.note(
      `rows that were added while nothing changed: ${grown.map(([table, rows]) => `${rows - (rowsBefore.get(table) ?? 0)} ${table}`).join(', ') || 'none'}`,
    );
    if (then === undefined) return;
    const delays = await askQuestions(fleet, livePigeonholes(task.pigeonholes), task);
    reportDelays(`${task.pigeonholes} live pigeonholes`, { delays, task }, report);
  });
  return found!;
}

function reportStatements(
  statements: readonly { query: string; calls: number; ms: number }[],
  polls: number,
  report: BenchReport,
): void {
  for (const { query, calls, ms } of statements.slice(0, 12)) {
    report.note(`  ${(calls / polls).toFixed(2)} a poll, ${(ms / polls).toFixed(3)} ms a poll: ${query.slice(0, 110)}`);
  }
}

function perSecond(counted: Counters, what: 'polls' | 'requests'): number {
  return (counted[what] * 1000) / counted.atMs;
}

function cpuText({ cpu, atMs }: Counters): string {
  return Object.entries(cpu)
    .map(([kind, seconds]) => `${kind} ${((seconds * 1000) / atMs).toFixed(3)}`)
    .join(', ');
}

/** Targets of docs/performance.md for one quiet poll of eight lists, ms of CPU. */
const cpuLimits: Readonly<Partial<Record<ProcessKind, readonly [must: number, aim: number]>>> = {
  workers: [14, 7],
  temporal: [1, 0.3],
  store: [5, 1.5],
};

function reportSlope(task: ScaleTask, [half, all]: readonly [Load, Load], report: BenchReport): void {
  const pollsMore = perSecond(all.counted, 'polls') - perSecond(half.counted, 'polls');
  const slope = (value: (counted: Counters) => number): number =>
    ((value(all.counted) * 1000) / all.counted.atMs - (value(half.counted) * 1000) / half.counted.atMs) / pollsMore;
  const limits = (values: readonly [number, number] | undefined): { must?: Limit; aim?: Limit } =>
    // The few seconds of the quick mode show that it works, not what it costs.
    values === undefined || task.quick ? {} : { must: { atMost: values[0] }, aim: { atMost: values[1] } };
  const kinds = {
    workers: 'workers',
    temporal: 'Temporal',
    store: "pigeonpost's PostgreSQL",
    temporalStore: "Temporal's PostgreSQL",
  };
  const cpuMs = (kind: ProcessKind): number => slope(({ cpu }) => cpu[kind]) * 1000;
  for (const [kind, name] of Object.entries(kinds) as [keyof typeof kinds, string][]) {
    report.figure({
      what: `CPU of ${name} per quiet poll`,
      value: cpuMs(kind),
      unit: 'ms',
      ...limits(cpuLimits[kind]),
    });
  }
  report.figure({ what: 'statements per quiet poll', value: slope((c) => c.statements), ...limits([8, 3]) });
  report.figure({ what: 'transactions per quiet poll', value: slope((c) => c.transactions) });
  report.figure({ what: 'WAL per quiet poll', value: slope((c) => c.walBytes) / 1000, unit: 'kB', ...limits([3, 1]) });
  report.figure({
    what: "Temporal's history events per quiet poll",
    value: slope((c) => c.historyEvents),
    ...limits([0.1, 0.05]),
  });
  report.figure({ what: "Temporal's transactions per quiet poll", value: slope((c) => c.temporalTransactions) });
  report.figure({ what: "Temporal's changed rows per quiet poll", value: slope((c) => c.temporalRows) });
  report.figure({ what: "Temporal's WAL per quiet poll", value: slope((c) => c.temporalWalBytes) / 1000, unit: 'kB' });
  report.figure({
    what: `peak memory of a worker with ${task.pigeonholes} pigeonholes`,
    value: all.peakRssMb,
    unit: 'MB',
  });
  const total = (Object.keys(kinds) as (keyof typeof kinds)[]).reduce((sum, kind) => sum + cpuMs(kind), 0);
  for (const events of [1000, 10_000]) {
    report.figure({
      what: `${events.toLocaleString('en')} live events at ${task.intervalMs / 1000} s: cores in all`,
      value: (total / 1000) * ((events * 1000) / task.intervalMs),
    });
  }
}
