/**
 * Runs the bare loop as a separate process that measures itself and prints one line of JSON.
 * Usage: node dist/bench/bare/main.js '<BareTask as JSON>'
 */
import { performance } from 'node:perf_hooks';
import { bareRead, type BareRow } from './bare-read.js';
import { openBareDelivery } from './bare-delivery.js';
import type { BareMeasurement, BareTask } from './run-bare-loop.js';
import { Client } from 'pg';
import { openDatabase } from '../../ledger/drivers/open-database.js';

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

interface BareStore {
  keep(rows: readonly BareRow[]): Promise<void>;
  close(): Promise<void>;
}

const table = 'create table bare (key text primary key, hash text not null, payload json not null)';

/** One statement per page with its rows as one JSON text, which is the fastest way with `pg`. */
const upsert = `insert into bare (key, hash, payload)
  select key, hash, payload from json_to_recordset($1::json) as n (key text, hash text, payload json)
  on conflict (key) do update set hash = excluded.hash, payload = excluded.payload`;

/** Opens a table in the given store. Uses only `pg` for a server. */
async function openBareStore(store: { url: string } | { folder: string }): Promise<BareStore> {
  if ('url' in store) {
    const client = new Client({ connectionString: store.url });
    await client.connect();
    await client.query(table);
    return {
      async keep(rows) {
        await client.query({ name: 'upsert', text: upsert, values: [asJson(rows)] });
      },
      close: () => client.end(),
    };
  }
  // Opens PGlite with fsync, as the product does. Otherwise, the benchmark would compare disks instead of code.
  const database = await openDatabase({ kind: 'embedded', folder: store.folder });
  await database.script(table);
  return {
    async keep(rows) {
      await database.query(upsert, [asJson(rows)]);
    },
    close: () => database.close(),
  };
}

/** Builds the JSON of a page with the unchanged JSON of its items. */
function asJson(rows: readonly BareRow[]): string {
  return `[${rows.map(({ key, hash, json }) => `{"key":"${key}","hash":"${hash}","payload":${json}}`).join(',')}]`;
}
