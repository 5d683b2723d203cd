// npm run properties -- --runs N --seed S [--shrink] [--store embedded|postgres]
// Plays N lives of a service and its reader against a model, and prints lost, repeated and falsely deleted items.
// A failure prints its seed: --seed S --runs 1 repeats it, --shrink makes it smaller.
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
import { type Figures, runProperties } from './run-properties.js';

const usage = 'usage: npm run properties -- [--runs N] [--seed S] [--shrink] [--store embedded|postgres] [--help]';

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
  const { runs, seed } = values;
  const { db, close } = await openStore(values.store);
  try {
    await openLedger(db, testKey);
    const startedAt = Date.now();
    const figures = await runProperties(db, {
      runs,
      seed,
      shrink: values.shrink,
      onRun: (done, { failures }) => {
        const last = failures.at(-1);
        if (last?.seed === seed + done - 1) process.stderr.write(`seed ${last.seed} failed: ${last.what}\n`);
        if (done % 100 === 0) process.stderr.write(`${done} runs, ${failures.length} failed\n`);
      },
    });
    const seconds = Math.round((Date.now() - startedAt) / 1000);
    process.stdout.write(`${runs} runs from seed ${seed} on ${db.kind}, ${seconds} s\n${formatFigures(figures)}\n`);
    process.exitCode = figures.failures.length === 0 ? 0 : 1;
  } finally {
    await close();
  }
}

function formatFigures({ failures, faults, disturbed, ...counts }: Figures): string {
  const line = (named: object): string =>
    Object.entries(named)
      .map(([name, value]) => `${name} ${String(value)}`)
      .join(', ');
  return [
    line(counts),
    line(disturbed),
    line(faults),
    ...failures.map(({ seed, what }) => `seed ${seed} failed:\n  ${what.replaceAll('\n', '\n  ')}`),
    ...(failures.length === 1 ? [inspect(failures[0]!.script, { depth: null, breakLength: 120 })] : []),
  ].join('\n');
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
        help: { type: 'boolean', default: false, short: 'h' },
      },
    });
    return { ...values, runs: wholeNumber('runs', values.runs), seed: wholeNumber('seed', values.seed) };
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
