import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import { freePort } from '../../worker/embedded-temporal/free-port.js';
import { startGuardedChild } from '../../worker/guarded-child.js';
import { cpuSecondsOfFamily, waitUntil } from './program.js';

const user = 'app';

/** A PostgreSQL server for one benchmark, with default settings: fsync on, no tuning. */
export interface PostgresServer {
  readonly port: number;
  readonly user: string;
  /** Returns the CPU seconds of the server and its current connections. */
  cpuSeconds(): number;
  /** Returns the URL of a database. */
  url(database: string): string;
  /** Creates an empty database and returns its URL. */
  createDatabase(name: string): Promise<string>;
  stop(): Promise<void>;
}

/**
 * Starts a server from the installed binaries, on loopback, with its data in `folder`. It ends with this process.
 * @param more further settings, such as `max_connections=200`
 * @throws if PostgreSQL is not installed
 */
export async function startPostgresServer(folder: string, more: readonly string[] = []): Promise<PostgresServer> {
  const binaries = findBinaries();
  mkdirSync(folder, { recursive: true });
  const asUser = process.getuid?.() === 0 ? dropRoot(folder) : [];
  const data = join(folder, 'data');
  run(
    [...asUser, join(binaries, 'initdb'), '-D', data, '-U', user, '-A', 'trust', '-E', 'UTF8', '--locale=C.UTF-8'],
    folder,
  );
  const port = await freePort();
  const settings = [`port=${port}`, 'listen_addresses=127.0.0.1', `unix_socket_directories=${folder}`, ...more];
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
  const urlOf = (database: string): string => `postgres://${user}@127.0.0.1:${port}/${database}`;
  await waitUntil('PostgreSQL answers', () => answers(urlOf('postgres')), 30_000);
  return {
    port,
    user,
    url: urlOf,
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
