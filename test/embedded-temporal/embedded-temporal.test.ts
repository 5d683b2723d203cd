import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Connection } from '@temporalio/client';
import { type EmbeddedTemporal, startEmbeddedTemporal } from '../../worker/embedded-temporal/embedded-temporal.js';
import { isProcessAlive } from '../is-process-alive.js';
import { temporalForTests } from '../temporal.js';
import { until } from '../until.js';

const { binary } = temporalForTests();
const built = join(__dirname, '../../dist/worker/embedded-temporal/embedded-temporal.js');

let folder: string;
let server: EmbeddedTemporal | undefined;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'embedded-temporal-'));
});
afterEach(async () => {
  await server?.stop();
  server = undefined;
  rmSync(folder, { recursive: true });
});

describe('an embedded Temporal server', () => {
  it('answers after its start and has its namespace', async () => {
    server = await startEmbeddedTemporal({ folder, binary, namespace: 'events' });
    expect(server.namespace).toBe('events');
    expect(await hasNamespace(server)).toBe(true);
  });

  it('keeps its state across stop and start', async () => {
    server = await startEmbeddedTemporal({ folder, binary });
    await startWorkflow(server, 'kept');
    await server.stop();
    server = await startEmbeddedTemporal({ folder, binary });
    expect(await isRunning(server, 'kept')).toBe(true);
  });

  it('stops, and a second stop does nothing', async () => {
    server = await startEmbeddedTemporal({ folder, binary });
    const { pid = 0 } = server;
    await Promise.all([server.stop(), server.stop()]);
    expect(isProcessAlive(pid)).toBe(false);
  });

  it('is restarted at the same address after a kill, with all acknowledged data', async () => {
    const reasons: string[] = [];
    server = await startEmbeddedTemporal({ folder, binary, onRestart: (reason) => reasons.push(reason) });
    const { address, pid = 0 } = server;
    await startWorkflow(server, 'kept');

    process.kill(pid, 'SIGKILL');
    await until('another one runs', () => server?.pid !== pid);
    await until('it serves', () => hasNamespace(server as EmbeddedTemporal).catch(() => false));

    expect(server.address).toBe(address);
    expect(reasons).toEqual(['signal SIGKILL']);
    expect(await isRunning(server, 'kept')).toBe(true);
  });

  it('is given up if it cannot be restarted, and its owner is notified', async () => {
    const program = join(folder, 'server');
    writeFileSync(program, `#!/bin/sh\n[ -e ${join(folder, 'broken')} ] && exit 9\nexec ${binary} "$@"\n`, {
      mode: 0o755,
    });
    const restarts: string[] = [];
    let fatal: Error | undefined;
    server = await startEmbeddedTemporal({
      folder,
      binary: program,
      onRestart: (reason) => restarts.push(reason),
      onFatal: (error) => (fatal = error),
    });
    writeFileSync(join(folder, 'broken'), '');
    process.kill(server.pid ?? 0, 'SIGKILL');

    await until('it is given up', () => fatal !== undefined);
    expect(restarts).toHaveLength(5);
    expect(fatal?.message).toContain(join(folder, 'temporal.log'));
  });

  it('fails with the path of its log if its port is in use', async () => {
    const other = createServer((socket) => socket.destroy());
    const port = await new Promise<number>((resolve) => {
      other.listen(0, '127.0.0.1', () => resolve((other.address() as { port: number }).port));
    });
    const start = startEmbeddedTemporal({ folder, binary, port });
    await expect(start).rejects.toThrow(/ended at its start \(exit code 1\): see .*temporal\.log/);
    other.close();
  });

  it('ends with the process that started it, even if that is killed', async () => {
    const { process: owner, pid } = await startOwner();
    owner.kill('SIGKILL');
    await until('the server is gone', () => !isProcessAlive(pid));
  });

  it('replaces a server that an earlier process left running on its file', async () => {
    const database = join(folder, 'temporal.sqlite');
    const stale = spawn('/bin/sh', ['-c', `sleep 60; : --db-filename=${database}`], { stdio: 'ignore' });
    writeFileSync(join(folder, 'temporal.pid'), `${stale.pid}\n`);
    server = await startEmbeddedTemporal({ folder, binary });
    expect(isProcessAlive(stale.pid ?? 0)).toBe(false);
  });

  it('does not end a process that only has the pid of an earlier server', async () => {
    const stranger = spawn('/bin/sleep', ['60'], { stdio: 'ignore' });
    writeFileSync(join(folder, 'temporal.pid'), `${stranger.pid}\n`);
    server = await startEmbeddedTemporal({ folder, binary });
    expect(isProcessAlive(stranger.pid ?? 0)).toBe(true);
    stranger.kill();
  });

  describe('with an open page in a browser on the same machine', () => {
    it('does nothing for a simple request that the page sends, whatever its host name', async () => {
      server = await startEmbeddedTemporal({ folder, binary });
      await startWorkflow(server, 'kept');
      const { httpPort } = portsOf(server);
      const asked = ['127.0.0.1', 'localhost', 'rebound.example', '[::1]', ''].flatMap((host) =>
        [
          ['POST', `/api/v1/namespaces/${namespace}/workflows/kept/terminate`],
          ['POST', `/api/v1/namespaces/${namespace}/workflows/kept/signal/any`],
          ['GET', `/api/v1/namespaces/${namespace}/workflows`],
          ['GET', `/api/v1/namespaces`],
        ].map(([method = '', path = '']) => sendAsPage(httpPort, { method, path, host: `${host}:${httpPort}` })),
      );

      expect(new Set(await Promise.all(asked))).toEqual(new Set([403]));
      expect(await isRunning(server, 'kept')).toBe(true);
    });

    it('serves every port that answers HTTP at one to which browsers send nothing', async () => {
      server = await startEmbeddedTemporal({ folder, binary });
      const { httpPort, metricsPort } = portsOf(server);
      const listening = listeningPorts(server.pid ?? 0);
      expect(listening).toEqual(expect.arrayContaining([httpPort, metricsPort]));
      for (const port of listening) {
        // Node's fetch follows the same standard as browsers. The other ports speak gRPC, which ends such a request.
        const answer = await fetch(`http://127.0.0.1:${port}/metrics`).catch(({ cause }: Error) => cause as Error);
        expect(answer).not.toBeInstanceOf(Response);
        if (port === httpPort || port === metricsPort) expect(answer).toMatchObject({ message: 'bad port' });
      }
    });
  });

  it('keeps its files from other users of the machine', async () => {
    server = await startEmbeddedTemporal({ folder: join(folder, 'store'), binary });
    const files = readdirSync(join(folder, 'store')).filter((name) => name !== 'temporal.pid');
    expect(files).toEqual(expect.arrayContaining(['temporal.log', 'temporal.sqlite', 'temporal.sqlite-wal']));
    for (const file of files) expect(statSync(join(folder, 'store', file)).mode & 0o777).toBe(0o600);
    expect(statSync(join(folder, 'store')).mode & 0o777).toBe(0o700);
  });

  it('keeps the file settings that survive kills, and receives no variables of our environment', async () => {
    server = await startEmbeddedTemporal({ folder, binary });
    if (process.platform !== 'linux') return;
    expect(readFileSync(`/proc/${server.pid}/cmdline`, 'utf8')).toContain(
      'journal_mode=wal\0--sqlite-pragma=synchronous=1',
    );
    expect(readFileSync(`/proc/${server.pid}/environ`, 'utf8')).toMatch(/^HOME=[^\0]*\0$/);
  });
});

