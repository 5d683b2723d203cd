/**
 * Runs the bare loop as a separate process that measures itself and prints one line of JSON.
 * Usage: node dist/bench/bare/main.js '<BareTask as JSON>'
 */
import { performance } from 'node:perf_hooks';
import { bareRead } from './bare-read.js';
import { type BareStore, openBareStore } from './bare-store.js';
import { openBareDelivery } from './bare-delivery.js';
import type { BareMeasurement, BareTask } from './bare-task.js';

const nowhere: BareStore = { keep: async () => undefined, close: async () => undefined };

async function run(task: BareTask): Promise<BareMeasurement> {
  const store = task.store === undefined ? nowhere : await openBareStore(task.store);
  const delivery = await openBareDelivery(task.deliver ?? {});
  const cpuBefore = process.cpuUsage();
  const startedAt = performance.now();
  const result = await bareRead({
    ...task,
    keep: async (rows) => {
      await store.keep(rows);
      await delivery.deliver(rows);
    },
  });
  const seconds = (performance.now() - startedAt) / 1000;
  const { user, system } = process.cpuUsage(cpuBefore);
  await delivery.close();
  await store.close();
  const peakRssMb = process.resourceUsage().maxRSS / 1024;
  return { ...result, seconds, cpuSeconds: (user + system) / 1e6, peakRssMb };
}

run(JSON.parse(process.argv[2] ?? '') as BareTask).then(
  (measurement) => process.stdout.write(`measured ${JSON.stringify(measurement)}\n`),
  (error: unknown) => {
    process.stderr.write(`bare: ${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = 1;
  },
);
