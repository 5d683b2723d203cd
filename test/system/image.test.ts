import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { runSandbox } from '../../sandbox/start-sandbox.js';
import { binarySources, findBinary } from '../../worker/embedded-temporal/find-binary.js';
import { type EmbeddedTemporal, startEmbeddedTemporal } from '../../worker/embedded-temporal/embedded-temporal.js';
import { freeTestPort } from '../free-port.js';
import { readArchive } from '../kit/archive.js';
import { buildImage, isInContext } from '../kit/image.js';
import { type Program, startProgram, untilOutput, writeYaml } from '../kit/processes.js';
import { hasPostgres, startPostgres, type TestPostgres } from '../postgres.js';
import { until } from '../until.js';

/** No machine that tests run on has a container engine: the image's steps and its programs are run without one. */
const folder = mkdtempSync(join(tmpdir(), 'pigeonpost-image-'));
let app: string;
beforeAll(() => {
  app = buildImage(folder);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const token = 'a-token-of-at-least-24-characters-6Yq2';

describe('the context of a build', () => {
  it('contains no packages, history, secrets or data of a developer', () => {
    const kept = [
      '.env',
      '.env.local',
      'tools/.env',
      '.git/config',
      'node_modules/pg/package.json',
      'dist/cli/main.js',
    ];
    expect([...kept, 'data/postgres/PG_VERSION', 'pigeonpost.yaml', 'cli/help.test.ts'].filter(isInContext)).toEqual(
      [],
    );
    expect(
      ['vite.config.mjs', 'ledger/migrations/0001_the_ledger.sql', 'dashboard/index.html'].filter(isInContext),
    ).toHaveLength(3);
  });
});

describe('the image', () => {
  const run = (...args: string[]) =>
    spawnSync('node', ['dist/cli/main.js', ...args], {
      cwd: app,
      encoding: 'utf8',
      env: { PATH: process.env['PATH'] },
    });

  it('contains the files to run on this platform, and little else', () => {
    const files = (readdirSync(app, { recursive: true }) as string[]).filter((path) =>
      statSync(join(app, path)).isFile(),
    );
    expect(files.filter((path) => /\.(map|ts|cts|mts)$|^dist\/(bench|test)\/|@electric-sql/.test(path))).toEqual([]);
    expect(files.filter((path) => path.endsWith('.node'))).toHaveLength(1);
    const megabytes = files.reduce((sum, path) => sum + statSync(join(app, path)).size, 0) / 1e6;
    expect(megabytes).toBeLessThan(190);
  });

  it('reports what it lacks', async () => {
    writeYaml(folder, [
      `server: { port: ${await freeTestPort()} }`,
      'workspaces: { acme: { baseUrl: "http://127.0.0.1:9", apiKey: "${PATH}" } }',
      'syncs: { all: { workspace: acme, sinks: [archive] } }',
      'sinks: { archive: { type: file, folder: ./archive } }',
    ]);
    const started = run('--config', join(folder, 'pigeonpost.yaml'), 'start');
    expect([started.status, started.stderr]).toEqual([1, expect.stringMatching(/no embedded store: set DATABASE_URL/)]);
    expect(existsSync(join(folder, 'data'))).toBe(false);
    expect(run('demo')).toMatchObject({
      status: 2,
      stderr: expect.stringMatching(/does not include the demo: run "npm start"/),
    });
  });
});

(hasPostgres() ? describe : describe.skip)('an API and a worker of the image', () => {
  let postgres: TestPostgres;
  let temporal: EmbeddedTemporal;
  const programs: Program[] = [];
  const closers: (() => Promise<void>)[] = [];
  let file: string;
  let api: Program;
  let ports: { api: number; probes: number };
  const start = (...args: string[]): Program => {
    const program = startProgram(join(app, 'dist/cli/main.js'), ['--config', file, ...args], {
      cwd: folder,
      env: { NODE_ENV: 'production', KEY: 'sandbox-key', TOKEN: token, STORE: postgres.url },
    });
    programs.push(program);
    return program;
  };
  const ask = async (port: number, path: string): Promise<number> => {
    const headers = { authorization: `Bearer ${token}` };
    return (await fetch(`http://127.0.0.1:${port}${path}`, { headers }).catch(() => ({ status: 0 }))).status;
  };
  const check = (target: string) =>
    spawnSync('node', [join(app, 'dist/worker/healthcheck.js'), target], {
      encoding: 'utf8',
      env: { PATH: process.env['PATH'], TOKEN: token },
    });

  beforeAll(async () => {
    postgres = (await startPostgres())!;
    const binary = await findBinary(binarySources(), () => undefined);
    temporal = await startEmbeddedTemporal({ folder: mkdtempSync(join(folder, 'temporal-')), binary });
    const sandbox = await runSandbox({ seed: 5, attendees: 40, frozen: true });
    closers.push(() => sandbox.close());
    ports = { api: await freeTestPort(), probes: await freeTestPort() };
    file = writeYaml(
      folder,
      [
        `workspaces: { acme: { baseUrl: "${sandbox.baseUrl}", apiKey: "\${KEY}" } }`,
        'syncs: { all: { workspace: acme, sinks: [archive] } }',
        'sinks: { archive: { type: file, folder: ./archive } }',
        'store: ${STORE}',
        'storeConnections: 3',
        `temporal: { address: "${temporal.address}" }`,
        `server: { host: 0.0.0.0, port: ${ports.api}, token: "\${TOKEN}" }`,
      ],
      'servers.yaml',
    );
    api = start('api');
    await untilOutput(api, /ready: serving/);
    start('worker', '--listen', `127.0.0.1:${ports.probes}`);
    await until('the worker is ready', async () => (await ask(ports.probes, '/readyz')) === 200);
  });
  afterAll(async () => {
    for (const program of programs) program.kill('SIGKILL');
    await Promise.all(programs.map(({ exited }) => exited));
    for (const close of closers) await close();
    await temporal.stop();
    await postgres.stop();
  });

  it('read and deliver', async () => {
    await until(
      'items are archived',
      () => existsSync(join(folder, 'archive')) && readArchive(join(folder, 'archive')).length > 100,
    );
  });

  it('print an address that can be opened if they listen on all addresses', () => {
    expect(api.output()).toContain(`ready: serving http://127.0.0.1:${ports.api}, `);
  });

  it('open the number of connections in "storeConnections"', async () => {
    const client = new Client({ connectionString: postgres.url });
    await client.connect();
    // A pool replaces a connection that was idle before the server notices the end of the old one.
    await until('the API and the worker have three connections each at most', async () => {
      const { rows } = await client.query<{ n: number }>(
        `select count(*)::int as n from pg_stat_activity where application_name = 'pigeonpost'`,
      );
      return rows[0]!.n > 2 && rows[0]!.n <= 6;
    });
    await client.end();
  });

  it('are found by the image’s health check at the configured port and at that of --listen', () => {
    expect(check(file)).toMatchObject({ status: 0, stdout: `127.0.0.1:${ports.api}: ok\n` });
    expect(check(`127.0.0.1:${ports.probes}`)).toMatchObject({ status: 0 });
    expect(check('127.0.0.1:1')).toMatchObject({ status: 1, stdout: expect.stringMatching(/^no answer/) });
  });

  it('differ if Temporal is unreachable: the worker is not ready, the API is', async () => {
    await temporal.stop();
    await until('the worker says so', async () => (await ask(ports.probes, '/readyz')) === 503);
    expect([await ask(ports.api, '/readyz'), await ask(ports.api, '/api/status')]).toEqual([200, 200]);
    await postgres.kill();
    await until('the API says that its store is away', async () => (await ask(ports.api, '/readyz')) === 503);
    expect(await ask(ports.api, '/healthz')).toBe(200);
    await postgres.startAgain();
    await until('the API is ready again', async () => (await ask(ports.api, '/readyz')) === 200);
  });
});
