import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { freeTestPort } from './free-port.js';
import { type GuardedChild, startGuardedChild } from '../worker/guarded-child.js';
import { copyKept } from './kept-folder.js';
import { until } from './until.js';

/** A temporary PostgreSQL server for one test file. */
export interface TestPostgres {
  /** URL of an empty database. */
  readonly url: string;
  /** Creates another database in 45 ms, optionally as a copy of `template`, which must have no connections. */
  createDatabase(name: string, template?: string): Promise<string>;
  /** Sends SIGKILL, as the kernel does when memory is short. Committed data survives, unless the machine fails. */
  kill(): Promise<void>;
  /** Starts the server on the same port with the same data. Resolves when it answers. */
  startAgain(): Promise<void>;
  stop(): Promise<void>;
  /** Allows this process to end while the server runs. The server then ends too, and its folder stays. */
  unref(): void;
  readonly folder: string;
}

/**
 * Whether a server can be started. If none is installed, test files skip their tests for PostgreSQL, with a message on
 * standard error. With CI=true, a missing server is a failure, so that the tests are not skipped unnoticed.
 */
export function hasPostgres(): boolean {
  if (findBinaries() !== undefined) return true;
  if (process.env['CI'] === 'true') throw new Error('PostgreSQL is not installed, and CI=true wants its tests run');
  process.stderr.write('PostgreSQL is not installed: the tests that run on it are left out\n');
  return false;
}

/**
 * Starts a server from the installed binaries (Debian's postgresql-15 is sufficient) on loopback without fsync, in half
 * a second. It always ends with this process. Null if `hasPostgres` is false.
 * @param folder prefix of the name of its folder
 * @param settings further settings, such as `autovacuum=off`
 */
export async function startPostgres({
  folder: prefix = 'pigeonpost-postgres-',
  settings: more = [] as readonly string[],
} = {}): Promise<TestPostgres | null> {
  const binaries = findBinaries();
  if (binaries === undefined) return null;
  const folder = mkdtempSync(join(tmpdir(), prefix));
  const port = await freeTestPort();
  const asUser = process.getuid?.() === 0 ? dropRoot(folder) : [];
  const run = (...command: string[]): void => {
    const [program = '', ...args] = [...asUser, ...command];
    const done = spawnSync(program, args, { encoding: 'utf8', cwd: folder });
    if (done.status !== 0) throw new Error(`${command[0]} ended with ${done.status}: ${done.stderr}`);
  };
  const initdb = [join(binaries, 'initdb'), '-U', 'app', '-A', 'trust', '-E', 'UTF8', '--locale=C.UTF-8', '--no-sync'];
  const make = (made: string): void => {
    const own = join(folder, 'made'); // a user that PostgreSQL runs as may not write to where it is kept
    run(...initdb, '-D', own);
    execFileSync('cp', ['-a', own, made]);
    rmSync(own, { recursive: true });
  };
  await copyKept({ name: 'postgres', madeFrom: [...initdb, ...asUser], make }, join(folder, 'data'));
  const settings = [
    `port=${port}`,
    'listen_addresses=127.0.0.1',
    `unix_socket_directories=${folder}`,
    'max_connections=50',
    'fsync=off', // but commits reach the operating system immediately, so confirmed commits survive a SIGKILL of the server
    'full_page_writes=off',
    ...more,
  ];
  const postgres = [join(binaries, 'postgres'), '-D', join(folder, 'data')];
  const [command = '', ...args] = [...asUser, ...postgres, ...settings.flatMap((setting) => ['-c', setting])];
  // The kernel's guard would be lost when the child changes its user.
  const serve = (): GuardedChild =>
    startGuardedChild({ command, args, guard: 'pipe', logFile: join(folder, 'log'), cwd: folder });
  let server = serve();
  const urlOf = (database: string): string => `postgres://app@127.0.0.1:${port}/${database}`;
  await until('PostgreSQL answers', () => answers(urlOf('postgres')));

  const createDatabase = async (name: string, template = 'template1'): Promise<string> => {
    await withClient(urlOf('postgres'), (client) => client.query(`create database ${name} template ${template}`));
    return urlOf(name);
  };
  return {
    folder,
    url: await createDatabase('test'),
    createDatabase,
    async kill() {
      if (server.pid !== undefined) process.kill(server.pid, 'SIGKILL');
      await server.exited;
    },
    async startAgain() {
      const answersAgain = async (): Promise<boolean> => {
        const ended = await Promise.race([
          server.exited.then(() => true),
          answers(urlOf('postgres')).then(() => false),
        ]);
        // It does not start while processes of the previous server hold its memory, which end within seconds.
        if (ended) server = serve();
        return !ended && (await answers(urlOf('postgres')));
      };
      await until('PostgreSQL answers again', answersAgain);
    },
    unref() {
      server.unref();
    },
    async stop() {
      if (server.pid !== undefined) process.kill(server.pid, 'SIGQUIT'); // "immediate" shutdown, since its data is no longer needed
      await server.stop(60_000);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Returns the folder of Debian's newest version, or else the one from `pg_config`. */
function findBinaries(): string | undefined {
  const debian = '/usr/lib/postgresql';
  const versions = existsSync(debian) ? readdirSync(debian).toSorted((a, b) => Number(b) - Number(a)) : [];
  const configured = spawnSync('pg_config', ['--bindir'], { encoding: 'utf8' }).stdout?.trim();
  const wanted = process.env['POSTGRES_BINARIES']; // another version: `npm run real-servers` sets it
  const folders = [
    ...(wanted === undefined ? [] : [wanted]),
    ...versions.map((version) => join(debian, version, 'bin')),
    ...(configured ? [configured] : []),
  ];
  return folders.find((folder) => existsSync(join(folder, 'initdb')));
}

/** PostgreSQL refuses to run as root. Changes the folder's owner and returns the prefix for commands. */
function dropRoot(folder: string): string[] {
  spawnSync('chown', ['postgres:', folder]);
  return ['setpriv', '--reuid=postgres', '--regid=postgres', '--init-groups', '--'];
}

async function answers(url: string): Promise<boolean> {
  try {
    await withClient(url, (client) => client.query('select 1'));
    return true;
  } catch {
    return false;
  }
}

async function withClient(url: string, use: (client: Client) => Promise<unknown>): Promise<void> {
  const client = new Client({ connectionString: url });
  try {
    await client.connect();
    await use(client);
  } finally {
    await client.end();
  }
}
