import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runSandbox, type Sandbox } from '../../sandbox/start-sandbox.js';
import { freeTestPort } from '../free-port.js';
import { apiHeaders } from '../kit/api-headers.js';
import { type Program, startProgram, untilOutput } from '../kit/processes.js';
import { until } from '../until.js';

let folder: string;
let sandbox: Sandbox;
const programs: Program[] = [];
const env = { SERVICE_KEY: 'sandbox-key' };

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'pigeonpost-bad-'));
  sandbox = await runSandbox({ attendees: 20, sessions: 2, questions: 3, frozen: true });
});
afterAll(async () => {
  for (const program of programs) program.kill('SIGTERM');
  await Promise.all(programs.map((program) => program.exited));
  await sandbox.close();
  rmSync(folder, { recursive: true });
});

/** A configuration of its own folder, so that tests do not share a store. */
function configuration(
  name: string,
  lines: Partial<Record<'baseUrl' | 'server' | 'sinks' | 'store' | 'temporal', string>> = {},
): string {
  const file = join(folder, `${name}.yaml`);
  writeFileSync(
    file,
    [
      `workspaces: { acme: { baseUrl: "${lines.baseUrl ?? sandbox.baseUrl}", apiKey: "\${SERVICE_KEY}" } }`,
      'syncs: { all: { workspace: acme, sinks: [archive] } }',
      `sinks: { archive: ${lines.sinks ?? `{ type: file, folder: "./${name}-archive" }`} }`,
      `store: "${lines.store ?? `embedded:./${name}-data`}"`,
      `temporal: ${lines.temporal ?? '{}'}`,
      `server: ${lines.server ?? '{ port: 0 }'}`,
    ].join('\n'),
  );
  return file;
}

function pigeonpost(args: readonly string[], environment: Readonly<Record<string, string>> = env): Program {
  const program = startProgram('cli/main.js', args, { cwd: folder, env: environment });
  programs.push(program);
  return program;
}

async function end(program: Program): Promise<{ code: number | null; said: string }> {
  const code = await program.exited;
  // Messages for people, without log lines.
  return {
    code,
    said: program
      .errors()
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('{'))
      .join('\n'),
  };
}

describe('pigeonpost with invalid input', () => {
  // cli/exit-codes.test.ts has the other mistakes in a command line or a configuration; this is the one that `check` finds.
  it('exits with 2 and reports line and key if check finds an unknown key', async () => {
    writeFileSync(join(folder, 'wrong.yaml'), 'workspace: {}');
    const { code, said } = await end(pigeonpost(['check', '--config', 'wrong.yaml']));
    expect(said).toMatch(/wrong\.yaml:1: workspace: unknown key, did you mean "workspaces"/);
    expect(code).toBe(2);
  });

  it('exits with 1 if check finds a refused key, without printing the key or a stack trace', async () => {
    const program = pigeonpost(['check', '--config', configuration('refused')], {
      SERVICE_KEY: 'a-key-that-is-refused',
    });
    expect((await end(program)).code).toBe(1);
    expect(program.output()).toMatch(/PROBLEM workspace acme: .*code 4501.*check the API key/);
    expect(program.output() + program.errors()).not.toContain('a-key-that-is-refused');
  });

  it('exits with 3 if check cannot reach the service', async () => {
    const file = configuration('unreachable', { baseUrl: `http://127.0.0.1:${await freeTestPort()}` });
    const program = pigeonpost(['check', '--config', file]);
    expect((await end(program)).code).toBe(3);
    expect(program.output()).toMatch(/PROBLEM workspace acme: .*ECONNREFUSED/);
  });

  it('exits with 0 if check finds no problem, and leaves nothing behind', async () => {
    const program = pigeonpost(['check', '--config', configuration('well')]);
    expect((await end(program)).code).toBe(0);
    expect(program.output()).not.toContain('PROBLEM');
    expect(readdirSync(folder)).not.toContain('well-data');
  });

  it('exits with 3 if start cannot reach the store or Temporal', async () => {
    const port = await freeTestPort();
    const store = configuration('no-store', {
      store: `postgres://u@127.0.0.1:${port}/x`,
      temporal: `{ address: "127.0.0.1:${port}" }`,
    });
    const temporal = configuration('no-temporal', { temporal: `{ address: "127.0.0.1:${port}" }` });
    const started = [store, temporal].map((file) => pigeonpost(['start', '--config', file]));
    const [withoutStore, withoutTemporal] = await Promise.all(started.map(end));
    expect(withoutStore).toMatchObject({ code: 3, said: expect.stringContaining(`127.0.0.1:${port}`) });
    expect(withoutTemporal).toMatchObject({
      code: 3,
      said: expect.stringMatching(/Temporal at .* cannot be used/),
    });
  });

  it('exits with 1 and a message if its port is in use, before it does anything else', async () => {
    const other = await listening();
    const { port } = other.address() as AddressInfo;
    const file = configuration('port', { server: `{ port: ${port} }` });
    expect(await end(pigeonpost(['start', '--config', file]))).toEqual({
      code: 1,
      said: `pigeonpost: cannot listen on 127.0.0.1:${port}: another process, perhaps pigeonpost itself, already listens there: stop it, or choose another server.port`,
    });
    other.close();
  });

  it('exits with 2 if a worker has no shared store and Temporal', async () => {
    const { code, said } = await end(pigeonpost(['worker', '--config', configuration('worker')]));
    expect(said).toMatch(/set store to a PostgreSQL URL and set temporal\.address/);
    expect(code).toBe(2);
  });

  it('exits with 3 and says that nothing is running if status finds no process', async () => {
    const file = configuration('nothing-runs', { server: `{ port: ${await freeTestPort()} }` });
    const { code, said } = await end(pigeonpost(['status', '--config', file]));
    expect(said).toMatch(/no pigeonpost answers at http:\/\/127\.0\.0\.1:\d+: start it/);
    expect(code).toBe(3);
  });
});

