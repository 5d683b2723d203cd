import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Connection } from '@temporalio/client';
import { msToTs } from '@temporalio/common/lib/time';
import {
  type BuildPlace,
  buildProgram,
  builtProgramPath,
  type GoProgram,
} from '../../worker/embedded-temporal/build-program.js';
import { freePort } from '../../worker/embedded-temporal/free-port.js';
import { startGuardedChild } from '../../worker/guarded-child.js';
import { waitUntil } from './program.js';

/**
 * The Temporal server as operators run it: all services in one process, on PostgreSQL. The product never starts it; the
 * benchmark `scale` and the scenario on the real server do.
 */

const serverModule = 'go.temporal.io/server';
const server: GoProgram = {
  name: 'temporal-server',
  what: "Temporal's server for PostgreSQL",
  package: `${serverModule}/cmd/server`,
  module: serverModule,
  takes: 'at most 8 minutes',
};
const sqlTool: GoProgram = {
  name: 'temporal-sql-tool',
  what: "Temporal's SQL tool",
  package: `${serverModule}/cmd/tools/sql`,
  module: serverModule,
  takes: 'at most a minute',
};

export interface TemporalPrograms {
  readonly server: string;
  readonly sqlTool: string;
}

/** Returns the programs in the cache; undefined if one is missing. */
export function builtTemporalPrograms(place: BuildPlace): TemporalPrograms | undefined {
  const programs = { server: builtProgramPath(place, server), sqlTool: builtProgramPath(place, sqlTool) };
  return Object.values(programs).every((file) => existsSync(file)) ? programs : undefined;
}

/**
 * Returns the programs from the cache, and builds what is missing: eight minutes without Go's own cache, or 15 s after the
 * embedded server was built, which consists of the same packages.
 * @throws if they cannot be built; `onProgress` receives the reason
 */
export async function temporalPrograms(
  place: BuildPlace,
  onProgress: (line: string) => void,
): Promise<TemporalPrograms> {
  for (const program of [server, sqlTool]) {
    if (existsSync(builtProgramPath(place, program))) continue;
    const built = await buildProgram(place, program, onProgress);
    if (built === undefined) throw new Error(`${program.what} is needed: install Go 1.26.4 or newer and try again`);
  }
  return builtTemporalPrograms(place)!;
}

export interface TemporalServerOptions {
  readonly programs: TemporalPrograms;
  /** For its configuration and log. */
  readonly folder: string;
  /** A PostgreSQL superuser without a password on loopback. */
  readonly postgres: { readonly port: number; readonly user: string };
  /** Number of history shards. The documented value for production is 512. */
  readonly shards: number;
  /** Returns a free port; by default `freePort`. */
  readonly nextPort?: () => Promise<number>;
}

export interface TemporalServer {
  /** `127.0.0.1:port` of the frontend; the same after `startAgain`. */
  readonly address: string;
  readonly namespace: string;
  readonly pid: number;
  /** Sends SIGKILL, as the kernel does when memory is short. */
  kill(): Promise<void>;
  /** Starts the server at the same address on the same databases. Resolves when it answers. */
  startAgain(): Promise<void>;
  stop(): Promise<void>;
}

const namespace = 'pigeonpost';
/** Time limit until the server answers, for a very busy machine. It takes 3 s with 4 shards. */
const startTimeoutMs = 120_000;

/**
 * Creates the databases with the schemas that the SQL tool contains, starts the server on them with the settings of
 * docs/deployment.md, and creates a namespace. The server always ends with this process.
 */
export async function startTemporalServer(options: TemporalServerOptions): Promise<TemporalServer> {
  const { folder, programs } = options;
  mkdirSync(folder, { recursive: true });
  for (const [database, schema] of [
    ['temporal', 'temporal'],
    ['temporal_visibility', 'visibility'],
  ] as const) {
    await createDatabase(options, database, schema);
  }
  const file = join(folder, 'temporal-server.yaml');
  const address = await writeConfiguration(file, options);
  const serve = () =>
    startGuardedChild({
      command: programs.server,
      args: ['--config-file', file, '--allow-no-auth', 'start'],
      cwd: folder,
      env: {},
      logFile: join(folder, 'temporal-server.log'),
    });
  let child = serve();
  const pidOf = (): number => child.pid ?? fail(`${programs.server} could not be started`);
  pidOf();
  await untilItAnswers(address, folder);
  return {
    address,
    namespace,
    get pid() {
      return pidOf();
    },
    async kill() {
      process.kill(pidOf(), 'SIGKILL');
      await child.exited;
    },
    async startAgain() {
      child = serve();
      await untilItAnswers(address, folder);
    },
    async stop() {
      await child.stop(10_000);
    },
  };
}

