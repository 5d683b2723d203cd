import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { binarySources } from '../../worker/embedded-temporal/binary-sources.js';
import { startEmbeddedTemporal } from '../../worker/embedded-temporal/embedded-temporal.js';
import { findBinary } from '../../worker/embedded-temporal/find-binary.js';
import { freeTestPort } from '../free-port.js';
import { readArchive } from '../kit/archive.js';
import { crashConfiguration, hookSecret } from '../kit/crash-configuration.js';
import {
  killNow,
  processesNaming,
  type Program,
  type ProgramOptions,
  startProgram,
  untilOutput,
} from '../kit/processes.js';
import {
  endAll,
  expectOnce,
  expectSameBytes,
  notRefused,
  obtained,
  received,
  untilNothingLacks,
} from '../kit/promises.js';
import { hasPostgres, startPostgres } from '../postgres.js';
import { until } from '../until.js';

/**
 * What docker-compose.yml and deploy/kubernetes describe, from the programs themselves: two processes for the API and
 * three workers on one PostgreSQL and one Temporal. One of each is killed under load and not started again.
 */
const archivedBeforeKill = 300;

interface StatusAnswer {
  readonly trouble: string | null;
  readonly sinks: readonly { readonly name: string; readonly delivered: number }[];
}

const programs: Program[] = [];
afterAll(() => programs.forEach(({ pid }) => killNow(pid))); // should the test have failed on its way

function startOne(script: string, args: readonly string[], options: ProgramOptions): Program {
  const program = startProgram(script, args, options);
  programs.push(program);
  return program;
}

(hasPostgres() ? describe : describe.skip)('two API processes and three workers, one of each killed', () => {
  it(
    'lose nothing and double nothing: the others take over',
    async () => {
      const folder = mkdtempSync(join(tmpdir(), 'pigeonpost-topology-'));
      const postgres = (await startPostgres())!;
      const temporal = await startEmbeddedTemporal({
        folder,
        binary: await findBinary(binarySources(), console.error),
      });
      const env = { SERVICE_KEY: 'sandbox-key', HOOK_SECRET: hookSecret, DATABASE_URL: postgres.url };
      const sandbox = startOne('sandbox/main.js', ['--attendees', '120', '--rate', '15', '--seed', '8'], {
        cwd: folder,
      });
      const receiver = startOne(
        'sandbox/webhook-receiver/main.js',
        ['--secret', hookSecret, '--log', join(folder, 'receipts.ndjson')],
        { cwd: folder },
      );
      const baseUrl = (await untilOutput(sandbox, /http:\/\/127\.0\.0\.1:\d+/))[0];
      const hook = (await untilOutput(receiver, /http:\/\/127\.0\.0\.1:\d+\//))[0];
      const ports = [await freeTestPort(), await freeTestPort()] as const;
      const configured = (name: string, port: number): string => {
        const more = [
          'store: "${DATABASE_URL}"',
          `temporal: { address: "${temporal.address}" }`,
          `server: { port: ${port} }`,
        ];
        writeFileSync(join(folder, name), crashConfiguration(baseUrl, hook, more).join('\n'));
        return name;
      };
      const files = [configured('one.yaml', ports[0]), configured('two.yaml', ports[1])];
      const start = (role: 'api' | 'worker', file: string, ...more: string[]) =>
        startOne('cli/main.js', ['--config', file, role, ...more], { cwd: folder, env });
      const statusAt = async (port: number): Promise<StatusAnswer> =>
        (await (await fetch(`http://127.0.0.1:${port}/api/status`)).json()) as StatusAnswer;

      const apis = files.map((file) => start('api', file));
      for (const api of apis) await untilOutput(api, /ready: serving/);
      expect((await statusAt(ports[1])).trouble).toMatch(/^no worker has asked Temporal for work/);
      const probes = await freeTestPort();
      const listening = start('worker', files[0]!, '--listen', `127.0.0.1:${probes}`);
      const workers = [listening, start('worker', files[0]!), start('worker', files[0]!)];
      await until('a worker is ready by its probe', async () => (await probe(probes, '/readyz')).status === 200);
      expect((await probe(probes, '/healthz')).status).toBe(200);
      expect((await probe(probes, '/metrics')).text).toMatch(/^pigeonpost_store_up 1$/m);
      expect((await probe(probes, '/api/status')).status).toBe(404);
      await until('much of the conference is archived', () => archived(folder) >= archivedBeforeKill, 120_000);

      killNow(apis[0]!.pid);
      killNow(workers.find((worker) => worker.output().includes('ready'))!.pid);
      const atKill = (await statusAt(ports[1])).sinks.find(({ name }) => name === 'archive')!.delivered;
      await until(
        'the other API process tells that the other workers deliver',
        async () => {
          const { trouble, sinks } = await statusAt(ports[1]);
          return trouble === null && sinks.find(({ name }) => name === 'archive')!.delivered > atKill;
        },
        90_000,
      );
      await fetch(`${baseUrl}/_control/freeze`, { method: 'POST' });

      await untilNothingLacks('the file', () => readArchive(join(folder, 'archive')), baseUrl, notRefused);
      await untilNothingLacks('the receiver', () => received(folder), baseUrl, obtained);
      expectOnce(readArchive(join(folder, 'archive')));
      await expectSameBytes(hook, folder);

      await endAll([...apis, ...workers]);
      await endAll([sandbox, receiver]);
      await temporal.stop();
      await postgres.stop();
      expect(processesNaming(folder)).toEqual([]);
      rmSync(folder, { recursive: true });
    },
    8 * 60_000,
  );
});

function archived(folder: string): number {
  try {
    return readArchive(join(folder, 'archive')).length;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return 0;
    throw error;
  }
}

/** Status 0 while nothing listens. */
async function probe(port: number, path: string): Promise<{ status: number; text: string }> {
  try {
    const answer = await fetch(`http://127.0.0.1:${port}${path}`);
    return { status: answer.status, text: await answer.text() };
  } catch {
    return { status: 0, text: '' };
  }
}
