import { chmodSync, cpSync, mkdirSync, mkdtempSync, rmSync, existsSync, readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openDatabase } from '../../ledger/drivers/open-database.js';
import type { StoreKind } from '../report.js';
import { Sandbox, type SandboxFlags } from './sandbox.js';
import { spawnSync } from 'node:child_process';
import { Client } from 'pg';
import { freePort } from '../../worker/embedded-temporal/free-port.js';
import { startGuardedChild } from '../../worker/guarded-child.js';
import { cpuSecondsOfFamily, waitUntil } from './program.js';

/** An empty store: a database of the stage's server, or a folder with an embedded store. */
export type FreshStore =
  | { readonly kind: 'postgres'; readonly url: string }
  | { readonly kind: 'embedded'; readonly folder: string };

/** Resources of a benchmark: a temporary folder, a sandbox, and stores on demand. */
export class Stage {
  #postgres: PostgresServer | undefined;
  #template: string | undefined;
  #places = 0;
  readonly #closers: (() => Promise<void>)[] = [];

  private constructor(
    readonly folder: string,
    readonly sandbox: Sandbox,
  ) {}

  static async open(flags: SandboxFlags): Promise<Stage> {
    const folder = mkdtempSync(join(tmpdir(), 'pigeonpost-bench-'));
    chmodSync(folder, 0o711); // PostgreSQL's user must be able to reach its folder in it
    return new Stage(folder, await Sandbox.start(folder, flags));
  }

  /** Returns a new folder for the next contender. */
  nextFolder(): string {
    this.#places += 1;
    const folder = join(this.folder, String(this.#places));
    mkdirSync(folder);
    return folder;
  }

  /** Returns the server of all PostgreSQL stores of this stage. */
  async postgres(): Promise<PostgresServer> {
    this.#postgres ??= await startPostgresServer(join(this.folder, 'postgres'));
    return this.#postgres;
  }

  /**
   * Creates an unused store. An embedded one is copied from a template, because creating one takes seconds that no
   * figure may include. It is in `data` of the given folder, where the product expects it.
   */
  async freshStore(kind: StoreKind, folder: string): Promise<FreshStore> {
    if (kind === 'postgres') {
      const server = await this.postgres();
      return { kind, url: await server.createDatabase(`bench${this.#places}`) };
    }
    this.#template ??= await makeTemplate(join(this.folder, 'template'));
    const data = join(folder, 'data');
    cpSync(join(this.#template, 'postgres'), join(data, 'postgres'), { recursive: true });
    return { kind, folder: data };
  }

  /** Registers a resource of a benchmark to close, in reverse order, when the stage ends. */
  onClose(close: () => Promise<void>): void {
    this.#closers.push(close);
  }

  async close(): Promise<void> {
    for (const close of this.#closers.toReversed()) await close();
    await this.sandbox.stop();
    await this.#postgres?.stop();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

async function makeTemplate(folder: string): Promise<string> {
  const database = await openDatabase({ kind: 'embedded', folder });
  await database.close();
  return folder;
}

/** Opens a stage for `use` and closes it afterwards, even after a failure. */
export async function withStage<T>(flags: SandboxFlags, use: (stage: Stage) => Promise<T>): Promise<T> {
  const stage = await Stage.open(flags);
  try {
    return await use(stage);
  } finally {
    await stage.close();
  }
}

/** A PostgreSQL server for one benchmark, with default settings: fsync on, no tuning. */
interface PostgresServer {
  /** Returns the CPU seconds of the server and its current connections. */
  cpuSeconds(): number;
  /** Creates an empty database and returns its URL. */
  createDatabase(name: string): Promise<string>;
  stop(): Promise<void>;
}

/**
 * Starts a server from the installed binaries, on loopback, with its data in `folder`. It ends with this process.
 * @throws if PostgreSQL is not installed
 */
async function startPostgresServer(folder: string): Promise<PostgresServer> {
  const binaries = findBinaries();
  mkdirSync(folder, { recursive: true });
  const asUser = process.getuid?.() === 0 ? dropRoot(folder) : [];
  const data = join(folder, 'data');
  run(
    [...asUser, join(binaries, 'initdb'), '-D', data, '-U', 'app', '-A', 'trust', '-E', 'UTF8', '--locale=C.UTF-8'],
    folder,
  );
  const port = await freePort();
  const settings = [`port=${port}`, 'listen_addresses=127.0.0.1', `unix_socket_directories=${folder}`];
  const [command = '', ...args] = [
    ...asUser,
    join(binaries, 'postgres'),
    '-D',
    data,
    ...settings.flatMap((setting) => ['-c', setting]),
  ];
  // The kernel's guard would be lost when the child changes its user.
  const server = startGuardedChild({ command, args, guard: 'pipe', logFile: join(folder, 'log'), cwd: folder });
  if (server.pid === undefined) throw new Error('PostgreSQL could not be started');
  const { pid } = server;
  const urlOf = (database: string): string => `postgres://app@127.0.0.1:${port}/${database}`;
  await waitUntil('PostgreSQL answers', () => answers(urlOf('postgres')), 30_000);
  return {
    cpuSeconds: () => cpuSecondsOfFamily(pid),
    async createDatabase(name) {
      await withClient(urlOf('postgres'), (client) => client.query(`create database ${name}`));
      return urlOf(name);
    },
    async stop() {
      process.kill(pid, 'SIGINT'); // "fast": does not wait for clients
      await server.stop(10_000);
    },
  };
}

/** Runs statements on a database and then closes the connection. */
export async function withClient<T>(url: string, use: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ connectionString: url });
  try {
    await client.connect();
    return await use(client);
  } finally {
    await client.end();
  }
}

/** Returns the folder of Debian's newest version, or else the one from `pg_config`. */
function findBinaries(): string {
  const debian = '/usr/lib/postgresql';
  const versions = existsSync(debian) ? readdirSync(debian).toSorted((a, b) => Number(b) - Number(a)) : [];
  const configured = spawnSync('pg_config', ['--bindir'], { encoding: 'utf8' }).stdout?.trim();
  const folders = [...versions.map((version) => join(debian, version, 'bin')), ...(configured ? [configured] : [])];
  const found = folders.find((folder) => existsSync(join(folder, 'initdb')));
  if (found === undefined)
    throw new Error('PostgreSQL is not installed: install it (Debian: postgresql-15), or give --store embedded');
  return found;
}

/** PostgreSQL refuses to run as root. Changes the folder's owner and returns the prefix for commands. */
function dropRoot(folder: string): string[] {
  run(['chown', 'postgres:', folder], folder);
  return ['setpriv', '--reuid=postgres', '--regid=postgres', '--init-groups', '--'];
}

function run([program = '', ...args]: readonly string[], cwd: string): void {
  const done = spawnSync(program, args, { encoding: 'utf8', cwd });
  if (done.status !== 0) throw new Error(`${[program, ...args].join(' ')} ended with ${done.status}: ${done.stderr}`);
}

async function answers(url: string): Promise<true | undefined> {
  try {
    await withClient(url, (client) => client.query('select 1'));
    return true;
  } catch {
    return undefined;
  }
}
