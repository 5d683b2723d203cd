import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Database } from '../../ledger/drivers/database.js';
import { openEmbedded } from '../../ledger/drivers/embedded.js';
import { openPostgres } from '../../ledger/drivers/postgres.js';
import { testKeyText } from '../../ledger/ledger-key.test-kit.js';
import { runSandbox, type Sandbox } from '../../sandbox/start-sandbox.js';
import { startEmbeddedTemporal } from '../../worker/embedded-temporal/embedded-temporal.js';
import { freeTestPort } from '../free-port.js';
import { ageDeliveries } from '../kit/age-deliveries.js';
import { apiHeaders } from '../kit/api-headers.js';
import { editArchive, readArchive } from '../kit/archive.js';
import { type Program, processesNaming, startProgram, untilOutput, writeYaml } from '../kit/processes.js';
import { endAll } from '../kit/promises.js';
import { hasPostgres, startPostgres } from '../postgres.js';
import { temporalForTests } from '../temporal.js';
import { until } from '../until.js';

/** Tests an audit and a repair by the command line, with one process for everything, and with an API process apart from a worker. */
const onServers = hasPostgres() ? it : it.skip;
let sandbox: Sandbox;
let folder: string;
let archive: string;
let port: number;
let env: Readonly<Record<string, string>>;
/** End what a test has started, last first. */
let ends: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  sandbox = await runSandbox({
    seed: 9,
    frozen: true,
    attendees: 20,
    sessions: 2,
    questions: 6,
    votes: 6,
    responses: 2,
  });
});
afterAll(async () => await sandbox.close());
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'pigeonpost-audit-'));
  archive = join(folder, 'archive');
  port = await freeTestPort();
  env = { SERVICE_KEY: 'sandbox-key' };
});
afterEach(async () => {
  for (const end of ends) await end();
  ends = [];
  expect(processesNaming(folder)).toEqual([]);
  rmSync(folder, { recursive: true });
});

function configure(...more: readonly string[]): void {
  writeYaml(folder, [
    `workspaces: { acme: { baseUrl: "${sandbox.baseUrl}", apiKey: "\${SERVICE_KEY}" } }`,
    'syncs: { all: { workspace: acme, sinks: [archive] } }',
    'sinks: { archive: { type: file, folder: ./archive } }',
    `server: { port: ${port} }`,
    ...more,
  ]);
}

async function start(command: string): Promise<Program> {
  const program = startProgram('cli/main.js', [command], { cwd: folder, env });
  ends.unshift(async () => await endAll([program]));
  await untilOutput(program, /ready/);
  return program;
}

async function untilSettled(): Promise<void> {
  await until('everything is read and delivered', async () => {
    const answer = await fetch(`http://127.0.0.1:${port}/api/status`, { headers: apiHeaders(folder) });
    return ((await answer.json()) as { readonly settled: boolean }).settled;
  });
}

async function age(opened: Promise<Database>): Promise<void> {
  const db = await opened;
  await ageDeliveries(db);
  await db.close();
}

async function run(...args: string[]): Promise<{ readonly code: number | null; readonly out: string }> {
  const program = startProgram('cli/main.js', args, { cwd: folder, env });
  return { code: await program.exited, out: `${program.output()}${program.errors()}` };
}

/** Plants a lost and an edited line, which an audit must find and a repair correct. */
async function expectRepaired(): Promise<void> {
  const [lost, edited] = readArchive(archive).filter(({ list }) => list === 'attendees');
  editArchive(archive, (line, { id }) => {
    if (id === lost!.id) return [];
    return id === edited!.id ? [line.replace(/"Name":"[^"]*"/, '"Name":"Edited"')] : [line];
  });
  const audited = await run('audit', 'archive');
  expect(audited).toEqual({ code: 5, out: expect.stringMatching(`attendees:${lost!.key} +missing`) as string });
  expect(audited.out).toMatch(new RegExp(`attendees:${edited!.key} +changed there +data\\.Name`));
  const repaired = await run('audit', 'archive', '--repair', '--yes');
  expect(repaired).toEqual({ code: 0, out: expect.stringContaining('send 2 items again') as string });
  const sent = readArchive(archive).filter((each) => 'replay' in each);
  expect(sent.map(({ key }) => key).toSorted()).toEqual([lost!.key, edited!.key].toSorted());
}

describe('an audit', () => {
  it('finds and repairs differences with one process and the embedded store', async () => {
    configure();
    const first = await start('start');
    await untilSettled();
    await endAll([first]);
    await age(openEmbedded({ folder: join(folder, 'data') }));
    await start('start');
    await expectRepaired();
  });

  onServers('finds and repairs differences with an API process and a worker', async () => {
    const postgres = (await startPostgres())!;
    ends.unshift(() => postgres.stop());
    const temporal = await startEmbeddedTemporal({ folder, binary: temporalForTests().binary });
    ends.unshift(() => temporal.stop());
    configure('store: "${DATABASE_URL}"', `temporal: { address: "${temporal.address}" }`);
    env = { ...env, DATABASE_URL: postgres.url, LEDGER_KEY: testKeyText };
    await start('api');
    await start('worker');
    await untilSettled();
    await age(openPostgres({ url: postgres.url }));
    await expectRepaired();
  });
});