async function createDatabase(
  { programs, postgres }: TemporalServerOptions,
  database: string,
  schema: string,
): Promise<void> {
  const connect = ['--plugin', 'postgres12', '--endpoint', '127.0.0.1', '--port', String(postgres.port)];
  for (const command of [
    ['create-database'],
    ['setup-schema', '--version', '0.0'],
    ['update-schema', '--schema-name', `postgresql/v12/${schema}`],
  ]) {
    const args = [...connect, '--user', postgres.user, '--database', database, ...command];
    await promisify(execFile)(programs.sqlTool, args, { env: {} });
  }
}

/** Writes the two files of settings. @returns the frontend's address */
async function writeConfiguration(
  file: string,
  { folder, postgres, shards, nextPort = freePort }: TemporalServerOptions,
): Promise<string> {
  const ports = new Set<number>();
  while (ports.size < 8) ports.add(await nextPort());
  const [frontend, ...others] = [...ports];
  const rpc = (grpcPort: number | undefined): object => ({
    rpc: { grpcPort, membershipPort: others.pop(), bindOnIP: '127.0.0.1' },
  });
  const store = (databaseName: string, maxConns: number): object => ({
    sql: {
      pluginName: 'postgres12',
      databaseName,
      connectAddr: `127.0.0.1:${postgres.port}`,
      connectProtocol: 'tcp',
      user: postgres.user,
      maxConns,
      maxIdleConns: maxConns,
      maxConnLifetime: '1h',
    },
  });
  const dynamic = join(folder, 'dynamic.yaml');
  const settings = {
    'system.enableActivityEagerExecution': true,
    'history.transferProcessorMaxPollRPS': 100,
    'history.timerProcessorMaxTimeShift': '50ms',
  };
  // JSON is YAML.
  writeFileSync(
    dynamic,
    JSON.stringify(Object.fromEntries(Object.entries(settings).map(([name, value]) => [name, [{ value }]]))),
  );
  const configuration = {
    log: { stdout: true, level: 'warn' },
    persistence: {
      defaultStore: 'default',
      visibilityStore: 'visibility',
      numHistoryShards: shards,
      datastores: { default: store('temporal', 20), visibility: store('temporal_visibility', 4) },
    },
    global: { membership: { maxJoinDuration: '30s', broadcastAddress: '127.0.0.1' } },
    services: {
      frontend: rpc(frontend),
      matching: rpc(others.pop()),
      history: rpc(others.pop()),
      worker: rpc(others.pop()),
    },
    clusterMetadata: {
      enableGlobalNamespace: false,
      failoverVersionIncrement: 10,
      masterClusterName: 'active',
      currentClusterName: 'active',
      clusterInformation: {
        active: {
          enabled: true,
          initialFailoverVersion: 1,
          rpcName: 'frontend',
          rpcAddress: `127.0.0.1:${frontend}`,
        },
      },
    },
    dcRedirectionPolicy: { policy: 'noop' },
    dynamicConfigClient: { filepath: dynamic, pollInterval: '60s' },
  };
  writeFileSync(file, JSON.stringify(configuration, null, 2));
  return `127.0.0.1:${frontend}`;
}

/** Waits until the server knows the namespace in all its services, and creates it if it does not exist. */
async function untilItAnswers(address: string, folder: string): Promise<void> {
  await waitUntil(
    `Temporal's server answers (log: ${join(folder, 'temporal-server.log')})`,
    async () => {
      const connection = Connection.lazy({ address, connectTimeout: '2 seconds' });
      try {
        await connection.ensureConnected();
        await connection.withDeadline(Date.now() + 2000, () => useNamespace(connection));
        return true;
      } catch {
        return undefined;
      } finally {
        await connection.close();
      }
    },
    startTimeoutMs,
  );
}

const alreadyExists = 6; // gRPC's code

async function useNamespace({ workflowService }: Connection): Promise<void> {
  await workflowService
    .registerNamespace({ namespace, workflowExecutionRetentionPeriod: msToTs('3 days') })
    .catch((error: unknown) => {
      if ((error as { code?: number }).code !== alreadyExists) throw error;
    });
  // The services learn of a new namespace seconds later. These two ask a history and a matching service.
  await workflowService.listWorkflowExecutions({ namespace, query: 'WorkflowId = "none"' });
  await workflowService.describeTaskQueue({ namespace, taskQueue: { name: 'none' } });
}

function fail(sentence: string): never {
  throw new Error(sentence);
}
