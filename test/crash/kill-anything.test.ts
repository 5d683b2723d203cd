import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freeTestPort } from '../free-port.js';
import { placeEmbeddedStore } from '../embedded-store.js';
import { readArchive } from '../kit/archive.js';
import { crashConfiguration, hookSecret } from '../kit/crash-configuration.js';
import { killNow, processesNaming, startProgram, temporalOf, untilOutput, writeYaml } from '../kit/processes.js';
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

/**
 * The promise "once", whatever is killed when: the whole thing as processes, live inserts and edits, kill -9 of the
 * parent, of Temporal, or of both, at random instants. The seed of the instants is printed, so that a failure can be
 * repeated as far as clocks allow.
 */
const rounds = 5;

describe('a pigeonpost killed at random instants', () => {
  it(
    'loses nothing, doubles nothing and leaves no process behind',
    async () => {
      const folder = mkdtempSync(join(tmpdir(), 'pigeonpost-crash-'));
      const env = { SERVICE_KEY: 'sandbox-key', HOOK_SECRET: hookSecret };
      const random = seeded(Number(process.env['CRASH_SEED'] ?? Date.now() % 100_000));
      await placeEmbeddedStore(join(folder, 'data'));
      const sandbox = startProgram('sandbox/main.js', ['--attendees', '120', '--rate', '15', '--seed', '5'], {
        cwd: folder,
      });
      const receiver = startProgram(
        'sandbox/webhook-receiver/main.js',
        ['--secret', hookSecret, '--log', join(folder, 'receipts.ndjson')],
        { cwd: folder },
      );
      const baseUrl = (await untilOutput(sandbox, /http:\/\/127\.0\.0\.1:\d+/))[0];
      const hook = (await untilOutput(receiver, /http:\/\/127\.0\.0\.1:\d+\//))[0];
      writeYaml(folder, crashConfiguration(baseUrl, hook, [`server: { port: ${await freeTestPort()} }`]));

      let main = startProgram('cli/main.js', ['start'], { cwd: folder, env });
      await untilOutput(main, /ready/);
      for (let round = 0; round < rounds; round += 1) {
        await sleep(200 + random() * 2500);
        const victim = (['parent', 'temporal', 'both'] as const)[Math.floor(random() * 3)];
        const temporal = temporalOf(main.pid);
        if (victim !== 'parent') killNow(temporal);
        if (victim !== 'temporal') {
          killNow(main.pid);
          await main.exited;
          main = startProgram('cli/main.js', ['start'], { cwd: folder, env });
          // Sometimes it is killed again before it is ready, sometimes after.
          if (random() < 0.7) await untilOutput(main, /ready/);
        }
      }
      await untilOutput(main, /ready/);
      await fetch(`${baseUrl}/_control/freeze`, { method: 'POST' });

      await untilNothingLacks('the file', () => readArchive(join(folder, 'archive')), baseUrl, notRefused);
      await untilNothingLacks('the receiver', () => received(folder), baseUrl, obtained);
      expectOnce(readArchive(join(folder, 'archive')));
      await expectSameBytes(hook, folder);

      main.kill('SIGTERM');
      expect(await main.exited).toBe(0);
      await endAll([sandbox, receiver]);
      expect(processesNaming(folder)).toEqual([]);
      rmSync(folder, { recursive: true });
    },
    8 * 60_000,
  );
});
