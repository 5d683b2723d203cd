import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Environment, processEnvironment } from '../../config/environment.js';
import { freePort } from '../../worker/embedded-temporal/free-port.js';
import { binarySources } from '../../worker/embedded-temporal/find-binary.js';
import { type PostgresServer, startPostgresServer } from '../processes/postgres-server.js';
import { Program, waitUntil } from '../processes/program.js';
import { Receiver, type Sandbox, sandboxKey } from '../processes/sandbox.js';
import type { Stage } from '../processes/stage.js';
import { type TemporalServer, startTemporalServer, temporalPrograms } from '../processes/temporal-server.js';

export interface FleetOptions {
  /** Ids of the live pigeonholes. */
  readonly pigeonholes: readonly number[];
  readonly intervalMs: number;
  readonly workers: number;
  /** History shards of Temporal. */
  readonly shards: number;
  /** Folder with the build to measure; undefined: this one. */
  readonly dist: string | undefined;
  readonly profileFolder?: string | undefined;
}

/** Token of the API on loopback, which protects nothing. */
const token = 'q7Lx2vKd93mZpRt5Wc8YhNf4';
const database = 'pigeonpost';
const statusEveryMs = 1000;

/**
 * pigeonpost as operators run it at scale: one process for the API and several workers, on a Temporal server with
 * PostgreSQL. Each of the two has its own PostgreSQL cluster, so that their CPU time and WAL are counted separately.
 */
export class Fleet {
  readonly #workers: Program[] = [];

  private constructor(
    private readonly options: FleetOptions,
    private readonly folder: string,
    private readonly apiUrl: string,
    readonly store: PostgresServer,
    readonly temporalStore: PostgresServer,
    readonly temporal: TemporalServer,
    readonly receiver: Receiver,
    readonly sandbox: Sandbox,
  ) {}

  #api: Program | undefined;

  /** Starts everything on the stage's sandbox. Resolves when the API and every worker are ready. */
  static async start(stage: Stage, options: FleetOptions): Promise<Fleet> {
    const programs = await temporalPrograms(binarySources(), (line) => process.stderr.write(`${line}\n`));
    const folder = stage.nextFolder();
    const store = await startPostgresServer(join(folder, 'store'), [
      'shared_preload_libraries=pg_stat_statements',
      'pg_stat_statements.track_planning=off',
      'max_connections=200',
    ]);
    stage.onClose(() => store.stop());
    const temporalStore = await startPostgresServer(join(folder, 'temporal-store'));
    stage.onClose(() => temporalStore.stop());
    const { shards } = options;
    const temporal = await startTemporalServer({
      programs,
      folder: join(folder, 'temporal'),
      postgres: temporalStore,
      shards,
    });
    stage.onClose(() => temporal.stop());
    const receiver = await Receiver.start(stage);
    const apiPort = await freePort();
    const url = await store.createDatabase(database);
    writeFileSync(
      join(folder, 'pigeonpost.yaml'),
      configuration(options, { sandbox: stage.sandbox.baseUrl, url, temporal, receiver, apiPort }),
    );
    const fleet = new Fleet(
      options,
      folder,
      `http://127.0.0.1:${apiPort}`,
      store,
      temporalStore,
      temporal,
      receiver,
      stage.sandbox,
    );
    stage.onClose(() => fleet.#stopWorkers());
    const api = fleet.#run('api', ['api']);
    fleet.#api = api;
    stage.onClose(() => api.stop());
    await api.lineLike(/^ready: serving/, 120_000);
    await Promise.all(Array.from({ length: options.workers }, () => fleet.startWorker()));
    return fleet;
  }

  get api(): Program {
    return this.#api!;
  }

  get workers(): readonly Program[] {
    return this.#workers;
  }

  /** Name of the database with pigeonpost's tables. */
  get database(): string {
    return database;
  }

  /** Starts one more worker. Resolves when it is ready. */
  async startWorker(): Promise<Program> {
    const address = `127.0.0.1:${await freePort()}`;
    const worker = this.#run(`worker-${address.split(':')[1]}`, ['worker', '--listen', address]);
    this.#workers.push(worker);
    await waitUntil(`${address} is ready`, () => answersReady(address), 120_000);
    return worker;
  }

  /** Stops the oldest worker, cleanly if that takes at most ten seconds. */
  async stopOldestWorker(): Promise<void> {
    await this.#workers.shift()?.stop();
  }

  /** Waits until everything was read and every change is settled. */
  async untilSettled(timeoutMs: number): Promise<void> {
    let nextAt = 0;
    const isSettled = async (): Promise<true | undefined> => {
      if (Date.now() < nextAt) return undefined;
      nextAt = Date.now() + statusEveryMs;
      const answer = await fetch(`${this.apiUrl}/api/status`, { headers: { authorization: `Bearer ${token}` } });
      return ((await answer.json()) as { settled: boolean }).settled || undefined;
    };
    await waitUntil('everything is settled', isSettled, timeoutMs);
  }

  async #stopWorkers(): Promise<void> {
    await Promise.all(this.#workers.map((worker) => worker.stop()));
  }

  #run(name: string, args: readonly string[]): Program {
    const { dist, profileFolder } = this.options;
    return new Program({
      program: 'cli/main',
      dist,
      args,
      nodeArgs:
        profileFolder === undefined || args[0] !== 'worker' ? [] : ['--cpu-prof', `--cpu-prof-dir=${profileFolder}`],
      env: {
        ...defined(processEnvironment()),
        ...this.receiver.env,
        BENCH_API_KEY: sandboxKey,
        BENCH_TOKEN: token,
      },
      cwd: this.folder,
      logFile: join(this.folder, `${name}.log`),
    });
  }
}

interface Places {
  readonly sandbox: string;
  readonly url: string;
  readonly temporal: TemporalServer;
  readonly receiver: Receiver;
  readonly apiPort: number;
}

function configuration({ pigeonholes, intervalMs }: FleetOptions, at: Places): string {
  const everyone = ', consent: { accept: [obtained, refused, not-asked, not-known] }';
  return [
    `workspaces: { acme: { baseUrl: "${at.sandbox}", apiKey: "\${BENCH_API_KEY}" } }`,
    'syncs:',
    '  measured:',
    '    workspace: acme',
    `    pigeonholes: [${pigeonholes.join(', ')}]`,
    `    every: { live: ${intervalMs}ms }`,
    '    sinks: [hooks]',
    'sinks:',
    `  ${at.receiver.sinkLine('hooks', lists, everyone)}`,
    `store: "${at.url}"`,
    `temporal: { address: "${at.temporal.address}", namespace: ${at.temporal.namespace} }`,
    `server: { port: ${at.apiPort}, token: "\${BENCH_TOKEN}" }`,
    'network: { proxy: none }',
    '',
  ].join('\n');
}

/** Lists that a sandbox with one session of a kind in each pigeonhole fills. Together with sessions, a poll reads eight. */
const lists = [
  'attendees',
  'questions',
  'qna-questions',
  'votes',
  'answer_ratings',
  'poll-mcq-votes',
  'poll-quiz-votes',
];

async function answersReady(address: string): Promise<true | undefined> {
  try {
    return (await fetch(`http://${address}/readyz`)).ok || undefined;
  } catch {
    return undefined;
  }
}

function defined(environment: Environment): Record<string, string> {
  return Object.fromEntries(
    Object.entries(environment).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
}
