import { mkdirSync, mkdtempSync, renameSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { binarySources, findBinary } from '../../worker/embedded-temporal/find-binary.js';
import { type EmbeddedTemporal, startEmbeddedTemporal } from '../../worker/embedded-temporal/embedded-temporal.js';
import { freeTestPort } from '../free-port.js';
import { hookSecret } from '../kit/crash-configuration.js';
import { processesNaming, temporalOf, writeYaml } from '../kit/processes.js';
import { startPostgres, type TestPostgres } from '../postgres.js';
import { chaosConfiguration } from './chaos-configuration.js';
import { control } from './control.js';
import type { ChaosPlan } from './plan.js';
import { Supervised } from './supervised.js';
import { startVendors, vendorEnvironment, type Vendors, vendorSinks } from './vendors.js';

/** Webhook sinks: the receiver of one is slow, and the receiver of the other fails temporarily. */
export const hookSinks = ['slow', 'failing'] as const;
export type HookSink = (typeof hookSinks)[number];

/** The processes of a run, and the folder they write to. */
export interface Stage {
  readonly folder: string;
  readonly sandboxUrl: string;
  readonly hookUrls: Readonly<Record<HookSink, string>>;
  readonly vendors: Vendors;
  /** Address of pigeonpost's API. */
  readonly apiUrl: string;
  readonly receivers: Readonly<Record<HookSink, Supervised>>;
  readonly parent: Supervised;
  /** Only with PostgreSQL. */
  readonly worker: Supervised | undefined;
  readonly postgres: TestPostgres | undefined;
  /** Process id of the running Temporal server; undefined while it is down. */
  temporalPid(): number | undefined;
  /** Stops everything. @returns problems: exit codes and remaining processes */
  close(): Promise<string[]>;
}

/** Starts everything and waits until pigeonpost is ready. */
export async function openStage(plan: ChaosPlan, deletions: boolean): Promise<Stage> {
  const folder = mkdtempSync(join(tmpdir(), `pigeonpost-chaos-${plan.seed}-`));
  const opened: { close(): Promise<unknown> }[] = [];
  try {
    return await open(plan, deletions, folder, opened);
  } catch (error) {
    for (const part of opened.toReversed()) await part.close().catch(() => undefined);
    throw error;
  }
}

async function open(
  plan: ChaosPlan,
  deletions: boolean,
  folder: string,
  opened: { close(): Promise<unknown> }[],
): Promise<Stage> {
  const start = (name: string, program: string, args: readonly string[], ready: RegExp, env = {}): Supervised => {
    const logFile = join(folder, `${name}.log`);
    const supervised = new Supervised({ program, args, env, cwd: folder, logFile, ready });
    opened.push({ close: () => supervised.stop() });
    return supervised;
  };

  const sandbox = start('sandbox', 'sandbox/main', ['--frozen', ...plan.service.flags], /ready on (http:\S+)/);
  const sandboxUrl = (await sandbox.untilReady())[1]!;
  await control(sandboxUrl, 'PATCH', 'knobs', plan.service.knobs);

  const ports = { slow: await freeTestPort(), failing: await freeTestPort() };
  const receiver = (name: HookSink): Supervised => {
    const args = ['--secret', hookSecret, '--log', join(folder, `${name}.ndjson`), '--port', String(ports[name])];
    return start(name, 'sandbox/webhook-receiver/main', args, /receiver ready at (\S+)/);
  };
  const receivers = { slow: receiver('slow'), failing: receiver('failing') };
  const hookUrls = {
    slow: (await receivers.slow.untilReady())[1]!,
    failing: (await receivers.failing.untilReady())[1]!,
  };

  const vendors = await startVendors(plan.seed);
  opened.push(vendors);
  const servers = plan.store === 'postgres' ? await startServers(folder, opened) : undefined;
  const port = await freeTestPort();
  const places = { baseUrl: sandboxUrl, hooks: hookUrls, vendors: vendorSinks(vendors), port, deletions };
  const postgres = servers === undefined ? null : { temporalAddress: servers.temporal.address };
  writeYaml(folder, chaosConfiguration({ ...places, postgres }));
  const env = {
    ...definedEnvironment(), // it may contain the address or cache of a Temporal server
    SERVICE_KEY: 'sandbox-key',
    HOOK_SECRET: hookSecret,
    ...vendorEnvironment,
    DATABASE_URL: servers?.postgres.url ?? '',
    TEMPORAL_ADDRESS: '',
    PIGEONPOST_LOG: 'info',
  };
  setWorkerClock(folder, plan.clockAheadMs);
  const parent = start('start', 'cli/main', ['start'], /^ready/m, env);
  await parent.untilReady();
  const worker =
    servers === undefined
      ? undefined
      : start('worker', 'cli/main', ['worker'], /^ready/m, { ...env, ...wrongClock(folder) });

  return {
    folder,
    sandboxUrl,
    hookUrls,
    vendors,
    apiUrl: `http://127.0.0.1:${port}`,
    receivers,
    parent,
    worker,
    postgres: servers?.postgres,
    temporalPid: () => (servers === undefined ? temporalOf(parent.pid ?? -1) : servers.temporal.pid),
    async close() {
      const wrong: string[] = [];
      for (const [name, program] of Object.entries({ start: parent, worker })) {
        const code = program === undefined ? 0 : await program.stop();
        if (code !== 0) wrong.push(`${name} ended with ${code ?? 'a signal'} after SIGTERM`);
      }
      for (const part of opened.toReversed()) await part.close();
      const left = processesNaming(folder);
      if (left.length > 0) wrong.push(`processes left over: ${left.join(', ')}`);
      return wrong;
    },
  };
}

async function startServers(
  folder: string,
  opened: { close(): Promise<unknown> }[],
): Promise<{ postgres: TestPostgres; temporal: EmbeddedTemporal }> {
  const postgres = await startPostgres();
  if (postgres === null) throw new Error('PostgreSQL is not installed: install it, or give --store embedded');
  opened.push({ close: () => postgres.stop() });
  const binary = await findBinary(binarySources(), (line) => process.stderr.write(`${line}\n`));
  mkdirSync(join(folder, 'temporal'));
  const temporal = await startEmbeddedTemporal({ folder: join(folder, 'temporal'), binary });
  opened.push({ close: () => temporal.stop() });
  return { postgres, temporal };
}

function wrongClock(folder: string): Record<string, string> {
  return { NODE_OPTIONS: `--require ${join(__dirname, 'wrong-clock.cjs')}`, CHAOS_CLOCK_FILE: clockFile(folder) };
}

/** Sets the wall clock of the worker ahead. */
export function setWorkerClock(folder: string, aheadMs: number): void {
  writeFileSync(`${clockFile(folder)}.new`, String(aheadMs));
  renameSync(`${clockFile(folder)}.new`, clockFile(folder)); // a reader always sees a complete number
}

function clockFile(folder: string): string {
  return join(folder, 'worker-clock');
}

function definedEnvironment(): Record<string, string> {
  const defined = Object.entries(process.env).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return Object.fromEntries(defined);
}