const namespace = 'default';

/** Reads the ports of a server from its command line. */
function portsOf({ pid }: EmbeddedTemporal): { readonly httpPort: number; readonly metricsPort: number } {
  const command = execFileSync('ps', ['-o', 'args=', '-p', String(pid)], { encoding: 'utf8' });
  const port = (flag: string): number => Number(new RegExp(`--${flag}=(\\d+)`).exec(command)?.[1]);
  return { httpPort: port('http-port'), metricsPort: port('metrics-port') };
}

/** Returns the ports of loopback at which a process listens; on other systems than Linux, those of its command line. */
function listeningPorts(pid: number): number[] {
  if (process.platform !== 'linux') return Object.values(portsOf({ pid } as EmbeddedTemporal));
  const sockets = new Set(
    readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
      try {
        return /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${pid}/fd/${fd}`))?.[1] ?? [];
      } catch {
        return []; // closed meanwhile
      }
    }),
  );
  const lines = readFileSync(`/proc/${pid}/net/tcp`, 'utf8').split('\n').slice(1);
  return lines.flatMap((line) => {
    const [, local = '', , state, , , , , , inode = ''] = line.trim().split(/\s+/);
    return state === '0A' && sockets.has(inode) ? [Number.parseInt(local.split(':')[1] ?? '', 16)] : [];
  });
}

/** Sends what a browser sends for a form or a simple `fetch` of a foreign page: no preflight asks for permission. */
function sendAsPage(
  port: number,
  { method, path, host }: { readonly method: string; readonly path: string; readonly host: string },
): Promise<number | undefined> {
  const headers = { host, origin: 'http://page.example', 'content-type': 'text/plain', 'sec-fetch-site': 'cross-site' };
  return new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port, method, path, headers }, (answer) => {
      answer.resume().once('end', () => resolve(answer.statusCode));
    });
    sent.once('error', reject).end(method === 'POST' ? '{"reason":"a page"}' : undefined);
  });
}

async function withConnection<T>(
  { address }: EmbeddedTemporal,
  use: (connection: Connection) => Promise<T>,
): Promise<T> {
  const connection = await Connection.connect({ address });
  try {
    return await use(connection);
  } finally {
    await connection.close();
  }
}

function hasNamespace(of: EmbeddedTemporal): Promise<boolean> {
  return withConnection(of, async ({ workflowService }) => {
    const { namespaceInfo } = await workflowService.describeNamespace({ namespace: of.namespace });
    return namespaceInfo?.name === of.namespace;
  });
}

async function startWorkflow(on: EmbeddedTemporal, workflowId: string): Promise<void> {
  await withConnection(on, ({ workflowService }) =>
    workflowService.startWorkflowExecution({
      namespace: on.namespace,
      workflowId,
      requestId: workflowId,
      workflowType: { name: 'nobodyRunsIt' },
      taskQueue: { name: 'nobody' },
    }),
  );
}

function isRunning(on: EmbeddedTemporal, workflowId: string): Promise<boolean> {
  return withConnection(on, async ({ workflowService }) => {
    const execution = { workflowId };
    const { workflowExecutionInfo } = await workflowService.describeWorkflowExecution({
      namespace: on.namespace,
      execution,
    });
    return workflowExecutionInfo?.status === 1; // WORKFLOW_EXECUTION_STATUS_RUNNING
  });
}

async function startOwner(): Promise<{ process: ReturnType<typeof spawn>; pid: number }> {
  const program = `
    const { startEmbeddedTemporal } = require(${JSON.stringify(built)});
    startEmbeddedTemporal(${JSON.stringify({ folder, binary })}).then((server) => console.log(server.pid));`;
  const owner = spawn(process.execPath, ['-e', program], { stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  owner.stdout.on('data', (data) => (output += String(data)));
  await until('its server runs', () => output.endsWith('\n'));
  return { process: owner, pid: Number(output) };
}
