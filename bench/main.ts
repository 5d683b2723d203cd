import { messageOf } from '../base/errors.js';
import { mkdirSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import {
  type Bench,
  type BenchOptions,
  type BenchReport,
  type StoreKind,
  type Figure,
  verdictOf,
  formatTable,
  formatRun,
} from './report.js';
import { coldLoad, memory } from './cold-load.js';
import { detection, latency } from './latency.js';
import { endToEnd } from './end-to-end.js';
import { growth } from './growth.js';
import { hubspotLimit } from './hubspot-limit.js';
import { idle } from './idle.js';
import { importRows } from './import.js';
import { moderation } from './moderation.js';
import { neighbor } from './neighbor.js';
import { peers } from './peers.js';
import { registrantFile } from './registrant-file.js';
import { scale } from './scale/scale.js';
import { smallQuota } from './small-quota.js';
import { status } from './status.js';
import { unchanged } from './unchanged.js';

/** `npm run bench`: measures the whole product; see docs/performance.md. */

const allBenches: readonly Bench[] = [
  coldLoad,
  endToEnd,
  unchanged,
  idle,
  latency,
  moderation,
  detection,
  neighbor,
  smallQuota,
  memory,
  peers,
  hubspotLimit,
  growth,
  registrantFile,
  importRows,
  scale,
  status,
];

/** Benchmarks that run by default. They need a few minutes on two cores. */
const usualBenches: readonly string[] = ['cold-load', 'unchanged', 'idle'];

const usage = `npm run bench [-- NAME… [options]]

${allBenches.map(({ name, about }) => `  ${name.padEnd(10)} ${about}`).join('\n')}

without names: ${usualBenches.join(', ')}
options: --store postgres|embedded  --items N  --latency-ms N  --pairs N (3)  --into file|webhook|file+webhook (only end-to-end; each by default)  --python COMMAND (python3)  --profile FOLDER (CPU profiles of the product)  --help
only scale: --pigeonholes N (200)  --interval-ms N (5000)  --seconds N (60)  --workers N (2)  --dist FOLDER (another build)  --embedded (one event at 1 s, everything embedded)  --restart (a worker restarts at load 30)  --quick (a few seconds)`;

/** Exit codes: 0 done, 1 a required target was missed or a benchmark failed, 2 invalid arguments. */
async function main(argv: readonly string[]): Promise<number> {
  const task = readTask(argv);
  if (task === 'help') {
    process.stdout.write(`${usage}\n`);
    return 0;
  }
  if (typeof task === 'string') {
    process.stderr.write(`${task}\n\n${usage}\n`);
    return 2;
  }
  const figures: Figure[] = [];
  for (const bench of task.benches) {
    process.stdout.write(`\n${bench.name}: ${bench.about}\n`);
    await bench.run(task.options, reportTo(figures, bench.name));
  }
  process.stdout.write(`\n${formatTable(figures)}\n`);
  return figures.some((figure) => verdictOf(figure) === 'missed') ? 1 : 0;
}

function reportTo(figures: Figure[], bench: string): BenchReport {
  return {
    run: (run) => void process.stdout.write(`  ${formatRun(run)}\n`),
    figure: (figure) => void figures.push({ bench, ...figure }),
    note: (sentence) => void process.stdout.write(`  ${sentence}\n`),
  };
}

/** Returns the options, `help`, or a usage error. */
function readTask(argv: readonly string[]): { benches: Bench[]; options: BenchOptions } | string {
  try {
    const { values, positionals } = parseArgs({
      args: [...argv],
      allowPositionals: true,
      options: {
        store: { type: 'string' },
        items: { type: 'string' },
        'latency-ms': { type: 'string', default: '0' },
        pairs: { type: 'string', default: '3' },
        profile: { type: 'string' },
        into: { type: 'string' },
        python: { type: 'string', default: 'python3' },
        pigeonholes: { type: 'string' },
        'interval-ms': { type: 'string' },
        seconds: { type: 'string' },
        workers: { type: 'string' },
        dist: { type: 'string' },
        embedded: { type: 'boolean', default: false },
        restart: { type: 'boolean', default: false },
        quick: { type: 'boolean', default: false },
        help: { type: 'boolean', default: false, short: 'h' },
      },
    });
    const names = positionals.length > 0 ? positionals : usualBenches;
    const benches = names.map(
      (name) => allBenches.find((bench) => bench.name === name) ?? fail(`there is no bench ${name}`),
    );
    const profileFolder = values.profile === undefined ? undefined : resolve(values.profile);
    const options = {
      store: values.store === undefined ? undefined : storeOf(values.store),
      items: optionalNumber('--items', values.items),
      latencyMs: wholeNumber('--latency-ms', values['latency-ms'], 0),
      pairs: wholeNumber('--pairs', values.pairs, 1),
      profileFolder,
      into: values.into,
      python: values.python,
      scale: {
        mode: values.embedded ? 'embedded' : values.restart ? 'restart' : 'cost',
        pigeonholes: optionalNumber('--pigeonholes', values.pigeonholes),
        intervalMs: optionalNumber('--interval-ms', values['interval-ms']),
        seconds: optionalNumber('--seconds', values.seconds),
        workers: optionalNumber('--workers', values.workers),
        dist: values.dist === undefined ? undefined : resolve(values.dist),
        quick: values.quick,
      },
    } as const;
    if (values.help) return 'help';
    if (profileFolder !== undefined) mkdirSync(profileFolder, { recursive: true });
    return { benches, options };
  } catch (error) {
    return messageOf(error);
  }
}

function storeOf(text: string): StoreKind {
  return text === 'postgres' || text === 'embedded' ? text : fail(`--store is ${text}; give postgres or embedded`);
}

function optionalNumber(flag: string, text: string | undefined): number | undefined {
  return text === undefined ? undefined : wholeNumber(flag, text, 1);
}

function wholeNumber(flag: string, text: string, least: number): number {
  const value = Number(text);
  return Number.isInteger(value) && value >= least
    ? value
    : fail(`${flag} is ${text}; give a whole number from ${least}`);
}

function fail(sentence: string): never {
  throw new Error(sentence);
}

main(process.argv.slice(2)).then(
  (exitCode) => {
    process.exitCode = exitCode;
  },
  (error: unknown) => {
    process.stderr.write(`bench: ${messageOf(error)}\n`);
    process.exitCode = 1;
  },
);
