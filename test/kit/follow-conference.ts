import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { testKeyText } from '../../ledger/ledger-key.test-kit.js';
import { binarySources, findBinary } from '../../worker/embedded-temporal/find-binary.js';
import { startEmbeddedTemporal } from '../../worker/embedded-temporal/embedded-temporal.js';
import { freeTestPort } from '../free-port.js';
import { startPostgres } from '../postgres.js';
import { type ArchivedChange, readArchive } from './archive.js';
import type { HeldChange } from './compare-with-truth.js';
import { crashConfiguration, hookSecret } from './crash-configuration.js';
import {
  killNow,
  processesNaming,
  type Program,
  startProgram,
  temporalOf,
  untilOutput,
  writeYaml,
} from './processes.js';
import { expectOnce, expectSameBytes, notRefused, obtained, received, untilNothingLacks } from './promises.js';

/** A live conference with a file sink and a webhook receiver, and functions to start and disturb programs. */
export interface FollowedConference {
  /** Working folder of every program; with an embedded store, the store is in `data`. */
  readonly folder: string;
  /** Address of the conference. */
  readonly baseUrl: string;
  /** Address of the PostgreSQL database; null: the store is embedded. */
  readonly databaseUrl: string | null;
  /** Port of the server in `pigeonpost.yaml`. */
  readonly port: number;
  /** Starts `pigeonpost` with these arguments. */
  start(...args: string[]): Program;
  /** Sends SIGKILL. Resolves when the program has ended. */
  kill(program: Program): Promise<void>;
  /** Sends SIGKILL to the Temporal server, if one is running. Its supervisor restarts it. */
  killTemporal(): void;
  /** Writes the same configuration for a second API process. */
  configure(file: string, port: number): void;
  archived(): ArchivedChange[];
  received(): HeldChange[];
}

export interface ConferenceOptions {
  /** Seed of the sandbox. */
  readonly seed: number;
  /** Number of attendees; 120 by default. */
  readonly attendees?: number;
  /** `embedded` in `start`, or separate PostgreSQL and Temporal servers that several processes share. */
  readonly store: 'embedded' | 'servers';
}

/**
 * Runs a conference with live inserts and edits while `faults` starts the programs that follow it and disturbs them.
 * Then the conference is frozen, and the programs that still run must keep the promises: both sinks hold everything
 * that the source shows, each change once, in order. The programs must exit with 0 and leave no process behind. If the
 * test fails, all of them are killed, and the folder keeps their output.
 */
export async function followConference(
  options: ConferenceOptions,
  faults: (conference: FollowedConference) => Promise<void>,
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'pigeonpost-followed-'));
  const started: Program[] = [];
  const running = (): Program[] => started.filter((program) => !program.hasEnded());
  const run = (script: string, args: readonly string[], env?: Readonly<Record<string, string>>): Program => {
    const program = startProgram(script, args, { cwd: folder, env });
    started.push(program);
    return program;
  };
  const servers = options.store === 'servers' ? await startServers(folder) : null;
  try {
    const size = ['--attendees', String(options.attendees ?? 120), '--rate', '15', '--seed', String(options.seed)];
    const source = run('sandbox/main.js', size);
    const receipts = ['--secret', hookSecret, '--log', join(folder, 'receipts.ndjson')];
    const receiver = run('sandbox/webhook-receiver/main.js', receipts);
    const baseUrl = (await untilOutput(source, /http:\/\/127\.0\.0\.1:\d+/))[0];
    const hook = (await untilOutput(receiver, /http:\/\/127\.0\.0\.1:\d+\//))[0];
    const configure = (file: string, port: number): void => {
      const more = [...(servers?.lines ?? []), `server: { port: ${port} }`];
      writeYaml(folder, crashConfiguration(baseUrl, hook, more), file);
    };
    const conference: FollowedConference = {
      folder,
      baseUrl,
      databaseUrl: servers?.env.DATABASE_URL ?? null,
      port: await freeTestPort(),
      start: (...args) =>
        run('cli/main.js', args, { SERVICE_KEY: 'sandbox-key', HOOK_SECRET: hookSecret, ...servers?.env }),
      async kill(program) {
        killNow(program.pid);
        await program.exited;
      },
      killTemporal() {
        if (servers === null) for (const { pid } of running()) killNow(temporalOf(pid));
        else killNow(servers.temporalPid());
      },
      configure,
      archived: () => readArchive(join(folder, 'archive')),
      received: () => received(folder),
    };
    configure('pigeonpost.yaml', conference.port);
    await faults(conference);

    await fetch(`${baseUrl}/_control/freeze`, { method: 'POST' });
    await expectPromisesKept(conference, baseUrl, hook);
    await endWell(running().filter((program) => program !== source && program !== receiver));
    await endWell([source, receiver]);
  } catch (error) {
    keepOutputs(folder, started);
    throw error;
  } finally {
    for (const { pid } of running()) killNow(pid); // only after a failure of the test
    await Promise.all(started.map((program) => program.exited));
    await servers?.stop();
  }
  expect(processesNaming(folder)).toEqual([]);
  rmSync(folder, { recursive: true });
}

async function expectPromisesKept(conference: FollowedConference, baseUrl: string, hook: string): Promise<void> {
  await untilNothingLacks('the file', () => conference.archived(), baseUrl, notRefused);
  await untilNothingLacks('the receiver', () => conference.received(), baseUrl, obtained);
  expectOnce(conference.archived());
  await expectSameBytes(hook, conference.folder);
}

async function endWell(programs: readonly Program[]): Promise<void> {
  for (const program of programs) program.kill('SIGTERM');
  expect(await Promise.all(programs.map((program) => program.exited))).toEqual(programs.map(() => 0));
}

/** Keeps the output of every program next to its files, because a failure at a random instant is hard to reproduce. */
function keepOutputs(folder: string, programs: readonly Program[]): void {
  programs.forEach((program, n) =>
    writeFileSync(join(folder, `program-${n}.log`), `${program.output()}\n${program.errors()}`),
  );
}

interface Servers {
  /** Lines of the configuration for the store and Temporal. */
  readonly lines: readonly string[];
  readonly env: { readonly DATABASE_URL: string; readonly LEDGER_KEY: string };
  temporalPid(): number | undefined;
  stop(): Promise<void>;
}

async function startServers(folder: string): Promise<Servers> {
  const postgres = (await startPostgres())!;
  const temporal = await startEmbeddedTemporal({ folder, binary: await findBinary(binarySources(), console.error) });
  return {
    lines: ['store: "${DATABASE_URL}"', `temporal: { address: "${temporal.address}" }`],
    env: { DATABASE_URL: postgres.url, LEDGER_KEY: testKeyText },
    temporalPid: () => temporal.pid,
    async stop() {
      await temporal.stop();
      await postgres.stop();
    },
  };
}
