import { randomUUID } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openDatabase } from '../../ledger/drivers/open-database.js';
import { type Ledger, openLedger } from '../../ledger/ledger.js';
import { testKey, testKeyText } from '../../ledger/ledger-key.test-kit.js';
import { beginImport, startImport } from '../../ledger/imports/imports.js';
import { stageRows } from '../../importing/staging.js';
import { importReport } from '../../importing/import-report.js';
import { type ImportProgress, readImport } from '../../importing/read-import.js';
import { pigeonholeNumberOf } from '../../ledger/pigeonholes.js';
import { binarySources, findBinary } from '../../worker/embedded-temporal/find-binary.js';
import { startEmbeddedTemporal } from '../../worker/embedded-temporal/embedded-temporal.js';
import { freeTestPort } from '../free-port.js';
import { control } from '../chaos/control.js';
import { Supervised } from '../chaos/supervised.js';
import { killNow, processesNaming, writeYaml } from '../kit/processes.js';
import { startPostgres } from '../postgres.js';
import { until } from '../until.js';

export interface ProofOptions {
  readonly rows: number;
  /** Every n-th row is invalid, so the service refuses it; 0: none. */
  readonly badEvery: number;
  /** Additional settings of the sandbox. */
  readonly knobs: Readonly<Record<string, unknown>>;
  readonly faults: readonly object[];
  /**
   * `limit` requests per `windowSeconds`. After it was used up `times` times, the quota is lifted; null: never. Null:
   * no quota.
   */
  readonly quota: { readonly limit: number; readonly windowSeconds: number; readonly times: number | null } | null;
  /** Kills in this order, evenly spread over the import. */
  readonly kills: readonly ('worker' | 'temporal')[];
  readonly latencyMs: number;
  readonly timeoutMs: number;
}

export interface Proof {
  readonly seconds: number;
  readonly requests: number;
  /** Number of waits for the quota. */
  readonly quotaWaits: number;
  readonly kills: number;
  readonly counts: Readonly<Record<string, number>>;
  /** Violations found, one sentence each. */
  readonly wrong: readonly string[];
}

const isBad = (index: number, every: number): boolean => every > 0 && index % every === every - 1;
const codeOf = (index: number): string => `GUEST-${String(index).padStart(6, '0')}`;

/**
 * Runs one import by real processes, with their own PostgreSQL and Temporal and a failing service, while processes are
 * killed. Then compares its report with the registrants of the service, row by row.
 */
export async function proveImport(options: ProofOptions, say: (line: string) => void): Promise<Proof> {
  const folder = mkdtempSync(join(tmpdir(), 'pigeonpost-import-'));
  const closers: (() => Promise<unknown>)[] = [];
  try {
    return await prove(options, folder, closers, say);
  } finally {
    for (const close of closers.toReversed()) await close();
    for (const pid of processesNaming(folder)) say(`a process is still running: ${pid}`);
    rmSync(folder, { recursive: true, force: true });
  }
}

async function prove(
  options: ProofOptions,
  folder: string,
  closers: (() => Promise<unknown>)[],
  say: (line: string) => void,
): Promise<Proof> {
  const { rows, knobs, faults, quota, latencyMs } = options;
  const postgres = await startPostgres();
  if (postgres === null) throw new Error('PostgreSQL is not installed: this proof runs on it');
  closers.push(() => postgres.stop());
  mkdirSync(join(folder, 'temporal'));
  const binary = await findBinary(binarySources(), say);
  const temporal = await startEmbeddedTemporal({ folder: join(folder, 'temporal'), binary });
  closers.push(() => temporal.stop());
  const start = (name: string, program: string, args: readonly string[], ready: RegExp, env = {}): Supervised => {
    const supervised = new Supervised({ program, args, env, cwd: folder, logFile: join(folder, `${name}.log`), ready });
    closers.push(() => supervised.stop());
    return supervised;
  };
  const flags = ['--frozen', '--attendees', '0', '--sessions', '0', '--pigeonholes', '1'];
  const sandbox = start('sandbox', 'sandbox/main', flags, /ready on (http:\S+)/);
  const baseUrl = (await sandbox.untilReady())[1]!;

  const db = await openDatabase({ kind: 'postgres', url: postgres.url });
  closers.push(() => db.close());
  const ledger = await openLedger(db, testKey);
  const id = await stageAll(ledger, options);
  await control(baseUrl, 'PATCH', 'knobs', { ...knobs, latencyMs });
  for (const fault of faults) await control(baseUrl, 'POST', 'faults', fault);
  writeYaml(folder, [
    `workspaces: { acme: { baseUrl: "${baseUrl}", apiKey: "\${SERVICE_KEY}" } }`,
    'syncs: { all: { workspace: acme, pigeonholes: [101], every: { live: 1h, lists: { pigeonholes: 1h } }, sinks: [archive] } }',
    'sinks: { archive: { type: file, folder: ./archive, lists: [sessions] } }',
    `server: { port: ${await freeTestPort()} }`,
    'network: { proxy: none }',
    'store: "${DATABASE_URL}"',
    `temporal: { address: "${temporal.address}" }`,
  ]);
  const env = {
    ...environment(),
    SERVICE_KEY: 'sandbox-key',
    DATABASE_URL: postgres.url,
    LEDGER_KEY: testKeyText,
    TEMPORAL_ADDRESS: '',
  };
  const startedAt = performance.now();
  const product = start('start', 'cli/main', ['start'], /^ready/m, env);
  await product.untilReady();
  const limits =
    quota === null
      ? null
      : { limit: quota.limit, windowSeconds: quota.windowSeconds, headers: true, retryAfter: false };
  await control(baseUrl, 'PATCH', 'knobs', { quota: limits });
  const liftQuota = async (): Promise<void> => void (await control(baseUrl, 'PATCH', 'knobs', { quota: null }));
  const watched = await killOnTheWay(options, { ledger, id, product, temporalPid: () => temporal.pid, liftQuota }, say);
  const seconds = (performance.now() - startedAt) / 1000;
  await control(baseUrl, 'PATCH', 'knobs', { quota: null, latencyMs: 0 });
  const progress = (await readImport(ledger, id))!;
  const wrong = await compare(ledger, progress, baseUrl, options);
  if (quota !== null && watched.quotaWaits < 3 && rows >= 10_000) wrong.push('the quota did not run out three times');
  const counts = Object.fromEntries(Object.entries(progress.counts).filter(([, count]) => count > 0));
  return { seconds, requests: progress.requests, ...watched, counts, wrong };
}

