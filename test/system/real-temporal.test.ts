import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  builtTemporalPrograms,
  startTemporalServer,
  type TemporalServer,
} from '../../bench/processes/temporal-server.js';
import { type Sandbox, runSandbox } from '../../sandbox/start-sandbox.js';
import { binarySources } from '../../worker/embedded-temporal/find-binary.js';
import { freeTestPort } from '../free-port.js';
import { readArchive } from '../kit/archive.js';
import { killNow, type Program, startProgram, writeYaml } from '../kit/processes.js';
import { hasPostgres, startPostgres, type TestPostgres } from '../postgres.js';
import { until } from '../until.js';

/** Whether the server is in the cache. Building it may take minutes, so `npm run temporal-server` does that, and no test. */
function hasTemporalServer(): boolean {
  if (builtTemporalPrograms(binarySources()) !== undefined) return true;
  process.stderr.write(
    "Temporal's server is not built (npm run temporal-server): the tests that run on it are left out\n",
  );
  return false;
}

const live = [101, 105];

(hasPostgres() && hasTemporalServer() ? describe : describe.skip)("Temporal's server on PostgreSQL", () => {
  const folder = mkdtempSync(join(tmpdir(), 'pigeonpost-real-temporal-'));
  const archive = join(folder, 'archive');
  const programs: Program[] = [];
  let postgres: TestPostgres;
  let temporal: TemporalServer;
  let sandbox: Sandbox;

  beforeAll(async () => {
    postgres = (await startPostgres({ settings: ['max_connections=100'] }))!;
    temporal = await startTemporalServer({
      programs: builtTemporalPrograms(binarySources())!,
      folder: join(folder, 'temporal'),
      postgres: { port: Number(new URL(postgres.url).port), user: 'app' },
      shards: 4,
      nextPort: freeTestPort,
    });
    sandbox = await runSandbox({ seed: 3, attendees: 50, pigeonholes: 5, sessions: 1, frozen: true });
    writeYaml(folder, [
      `workspaces: { acme: { baseUrl: "${sandbox.baseUrl}", apiKey: "\${KEY}" } }`,
      `syncs: { all: { workspace: acme, pigeonholes: [${live.join(', ')}], every: { live: 1s }, sinks: [archive] } }`,
      'sinks: { archive: { type: file, folder: ./archive, lists: [qna-questions], consent: { accept: [obtained, refused, not-asked, not-known] } } }',
      'store: ${STORE}',
      `temporal: { address: "${temporal.address}", namespace: ${temporal.namespace} }`,
    ]);
  });
  afterAll(async () => {
    for (const { pid } of programs) killNow(pid);
    await Promise.all(programs.map(({ exited }) => exited));
    await sandbox?.close();
    await temporal?.stop();
    await postgres?.stop();
    rmSync(folder, { recursive: true });
  });

  const startWorker = async (): Promise<Program> => {
    const probes = `127.0.0.1:${await freeTestPort()}`;
    const worker = startProgram('cli/main.js', ['worker', '--listen', probes], {
      cwd: folder,
      env: { KEY: 'sandbox-key', STORE: postgres.url },
    });
    programs.push(worker);
    await until('a worker is ready', async () => {
      if (worker.hasEnded()) throw new Error(`it ended:\n${worker.output()}\n${worker.errors()}`);
      return (await fetch(`http://${probes}/readyz`).catch(() => ({ ok: false }))).ok;
    });
    return worker;
  };
  const ask = async (pigeonhole: number): Promise<string> => {
    const answer = await fetch(`${sandbox.baseUrl}/_control/mutations`, {
      method: 'POST',
      body: JSON.stringify({ op: 'insert', list: 'qna-questions', pigeonhole }),
    });
    const { results } = (await answer.json()) as { results: { id: number }[] };
    return String(results[0]!.id);
  };
  const linesOf = (key: string): number =>
    readArchive(archive).filter((change) => change.list === 'qna-questions' && change.key === key).length;
  const untilArchived = async (keys: readonly string[]): Promise<void> => {
    await until('the questions are archived', () => keys.every((key) => linesOf(key) > 0));
  };
  const asked: string[] = [];
  const askEverywhere = async (): Promise<string[]> => {
    const keys = await Promise.all(live.map(ask));
    asked.push(...keys);
    return keys;
  };

  it('lets two workers read and deliver', async () => {
    await startWorker();
    await startWorker();
    await untilArchived(await askEverywhere());
  });

  it('lets one worker continue alone when the other is killed', async () => {
    killNow(programs[0]!.pid);
    await programs[0]!.exited;
    await untilArchived(await askEverywhere());
  });

  it('delivers what was asked while it was away, after it was killed', async () => {
    await temporal.kill();
    const keys = await askEverywhere();
    await temporal.startAgain();
    await untilArchived(keys);
  });

  it('has led to one delivery of each question', () => {
    expect(asked.map(linesOf)).toEqual(asked.map(() => 1));
  });
});

(hasPostgres() && hasTemporalServer() ? describe : describe.skip)('the benchmark scale', () => {
  it('measures what a poll costs', () => {
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      [join(__dirname, '../../dist/bench/main.js'), 'scale', '--quick'],
      { encoding: 'utf8' },
    );
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    const figures = [...stdout.matchAll(/^\| scale \| (.+?) +\| +([\d.,-]+)/gm)].map(([, what]) => what);
    for (const what of [
      'CPU of workers per quiet poll',
      'CPU of Temporal per quiet poll',
      "CPU of pigeonpost's PostgreSQL per quiet poll",
      'statements per quiet poll',
      'WAL per quiet poll',
      "Temporal's history events per quiet poll",
      '4 live pigeonholes: new question → stored, p50, in intervals',
    ]) {
      expect(figures).toContain(what);
    }
  });
});