describe('pigeonpost start', () => {
  it('keeps running with a refused key, reports it, and reads when the service accepts the key', async () => {
    const port = await freeTestPort();
    const file = configuration('wrong-key', { server: `{ port: ${port} }` });
    const wrong = pigeonpost(['start', '--config', file], { SERVICE_KEY: 'a-key-that-is-refused' });
    await until('the log says that the workspace waits', () => /workspace waits: credential/.test(wrong.errors()));
    expect(wrong.output()).not.toContain('ready');
    const status = pigeonpost(['status', '--config', file]);
    expect((await end(status)).code).toBe(0);
    expect(status.output()).toMatch(/^PROBLEM {2}The service refuses the key of workspace acme: .*code 4501/m);
    wrong.kill('SIGTERM');
    expect(await wrong.exited).toBe(0);

    const right = pigeonpost(['start', '--config', file]);
    await untilOutput(right, /ready/);
    right.kill('SIGTERM');
    expect(await right.exited).toBe(0);
    expect(wrong.errors()).not.toContain('a-key-that-is-refused');
  });

  it('keeps running without the service, and is ready when the service answers', async () => {
    const port = await freeTestPort();
    const program = pigeonpost([
      'start',
      '--config',
      configuration('no-service', { baseUrl: `http://127.0.0.1:${port}` }),
    ]);
    await until('the log says that the service does not answer', () =>
      /The service has not answered workspace \w+ since/.test(program.errors()),
    );
    expect(program.output()).not.toContain('ready');
    const late = await runSandbox({ port, attendees: 5, sessions: 1, questions: 1, frozen: true });
    await untilOutput(program, /ready/);
    program.kill('SIGTERM');
    expect(await program.exited).toBe(0);
    await late.close();
  });

  it('refuses a store that another process uses, and the other process continues', async () => {
    const file = configuration('locked');
    const first = pigeonpost(['start', '--config', file]);
    await untilOutput(first, /ready/);
    const { code, said } = await end(pigeonpost(['start', '--config', file]));
    expect(said).toMatch(/locked-data is in use by process \d+/);
    expect(code).toBe(1);
    first.kill('SIGINT');
    expect(await first.exited).toBe(0);
  });

  it('pauses a sink with a wrong destination, keeps its changes, and delivers them after it is resumed', async () => {
    const port = await freeTestPort();
    const file = configuration('paused', {
      sinks: '{ type: file, folder: "./not-a-folder/archive" }',
      server: `{ port: ${port} }`,
    });
    writeFileSync(join(folder, 'not-a-folder'), 'in the way');
    const program = pigeonpost(['start', '--config', file]);
    await untilOutput(program, /ready/);
    await until('the log says that the sink is paused', () => /sink paused/.test(program.errors()));
    rmSync(join(folder, 'not-a-folder'));
    expect((await end(pigeonpost(['resume', 'sink:nonsense', '--config', file]))).code).toBe(4);
    expect((await end(pigeonpost(['resume', 'sink:archive', '--config', file]))).code).toBe(0);
    await untilSettled(port, 'paused-data');
    program.kill('SIGTERM');
    expect(await program.exited).toBe(0);
  });
});

async function untilSettled(port: number, store: string): Promise<void> {
  const settled = async (): Promise<boolean> => {
    const answer = await fetch(`http://127.0.0.1:${port}/api/status`, { headers: apiHeaders(folder, { store }) });
    return ((await answer.json()) as { settled: boolean }).settled;
  };
  await until('everything is delivered', settled);
}

async function listening(): Promise<Server> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}
