import { randomUUID } from 'node:crypto';
import { readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, type DatabaseError } from 'pg';
import { openPostgres } from '../ledger/drivers/postgres.js';
import { migrate } from '../ledger/migrate.js';
import { isProcessAlive } from './is-process-alive.js';
import { lasting } from './lasting.js';
import { hasPostgres, startPostgres } from './postgres.js';
import { until } from './until.js';

/** A database for exclusive use. */
export interface LentDatabase {
  readonly url: string;
  /** Drops the database and ends its connections. */
  giveBack(): Promise<void>;
}

const prefix = 'pigeonpost-lent-';
/** SQLSTATE `object_in_use`. Source: PostgreSQL 15, Appendix A. */
const isInUse = '55006';

/**
 * Lends a database of a PostgreSQL server that the test files of a Jest process share. This takes 50 ms instead of a
 * second for a new server with the newest schema. A test that kills or configures its server, or lists all databases,
 * must use `startPostgres` instead.
 * @returns null if no server can be started
 */
export async function lendDatabase({ isEmpty = false } = {}): Promise<LentDatabase | null> {
  if (!hasPostgres()) return null;
  const server = lasting()!.kept.get('postgres') ?? (await startServer());
  const name = `lent_${randomUUID().replaceAll('-', '')}`;
  await run(server, `create database ${name} template ${isEmpty ? 'template1' : 'migrated'}`);
  return {
    url: urlOf(server, name),
    // PostgreSQL gives up if the sessions that it ended have not stopped within 5 s.
    giveBack: () =>
      until(`${name} has no sessions`, async () => {
        try {
          await run(server, `drop database ${name} with (force)`);
          return true;
        } catch (error) {
          if ((error as DatabaseError).code === isInUse) return false;
          throw error;
        }
      }),
  };
}

/** Returns a function that lends empty databases to the tests of a file. They are dropped after the last test. */
export function useLentDatabases(): () => Promise<string> {
  const lent: LentDatabase[] = [];
  afterAll(() => Promise.all(lent.map((database) => database.giveBack())));
  return async () => {
    const database = (await lendDatabase({ isEmpty: true }))!;
    lent.push(database);
    return database.url;
  };
}

/** @returns the URL of the server's first database */
async function startServer(): Promise<string> {
  removeLeftovers();
  // With autovacuum, sizes, statistics and plans would depend on the second of each minute in which a test runs.
  const settings = ['autovacuum=off'];
  const server = (await startPostgres({ folder: `${prefix}${process.pid}-`, settings }))!;
  server.unref();
  await run(server.url, 'create database migrated');
  const db = await openPostgres({ url: urlOf(server.url, 'migrated') });
  await migrate(db);
  await db.close();
  lasting()!.folders.add(server.folder);
  lasting()!.kept.set('postgres', server.url);
  return server.url;
}

/** Removes server folders of killed Jest processes. Their servers have ended with them. */
function removeLeftovers(): void {
  for (const name of readdirSync(tmpdir())) {
    const pid = name.startsWith(prefix) ? Number(name.slice(prefix.length).split('-')[0]) : process.pid;
    if (pid !== process.pid && !isProcessAlive(pid)) rmSync(join(tmpdir(), name), { recursive: true, force: true });
  }
}

function urlOf(server: string, database: string): string {
  const url = new URL(server);
  url.pathname = database;
  return url.href;
}

async function run(url: string, sql: string): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}
