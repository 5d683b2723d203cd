import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
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

  it('keeps the file settings that survive kills, and receives no variables of our environment', async () => {
    server = await startEmbeddedTemporal({ folder, binary });
    if (process.platform !== 'linux') return;
    expect(readFileSync(`/proc/${server.pid}/cmdline`, 'utf8')).toContain(
      'journal_mode=wal\0--sqlite-pragma=synchronous=1',
    );
    expect(readFileSync(`/proc/${server.pid}/environ`, 'utf8')).toMatch(/^HOME=[^\0]*\0$/);
  });
});

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
