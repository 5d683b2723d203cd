import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freeTestPort } from '../free-port.js';
import { placeEmbeddedStore } from '../embedded-store.js';
import { readArchive } from '../kit/archive.js';
import { crashConfiguration, hookSecret } from '../kit/crash-configuration.js';
import {
  killNow,
  processesNaming,
  type Program,
  startProgram,
  temporalOf,
  untilOutput,
  writeYaml,
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
import { until } from '../until.js';

/**
 * Temporal holds nothing that the ledger lacks: its data is thrown away once after an orderly stop and once after a
 * kill, under live traffic, and everything goes on where it was; what a person had paused stays paused.
 */
describe('a pigeonpost whose Temporal has lost everything', () => {
  it(
    'goes on where it was, loses nothing, doubles nothing, and leaves what is paused paused',
    async () => {
      const folder = mkdtempSync(join(tmpdir(), 'pigeonpost-temporal-lost-'));
      const env = { SERVICE_KEY: 'sandbox-key', HOOK_SECRET: hookSecret };
      await placeEmbeddedStore(join(folder, 'data'));
      const sandbox = startProgram('sandbox/main.js', ['--attendees', '100', '--rate', '15', '--seed', '7'], {
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
      const start = async (): Promise<Program> => {
        const program = startProgram('cli/main.js', ['start'], { cwd: folder, env });
        await untilOutput(program, /ready/);
        return program;
      };
      const ask = async (...args: string[]): Promise<string> => {
        const program = startProgram('cli/main.js', args, { cwd: folder, env });
        expect([args, await program.exited, program.errors()]).toEqual([args, 0, '']);
        return program.output();
      };
      const archive = join(folder, 'archive');
      const linesInFile = (): number => (existsSync(archive) ? readArchive(archive).length : 0);

      let main = await start();
      await until('the file has something', () => linesInFile() > 100);
      await until(
        'the receiver has something',
        () => existsSync(join(folder, 'receipts.ndjson')) && received(folder).length > 100,
      );
      await ask('pause', 'sink:hooks', '--reason', 'receiver is moved');

      main.kill('SIGTERM');
      expect(await main.exited).toBe(0);
      const paused = received(folder).length; // a pause takes effect at the end of what is being sent, an end does as well
      forgetTemporal(folder);
      main = await start();
      await untilMore(linesInFile);

      killNow(temporalOf(main.pid));
      killNow(main.pid);
      await main.exited;
      forgetTemporal(folder);
      main = await start();
      await untilMore(linesInFile);

      expect(received(folder)).toHaveLength(paused);
      const status = JSON.parse(await ask('status', '--json')) as {
        sinks: { name: string; state: string; pause: { reason: string } | null }[];
      };
      expect(status.sinks.find(({ name }) => name === 'hooks')).toMatchObject({
        state: 'paused',
        pause: { pausedBy: 'person', reason: 'receiver is moved' },
      });
      await ask('resume', 'sink:hooks');
      await fetch(`${baseUrl}/_control/freeze`, { method: 'POST' });
      await untilNothingLacks('the file', () => readArchive(archive), baseUrl, notRefused);
      await untilNothingLacks('the receiver', () => received(folder), baseUrl, obtained);
      expectOnce(readArchive(archive));
      await expectSameBytes(hook, folder);

      main.kill('SIGTERM');
      expect(await main.exited).toBe(0);
      await endAll([sandbox, receiver]);
      expect(processesNaming(folder)).toEqual([]);
      rmSync(folder, { recursive: true });
    },
    6 * 60_000,
  );
});

/** Throws away what embedded Temporal has stored; fails where there is nothing of the kind. */
function forgetTemporal(folder: string): void {
  const data = join(folder, 'data');
  const files = readdirSync(data).filter((name) => name.startsWith('temporal.sqlite'));
  expect(files).not.toEqual([]);
  for (const name of files) rmSync(join(data, name));
}

async function untilMore(count: () => number): Promise<void> {
  const before = count();
  await until('live changes arrive again', () => count() > before + 20);
}