async function stageAll(ledger: Ledger, { rows, badEvery }: ProofOptions): Promise<string> {
  const id = randomUUID();
  const pigeonholeNumber = await pigeonholeNumberOf(ledger, 'acme', 101);
  const number = await beginImport(ledger, {
    id,
    pigeonholeNumber,
    file: 'guests.csv',
    mapping: {},
    requestedBy: null,
    canary: null,
  });
  for (let from = 0; from < rows; from += 1000) {
    const batch = Array.from({ length: Math.min(1000, rows - from) }, (_, offset) => {
      const index = from + offset;
      const Name = isBad(index, badEvery) ? 'x'.repeat(300) : `Guest ${index}`;
      return { row: index + 2, profile: { attendeeCode: codeOf(index), Name, Email: `guest${index}@example.com` } };
    });
    await stageRows(ledger, number, batch);
  }
  await startImport(ledger, number, rows);
  return id;
}

/** Watches the import until it ends, and kills each process when its share of the rows is settled. */
async function killOnTheWay(
  { rows, kills, quota, timeoutMs }: ProofOptions,
  running: {
    ledger: Ledger;
    id: string;
    product: Supervised;
    temporalPid: () => number | undefined;
    liftQuota: () => Promise<void>;
  },
  say: (line: string) => void,
): Promise<{ quotaWaits: number; kills: number }> {
  let done = 0;
  let quotaWaits = 0;
  let waited = false;
  await until(
    'the import has ended',
    async () => {
      const progress = (await readImport(running.ledger, running.id))!;
      const waits = progress.waitReason === 'quota';
      if (waits && !waited) {
        quotaWaits += 1;
        if (quotaWaits === quota?.times) await running.liftQuota();
      }
      waited = waits;
      const settled = rows - progress.counts.waiting;
      if (done < kills.length && settled >= ((done + 0.5) / kills.length) * rows * 0.9) {
        const victim = kills[done]!;
        say(`${settled} of ${rows} rows settled, ${progress.requests} requests: kill -9 ${victim}`);
        if (victim === 'worker') running.product.kill(300);
        else killNow(running.temporalPid());
        done += 1;
      }
      return progress.endedAt !== null;
    },
    timeoutMs,
  );
  return { quotaWaits, kills: done };
}

/** Checks that every valid registrant exists once, no other exists, and the report of each row is correct. */
async function compare(
  ledger: Ledger,
  { number, counts }: ImportProgress,
  baseUrl: string,
  { rows, badEvery }: ProofOptions,
): Promise<string[]> {
  const wrong: string[] = [];
  const text = await (await fetch(`${baseUrl}/_control/truth/registrants?pigeonhole=101`)).text();
  const codes = text
    .split('\n')
    .filter(Boolean)
    .map((line) => (JSON.parse(line) as { attendeeCode: string }).attendeeCode);
  const there = new Set(codes);
  if (there.size !== codes.length) wrong.push(`${codes.length - there.size} registrants exist twice`);
  const good = Array.from({ length: rows }, (_, index) => index).filter((index) => !isBad(index, badEvery));
  const missing = good.filter((index) => !there.has(codeOf(index))).length;
  if (missing > 0) wrong.push(`${missing} registrants are missing`);
  if (there.size > good.length) wrong.push(`${there.size - good.length} registrants should not exist`);
  let told = 0;
  let lies = 0;
  for await (const page of importReport(ledger, number)) {
    for (const { row, outcome, requestId } of page) {
      told += 1;
      const bad = isBad(row - 2, badEvery);
      const isTrue = bad
        ? outcome === 'rejected' && requestId !== null
        : outcome === 'created' || outcome === 'confirmed';
      if (!isTrue) lies += 1;
    }
  }
  if (told !== rows) wrong.push(`the report has ${told} rows instead of ${rows}`);
  if (lies > 0) wrong.push(`${lies} rows of the report are wrong`);
  const sum = counts.created + counts.confirmed;
  if (sum !== good.length) wrong.push(`${sum} rows count as created, ${good.length} were`);
  return wrong;
}

function environment(): Record<string, string> {
  const defined = Object.entries(process.env).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return Object.fromEntries(defined);
}
