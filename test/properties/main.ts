// npm run properties -- --runs N --seed S [--only reading|remembering] [--shrink] [--store embedded|postgres]
// `reading` plays N lives of a service and its reader against a model, and prints lost, repeated and falsely deleted
// items. `remembering` compares the ledgers of a reader that remembers and of one that forgets, after N histories.
// A failure prints its seed: --seed S --runs 1 --only NAME repeats it, --shrink makes it smaller.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect, parseArgs } from 'node:util';
import type { Database } from '../../ledger/drivers/database.js';
import { openEmbedded } from '../../ledger/drivers/embedded.js';
import { openPostgres } from '../../ledger/drivers/postgres.js';
import { openLedger } from '../../ledger/ledger.js';
import { testKey } from '../../ledger/ledger-key.test-kit.js';
import { hasPostgres, startPostgres } from '../postgres.js';
import { runRemembering } from './remembering.js';
import { runProperties } from './run-properties.js';

const usage =
  'usage: npm run properties -- [--runs N] [--seed S] [--only reading|remembering] [--shrink] [--store embedded|postgres] [--help]';

async function main(): Promise<void> {
  const values = readOptions();
  if (typeof values === 'string') {
    process.stderr.write(`${values}\n${usage}\n`);
    process.exitCode = 2;
    return;
  }
  if (values.help) {
    process.stdout.write(`${usage}\n`);
    return;
  }
  const names = values.only === undefined ? (Object.keys(properties) as PropertyName[]) : [values.only];
  let hasFailed = false;
  for (const name of names) {
    const { db, close } = await openStore(values.store);
    try {
      await openLedger(db, testKey);
      const startedAt = Date.now();
      const { failures, text } = await properties[name](db, values);
      const seconds = Math.round((Date.now() - startedAt) / 1000);
      const { runs, seed } = values;
      process.stdout.write(`${name}: ${runs} runs from seed ${seed} on ${db.kind}, ${seconds} s\n${text}\n`);
      for (const { seed: failed, what } of failures) {
        process.stdout.write(`seed ${failed} failed:\n  ${what.replaceAll('\n', '\n  ')}\n`);
      }
      const [only] = failures;
      if (failures.length === 1) process.stdout.write(`${inspect(only, { depth: null, breakLength: 120 })}\n`);
      hasFailed ||= failures.length > 0;
    } finally {
      await close();
    }
  }
  process.exitCode = hasFailed ? 1 : 0;
}

interface Outcome {
  readonly failures: readonly { readonly seed: number; readonly what: string }[];
  /** The other figures. */
  readonly text: string;
}

type Runs = Pick<Options, 'runs' | 'seed' | 'shrink'>;

const properties = {
  async reading(db: Database, options: Runs): Promise<Outcome> {
    const figures = await runProperties(db, { ...options, onRun: reportTo(options) });
    const { failures, faults, disturbed, ...counts } = figures;
    return { failures, text: [counts, disturbed, faults].map(formatCounts).join('\n') };
  },
  async remembering(db: Database, options: Runs): Promise<Outcome> {
    const { failures, ...counts } = await runRemembering(db, { ...options, onRun: reportTo(options) });
    return { failures, text: formatCounts(counts) };
  },
};

type PropertyName = keyof typeof properties;

function reportTo({ seed }: Runs): (done: number, figures: Pick<Outcome, 'failures'>) => void {
  return (done, { failures }) => {
    const last = failures.at(-1);
    if (last?.seed === seed + done - 1) process.stderr.write(`seed ${last.seed} failed: ${last.what}\n`);
    if (done % 100 === 0) process.stderr.write(`${done} runs, ${failures.length} failed\n`);
  };
}

function formatCounts(named: object): string {
  return Object.entries(named)
    .map(([name, value]) => `${name} ${String(value)}`)
    .join(', ');
}

async function openStore(kind: string): Promise<{ db: Database; close: () => Promise<void> }> {
  if (kind === 'postgres') {
    const server = await startPostgres();
    if (server === null) throw new Error('PostgreSQL is not installed; install it, or use --store embedded');
    const db = await openPostgres({ url: server.url });
    const close = async (): Promise<void> => {
      await db.close();
      await server.stop();
    };
    return { db, close };
  }
  if (kind !== 'embedded') throw new Error(`--store ${kind} is not supported; use embedded or postgres`);
  const folder = mkdtempSync(join(tmpdir(), 'pigeonpost-properties-'));
  const db = await openEmbedded({ folder });
  const close = async (): Promise<void> => {
    await db.close();
    rmSync(folder, { recursive: true });
  };
  return { db, close };
}

interface Options {
  readonly only: PropertyName | undefined;
  readonly runs: number;
  readonly seed: number;
  readonly shrink: boolean;
  readonly store: string;
  readonly help: boolean;
}

/** Returns the options or a usage error. */
function readOptions(): Options | string {
  try {
    const { values } = parseArgs({
      options: {
        runs: { type: 'string', default: '1000' },
        seed: { type: 'string', default: '1' },
        shrink: { type: 'boolean', default: false },
        store: { type: 'string', default: hasPostgres() ? 'postgres' : 'embedded' },
        only: { type: 'string' },
        help: { type: 'boolean', default: false, short: 'h' },
      },
    });
    const { only } = values;
    if (only !== undefined && !Object.hasOwn(properties, only)) return `--only ${only} is not supported`;
    return {
      ...values,
      only: only as PropertyName | undefined,
      runs: wholeNumber('runs', values.runs),
      seed: wholeNumber('seed', values.seed),
    };
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

function wholeNumber(name: string, text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value) || value < 0)
    throw new Error(`--${name} ${text} is not a whole number of 0 or more`);
  return value;
}

void main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 2;
});
