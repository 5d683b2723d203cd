import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { binarySources } from '../../worker/embedded-temporal/binary-sources.js';
import { startEmbeddedTemporal } from '../../worker/embedded-temporal/embedded-temporal.js';
import { findBinary } from '../../worker/embedded-temporal/find-binary.js';
import { freeTestPort } from '../free-port.js';
import { readArchive } from '../kit/archive.js';
import { crashConfiguration, hookSecret } from '../kit/crash-configuration.js';
import { killNow, type Program, processesNaming, startProgram, untilOutput, writeYaml } from '../kit/processes.js';
import {
  endAll,
  expectOnce,
  expectSameBytes,
  notRefused,
  obtained,
  received,
  seeded,
  sleep,
  untilNothingLacks,
} from '../kit/promises.js';
import { hasPostgres, startPostgres } from '../postgres.js';

/**
 * The same promise where processes share a PostgreSQL and a Temporal of their own: a `start` and a `worker`, either,
 * both, or Temporal killed at random instants. No folder lock ends a dead process's leases here; they run out.
 */
const rounds = 5;

(hasPostgres() ? describe : describe.skip)('two processes on one PostgreSQL, killed at random instants', () => {
  it(
    'lose nothing, double nothing and leave no process behind',
    async () => {
      const folder = mkdtempSync(join(tmpdir(), 'pigeonpost-workers-'));
      const postgres = (await startPostgres())!;
      const temporal = await startEmbeddedTemporal({
        folder,
        binary: await findBinary(binarySources(), console.error),
      });
      const random = seeded(Number(process.env['CRASH_SEED'] ?? Date.now() % 100_000));
      const env = { SERVICE_KEY: 'sandbox-key', HOOK_SECRET: hookSecret, DATABASE_URL: postgres.url };
      const sandbox = startProgram('sandbox/main.js', ['--attendees', '120', '--rate', '15', '--seed', '6'], {
        cwd: folder,
      });
      const receiver = startProgram(
        'sandbox/webhook-receiver/main.js',
        ['--secret', hookSecret, '--log', join(folder, 'receipts.ndjson')],
        { cwd: folder },
      );
      const baseUrl = (await untilOutput(sandbox, /http:\/\/127\.0\.0\.1:\d+/))[0];
      const hook = (await untilOutput(receiver, /http:\/\/127\.0\.0\.1:\d+\//))[0];
      const more = [
        'store: "${DATABASE_URL}"',
        `temporal: { address: "${temporal.address}" }`,
        `server: { port: ${await freeTestPort()} }`,
      ];
      writeYaml(folder, crashConfiguration(baseUrl, hook, more));

      const start = (role: 'start' | 'worker'): Program => startProgram('cli/main.js', [role], { cwd: folder, env });
      const running = { start: start('start'), worker: start('worker') };
      await untilOutput(running.start, /ready/);
      for (let round = 0; round < rounds; round += 1) {
        await sleep(300 + random() * 2000);
        const victim = (['start', 'worker', 'both', 'temporal'] as const)[Math.floor(random() * 4)];
        if (victim === 'temporal') killNow(temporal.pid);
        for (const role of ['start', 'worker'] as const) {
          if (victim !== role && victim !== 'both') continue;
          killNow(running[role].pid);
          await running[role].exited;
          running[role] = start(role);
        }
      }
      await fetch(`${baseUrl}/_control/freeze`, { method: 'POST' });

      await untilNothingLacks('the file', () => readArchive(join(folder, 'archive')), baseUrl, notRefused);
      await untilNothingLacks('the receiver', () => received(folder), baseUrl, obtained);
      expectOnce(readArchive(join(folder, 'archive')));
      await expectSameBytes(hook, folder);

      await endAll([running.start, running.worker]);
      await endAll([sandbox, receiver]);
      await temporal.stop();
      await postgres.stop();
      expect(processesNaming(folder)).toEqual([]);
      rmSync(folder, { recursive: true });
    },
    8 * 60_000,
  );
});
