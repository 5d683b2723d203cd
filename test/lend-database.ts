import { randomUUID } from 'node:crypto';
import { readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { openPostgres } from '../ledger/drivers/postgres.js';
import { migrate } from '../ledger/migrate.js';
import { isProcessAlive } from './is-process-alive.js';
import { lasting } from './lasting.js';
import { hasPostgres, startPostgres } from './postgres.js';

/** A database that nobody else uses. */
export interface LentDatabase {
  readonly url: string;
  /** Drops it, and ends what is still connected to it. */
  giveBack(): Promise<void>;
}

const prefix = 'pigeonpost-lent-';

/**
 * Lends a database of the PostgreSQL server that all test files of one of Jest's processes share: 50 ms instead of a
 * second for a server with the newest schema. A test that kills or configures its server, or lists all of its
 * databases, starts one of its own by `startPostgres`.
 * @returns null where no server can be started
 */
export async function lendDatabase({ isEmpty = false } = {}): Promise<LentDatabase | null> {
  if (!hasPostgres()) return null;
  const server = lasting()!.kept.get('postgres') ?? (await startServer());
  const name = `lent_${randomUUID().replaceAll('-', '')}`;
  await run(server, `create database ${name} template ${isEmpty ? 'template1' : 'migrated'}`);
  return {
    url: urlOf(server, name),
    giveBack: () => run(server, `drop database ${name} with (force)`),
  };
}

/** Returns what lends empty databases to the tests of a file, by their URLs, and drops them after the last test. */
export function useLentDatabases(): () => Promise<string> {
  const lent: LentDatabase[] = [];
  afterAll(() => Promise.all(lent.map((database) => database.giveBack())));
  return async () => {
    const database = (await lendDatabase({ isEmpty: true }))!;
    lent.push(database);
    return database.url;
  };
}

/** @returns the URL of its first database */
async function startServer(): Promise<string> {
  removeLeftovers();
  const server = (await startPostgres({ folder: `${prefix}${process.pid}-` }))!;
  server.unref();
  await run(server.url, 'create database migrated');
  const db = await openPostgres({ url: urlOf(server.url, 'migrated') });
  await migrate(db);
  await db.close();
  lasting()!.folders.add(server.folder);
  lasting()!.kept.set('postgres', server.url);
  return server.url;
}

/** A process of Jest's that was killed has left its server's folder. The server itself ended with it. */
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
