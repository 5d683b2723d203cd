import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { testKeyText } from '../../ledger/ledger-key.test-kit.js';
import { type EmbeddedTemporal, startEmbeddedTemporal } from '../../worker/embedded-temporal/embedded-temporal.js';
import { freeTestPort } from '../free-port.js';
import { apiHeaders } from '../kit/api-headers.js';
import { crashConfiguration, hookSecret } from '../kit/crash-configuration.js';
import { killNow, type Program, startProgram, untilOutput, writeYaml } from '../kit/processes.js';
import { hasPostgres, startPostgres, type TestPostgres } from '../postgres.js';
import { temporalForTests } from '../temporal.js';
import { until } from '../until.js';

/**
 * One API process and one worker whose Temporal server starts late, is then replaced by an empty one at the same
 * address, and is finally restored.
 */
(hasPostgres() ? describe : describe.skip)('an API process and a worker whose Temporal is replaced', () => {
  const { binary } = temporalForTests();
  const folder = mkdtempSync(join(tmpdir(), 'pigeonpost-exchanged-'));
  const programs: Program[] = [];
  const servers: EmbeddedTemporal[] = [];
  let postgres: TestPostgres | null = null;

  afterAll(async () => {
    for (const { pid } of programs) killNow(pid);
    await Promise.all(programs.map(({ exited }) => exited));
    for (const server of servers) await server.stop();
    await postgres?.stop();
    rmSync(folder, { recursive: true });
  });

  it('the API serves without Temporal and connects later; the worker polls only the cluster that drives the ledger', async () => {
    postgres = await startPostgres();
    const [port, apiPort, probes] = [await freeTestPort(), await freeTestPort(), await freeTestPort()];
    const env = { SERVICE_KEY: 'k', HOOK_SECRET: hookSecret, DATABASE_URL: postgres!.url, LEDGER_KEY: testKeyText };
    writeYaml(
      folder,
      crashConfiguration('http://127.0.0.1:9', 'http://127.0.0.1:9/', [
        'store: "${DATABASE_URL}"',
        `temporal: { address: "127.0.0.1:${port}" }`,
        `server: { port: ${apiPort} }`,
      ]),
    );
    const run = (...args: string[]): Program => {
      const program = startProgram('cli/main.js', args, { cwd: folder, env });
      programs.push(program);
      return program;
    };
    const serve = async (name: string): Promise<EmbeddedTemporal> => {
      const server = await startEmbeddedTemporal({ folder: join(folder, name), binary, port });
      servers.push(server);
      return server;
    };
    const ask = async (path: string, body?: object): Promise<{ status: number; trouble?: string | null }> => {
      const method = body === undefined ? 'GET' : 'POST';
      const answer = await fetch(`http://127.0.0.1:${apiPort}${path}`, {
        method,
        headers: apiHeaders(folder),
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      return { status: answer.status, ...((await answer.json()) as object) };
    };
    const trouble = async (): Promise<string | null | undefined> => (await ask('/api/status')).trouble;
    const readiness = async (): Promise<string> => {
      const answer = await fetch(`http://127.0.0.1:${probes}/readyz`).catch(() => undefined);
      return (await answer?.text()) ?? 'nothing listens';
    };

    await untilOutput(run('api'), /ready: serving/);
    expect(await trouble()).toContain(`Temporal at 127.0.0.1:${port} cannot be used`);
    const pause = { do: 'pause', kind: 'sink', name: 'archive' };
    expect(await ask('/api/actions', pause)).toMatchObject({ status: 200, done: true });

    const first = await serve('first');
    await until('the API process has connected, and misses a worker', async () =>
      ((await trouble()) ?? '').startsWith('no worker has asked'),
    );
    run('worker', '--listen', `127.0.0.1:${probes}`);
    await until('the worker polls', async () => (await readiness()) === 'ok');

    await first.stop();
    const second = await serve('second');
    await until('the worker has stopped', async () => (await readiness()) === 'not ready: worker');
    // Until it has compared the clusters, the API process only sees that no worker polls.
    await until('the API process names the cause', async () =>
      ((await trouble()) ?? '').includes('another Temporal cluster or namespace drives this ledger'),
    );
    const address = { connection: await Connection.connect({ address: second.address }), namespace: 'default' };
    const other = new Client(address);
    // A workflow of another installation with the same task queue, which every poller could receive.
    await other.workflow.start('deliverToSink', { workflowId: 'foreign', taskQueue: 'pigeonpost', args: ['archive'] });
    const task = await other.withDeadline(Date.now() + 60_000, () =>
      other.workflowService.pollWorkflowTaskQueue({ namespace: 'default', taskQueue: { name: 'pigeonpost' } }),
    );
    expect(task.workflowExecution?.workflowId).toBe('foreign');
    let running: string[] = [];
    await until('the server lists the workflow', async () => {
      running = [];
      for await (const { workflowId } of other.workflow.list()) running.push(workflowId);
      return running.includes('foreign');
    });
    expect(running).toEqual(['foreign']);
    await address.connection.close();

    await second.stop();
    await serve('first');
    await until('the worker polls the first cluster again', async () => (await readiness()) === 'ok');
    await until('the API process sees nothing wrong', async () => (await trouble()) === null);
    for (const program of programs) program.kill('SIGTERM');
    expect(await Promise.all(programs.map(({ exited }) => exited))).toEqual([0, 0]);
  });
});
