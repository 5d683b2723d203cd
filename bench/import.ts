import { firstChunkSize } from '../ledger/imports/imports.js';
import { type Bench, type BenchOptions, median, type Run } from './report.js';
import type { ImportMeasurement, ImportTask } from './imports/main.js';
import { onlyAttendees } from './processes/load-attendees.js';
import { Program } from './processes/program.js';
import { sandboxKey } from './processes/sandbox.js';
import { type Stage, withStage } from './processes/stage.js';
import { join } from 'node:path';

/**
 * Measures an import of valid rows: only sending, and the whole import with staging and the check against earlier
 * imports. The baseline is a loop that posts the same chunks one after the other and stores nothing.
 */
export const importRows: Bench = {
  name: 'import',
  about: 'import of --items registrants through a ledger on PostgreSQL, against a bare loop that posts the same chunks',
  async run(options, report) {
    const rows = options.items ?? 100_000;
    const wholes: number[] = [];
    const sendings: number[] = [];
    const peaks: number[] = [];
    for (let pair = 0; pair < options.pairs; pair += 1) {
      const product = await contend('product', rows, options);
      report.run(product.run);
      const { stagingSeconds } = product.measurement;
      report.note(`staged in ${stagingSeconds.toFixed(2)} s of ${product.run.seconds.toFixed(2)} s`);
      const bare = await contend('bare', rows, options);
      report.run(bare.run);
      wholes.push(bare.run.seconds / product.run.seconds);
      sendings.push(bare.run.seconds / (product.run.seconds - stagingSeconds));
      peaks.push(product.measurement.peakRssMb);
    }
    const at = options.latencyMs === 0 ? '' : ` at ${options.latencyMs} ms a response`;
    const ofRows = `${rows.toLocaleString('en')} rows`;
    const against = `a bare loop posting the same chunks${at}`;
    report.figure({ what: `${ofRows}, only sending / ${against}`, value: median(sendings) });
    report.figure({
      what: `${ofRows}, staging included / ${against}`,
      value: median(wholes),
      // a service on loopback answers faster than rows can be stored
      ...(options.latencyMs > 0 && { must: { atLeast: 0.8 }, aim: { atLeast: 1.5 } }),
    });
    report.figure({
      what: 'peak memory of the importing process',
      value: Math.max(...peaks),
      unit: 'MB',
      must: { atMost: 250 },
      aim: { atMost: 200 },
    });
  },
};

/** Runs a contender on its own sandbox, because registrants cannot be deleted. */
async function contend(
  contender: ImportTask['contender'],
  rows: number,
  { latencyMs, profileFolder }: BenchOptions,
): Promise<{ run: Run; measurement: ImportMeasurement }> {
  return await withStage(onlyAttendees(0, latencyMs), async (stage) => {
    const server = await stage.postgres();
    const before = server.cpuSeconds();
    const measurement = await measure(stage, contender, rows, profileFolder);
    const serverCpuSeconds = contender === 'product' ? server.cpuSeconds() - before : undefined;
    const { seconds, cpuSeconds, peakRssMb, requests } = measurement;
    const name = contender === 'product' ? 'pigeonpost' : 'bare loop';
    const figures = { seconds, cpuSeconds, serverCpuSeconds, peakRssMb, requests };
    return { measurement, run: { contender: name, items: rows, ...figures } };
  });
}

async function measure(
  stage: Stage,
  contender: ImportTask['contender'],
  rows: number,
  profileFolder: string | undefined,
): Promise<ImportMeasurement> {
  const folder = stage.nextFolder();
  const store = await stage.freshStore('postgres', folder);
  if (store.kind !== 'postgres') throw new Error('this bench runs on PostgreSQL');
  const { baseUrl } = stage.sandbox;
  const about = { contender, baseUrl, apiKey: sandboxKey, pigeonholeId: 101, rows, chunkSize: firstChunkSize };
  const task: ImportTask = { ...about, databaseUrl: store.url, folder };
  const program = new Program({
    program: 'bench/imports/main',
    args: [JSON.stringify(task)],
    nodeArgs: profileFolder === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${profileFolder}`],
    env: {},
    cwd: folder,
    logFile: join(folder, 'import.log'),
  });
  return await program.measured<ImportMeasurement>(10 * 60_000);
}
