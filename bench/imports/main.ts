import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { Pool } from 'undici';
import { measured, type Measurement, printMeasured } from '../processes/print-measured.js';
import { type Collaborators, noMeters, noOrchestration } from '../../cycles/collaborators.js';
import { noTracer } from '../../base/tracer.js';
import { importRegistrants } from '../../importing/import-registrants.js';
import { ServiceGate } from '../../requests/service-gate.js';
import { forecastNeeds } from '../../reading/demand.js';
import { normalizedConfig } from '../../config/normalized-config.js';
import { openDatabase } from '../../ledger/drivers/open-database.js';
import { openLedger } from '../../ledger/ledger.js';
import { givenKey, LedgerKey } from '../../ledger/ledger-key.js';
import { useConfiguration } from '../../ledger/configurations.js';
import { beginImport, startImport } from '../../ledger/imports/imports.js';
import { stageAll, type StagedRow } from '../../importing/staging.js';
import { readImport } from '../../importing/read-import.js';
import { pigeonholeNumberOf } from '../../ledger/pigeonholes.js';
import { loadProcessConfig } from '../../operations/load-process-config.js';
import { openClients } from '../../requests/clients.js';
import { RoundQueue } from '../../cycles/round-queue.js';
import { Wakes } from '../../cycles/wakes.js';

/**
 * Runs one contender of the import bench as a separate process that measures itself and prints one line of JSON.
 * Usage: node dist/bench/imports/main.js '<ImportTask as JSON>'
 */

/** Returns a person of about 190 bytes, the same for both contenders. */
function person(index: number): { attendeeCode: string; [field: string]: string } {
  return {
    attendeeCode: `REG-${String(index).padStart(8, '0')}`,
    Name: `Guest Number ${index}`,
    Email: `guest.number.${index}@conference.example.com`,
    Company: `Company ${index % 977} of the Example Group`,
    'Job title': 'Head of Something or Other',
  };
}

/** Posts one chunk after another on one connection. */
async function postBare(task: ImportTask): Promise<number> {
  const pool = new Pool(task.baseUrl, { connections: 1 });
  let requests = 0;
  for (let from = 0; from < task.rows; from += task.chunkSize) {
    const data = Array.from({ length: Math.min(task.chunkSize, task.rows - from) }, (_, index) => person(from + index));
    const { statusCode, body } = await pool.request({
      method: 'POST',
      path: `/v2/pigeonholes/${task.pigeonholeId}/registrants/bulk`,
      headers: { 'x-api-key': task.apiKey, 'content-type': 'application/json' },
      body: JSON.stringify({ data }),
    });
    await body.dump();
    if (statusCode !== 204) throw new Error(`the sandbox answers a bulk create with HTTP ${statusCode}`);
    requests += 1;
  }
  await pool.close();
  return requests;
}

const nothing = (): void => undefined;

async function openProduct(task: ImportTask): Promise<{ deps: Collaborators; close: () => Promise<void> }> {
  const file = join(task.folder, 'pigeonpost.yaml');
  writeFileSync(
    file,
    [
      `workspaces: { acme: { baseUrl: "${task.baseUrl}", apiKey: "\${BENCH_KEY}" } }`,
      'syncs: { events: { workspace: acme, pigeonholes: [101], sinks: [archive] } }',
      'sinks: { archive: { type: file, folder: ./archive } }',
      `store: ${task.databaseUrl}`,
    ].join('\n'),
  );
  const config = await loadProcessConfig(file, { BENCH_KEY: task.apiKey });
  const db = await openDatabase({ kind: 'postgres', url: task.databaseUrl });
  const ledger = await openLedger(db, givenKey(LedgerKey.generate()));
  const document = normalizedConfig(config, (secret) => ledger.hash.fingerprint(secret));
  const log = { debug: nothing, info: nothing, warn: nothing, error: nothing };
  const clients = openClients(config, { log });
  const deps: Collaborators = {
    ledger,
    config,
    configuration: await useConfiguration(ledger, document, true),
    clients,
    gate: new ServiceGate(ledger, log, forecastNeeds),
    sinks: new Map(),
    owner: 'bench',
    orchestration: noOrchestration,
    wakes: new Wakes(null, log),
    rounds: new RoundQueue(4),
    log,
    stopping: new AbortController().signal,
    meters: noMeters,
    tracer: noTracer,
    onPage: nothing,
    onCycle: nothing,
  };
  return {
    deps,
    async close() {
      for (const client of clients.values()) await client.close();
      await db.close();
    },
  };
}

/** Yields batches of a thousand rows, as reading a file does. */
function* batches(rows: number): Generator<StagedRow[]> {
  for (let from = 0; from < rows; from += 1000) {
    const count = Math.min(1000, rows - from);
    yield Array.from({ length: count }, (_, index) => ({ row: from + index + 2, profile: person(from + index) }));
  }
}

/** Stages every row, as the API does, then runs cycles, as the workflow does. */
async function importAll(deps: Collaborators, task: ImportTask): Promise<{ stagingSeconds: number; id: string }> {
  const startedAt = performance.now();
  const id = randomUUID();
  const pigeonholeNumber = await pigeonholeNumberOf(deps.ledger, 'acme', task.pigeonholeId);
  const about = { id, pigeonholeNumber, file: 'bench.csv', mapping: {}, requestedBy: null, canary: null };
  const number = await beginImport(deps.ledger, about);
  const rows = await stageAll(deps.ledger, number, batches(task.rows));
  await startImport(deps.ledger, number, rows);
  const stagingSeconds = (performance.now() - startedAt) / 1000;
  const never = new AbortController().signal;
  while ((await importRegistrants(deps, id, never)).state !== 'finished');
  return { stagingSeconds, id };
}

async function requestsOf(deps: Collaborators, task: ImportTask, id: string): Promise<number> {
  const { counts, requests } = (await readImport(deps.ledger, id))!;
  if (counts.created !== task.rows) throw new Error(`${counts.created} of ${task.rows} rows were created`);
  return requests;
}

async function run(task: ImportTask): Promise<ImportMeasurement> {
  if (task.contender === 'bare') {
    return await measured(async () => ({ requests: await postBare(task), stagingSeconds: 0 }));
  }
  const { deps, close } = await openProduct(task);
  const { id, ...measurement } = await measured(() => importAll(deps, task));
  const requests = await requestsOf(deps, task, id);
  await close();
  return { ...measurement, requests };
}

printMeasured('import bench', run(JSON.parse(process.argv[2] ?? '') as ImportTask));

/** Command-line settings of a contender. */
export interface ImportTask {
  readonly contender: 'bare' | 'product';
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly pigeonholeId: number;
  readonly rows: number;
  readonly chunkSize: number;
  /** Store of the product's ledger. */
  readonly databaseUrl: string;
  /** For the product's configuration. */
  readonly folder: string;
}

/** Result, printed after the word `measured`. */
export interface ImportMeasurement extends Measurement {
  /** Part of that time until all rows were staged and checked against earlier imports; 0 for the bare loop. */
  readonly stagingSeconds: number;
  readonly requests: number;
}
