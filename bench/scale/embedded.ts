import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { BenchOptions, BenchReport } from '../report.js';
import { Product } from '../processes/product.js';
import { livePigeonholes, type ScaleTask, withLivePigeonholes } from './polling.js';

const intervalMs = 1000;

/**
 * Measures one live pigeonhole at one second with everything embedded: the CPU time of the process with its Temporal
 * server, and how much its files grow, while nothing changes.
 */
export async function restingEmbedded(task: ScaleTask, options: BenchOptions, report: BenchReport): Promise<void> {
  await withLivePigeonholes(1, async (stage) => {
    const product = await Product.start(stage, {
      store: 'embedded',
      dist: options.scale.dist,
      sync: [`pigeonholes: [${livePigeonholes(1).join(', ')}]`, `every: { live: ${intervalMs}ms }`, 'sinks: [archive]'],
      sinks: ['archive: { type: file, folder: ./archive }'],
      profileFolder: options.profileFolder,
    });
    await product.untilSettled(120_000);
    await pause(task.quick ? 3000 : 30_000);
    const cpuBefore = product.familyCpuSeconds();
    const filesBefore = sizes(product.folder);
    const startedAt = performance.now();
    await pause(task.seconds * 1000);
    const seconds = (performance.now() - startedAt) / 1000;
    const cpu = product.familyCpuSeconds() - cpuBefore;
    const filesAfter = sizes(product.folder);
    report.figure({
      what: 'one live event at 1 s, everything embedded: share of a core',
      value: (100 * cpu) / seconds,
      unit: '%',
      ...(task.quick ? {} : { must: { atMost: 10 } }),
    });
    for (const [what, bytes] of filesAfter) {
      report.figure({
        what: `growth of ${what} in ${Math.round(seconds)} s of rest`,
        value: (bytes - (filesBefore.get(what) ?? 0)) / 1000,
        unit: 'kB',
      });
    }
  });
}

/** Returns the bytes of the product's files by purpose. */
function sizes(folder: string): Map<string, number> {
  const data = join(folder, 'data');
  const temporal = readdirSync(data, { recursive: true, encoding: 'utf8' }).filter((name) => /\.sqlite/.test(name));
  const log = bytesOf(join(data, 'postgres/pg_wal'));
  return new Map([
    ["the store's files", bytesOf(join(data, 'postgres')) - log],
    ["the store's WAL", log],
    ["Temporal's file", temporal.reduce((sum, name) => sum + bytesOf(join(data, name)), 0)],
    ['the log', bytesOf(join(folder, 'pigeonpost.log'))],
  ]);
}

function bytesOf(path: string): number {
  if (!existsSync(path)) return 0;
  const stat = statSync(path);
  if (!stat.isDirectory()) return stat.size;
  return readdirSync(path).reduce((sum, name) => sum + bytesOf(join(path, name)), 0);
}
