import { createDeferred } from '../base/deferred.js';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startPostgres, type TestPostgres } from '../test/postgres.js';
import { until } from '../test/until.js';
import { kinds, useBothDatabases } from './drivers/both-databases.test-kit.js';
import type { Database } from './drivers/database.js';
import { openPostgres } from './drivers/postgres.js';
import { migrate } from './migrate.js';

const folder = mkdtempSync(join(tmpdir(), 'pigeonpost-migrations-'));
afterAll(() => rmSync(folder, { recursive: true }));
const setTheTable = '-- 0001: a table.\ncreate table guests (id integer primary key, name text);\n';
const buildTheIndex =
  '-- 0002: an index.\n-- Outside a transaction: guests is large.\ncreate index concurrently if not exists guests_by_name on guests (name);\n';

/** Creates a folder with these migrations, numbered from 1. */
function migrations(...texts: string[]): string {
  const made = mkdtempSync(join(folder, 'of-'));
  for (const [at, text] of texts.entries()) writeFileSync(join(made, `000${at + 1}_step_${at + 1}.sql`), text);
  return made;
}

const numbersOf = (db: Database): Promise<object[]> => db.query('select number from migrations order by 1');
const indexes = (db: Database): Promise<object[]> =>
  db.query(`select indexrelid::regclass::text as name, indisvalid as valid from pg_index
            where indrelid = 'guests'::regclass and not indisprimary order by 1`);

const databases = useBothDatabases({ isEmpty: true });

describe.each(kinds)('an index that a migration builds outside a transaction, on %s', (kind) => {
  afterEach(() => databases.of(kind).script('drop table if exists guests, migrations cascade'));

  it('is valid afterwards, and its number is recorded', async () => {
    const db = databases.of(kind);
    await migrate(db, { folder: migrations(setTheTable, buildTheIndex) });
    expect(await indexes(db)).toEqual([{ name: 'guests_by_name', valid: true }]);
    expect(await numbersOf(db)).toEqual([{ number: 1 }, { number: 2 }]);
  });

  it('is dropped and built again if an earlier attempt ended before it was complete', async () => {
    const db = databases.of(kind);
    await migrate(db, { folder: migrations(setTheTable) });
    await db.script('create index guests_by_name on guests (name)');
    await db.query(`update pg_index set indisvalid = false where indexrelid = 'guests_by_name'::regclass`);
    await migrate(db, { folder: migrations(setTheTable, buildTheIndex) });
    expect(await indexes(db)).toEqual([{ name: 'guests_by_name', valid: true }]);
  });

  it('is kept if an earlier attempt ended between the build and the record of its number', async () => {
    const db = databases.of(kind);
    const all = migrations(setTheTable, buildTheIndex);
    await migrate(db, { folder: all });
    const made = await db.query(`select 'guests_by_name'::regclass::oid as oid`);
    await db.query('delete from migrations where number = 2');
    await migrate(db, { folder: all });
    expect(await db.query(`select 'guests_by_name'::regclass::oid as oid`)).toEqual(made);
    expect(await numbersOf(db)).toEqual([{ number: 1 }, { number: 2 }]);
  });

  it('may replace another index, which is dropped the same way', async () => {
    const db = databases.of(kind);
    const replaced = `${buildTheIndex}create unique index concurrently if not exists guests_by_both on guests (name, id) where name is not null;\ndrop index concurrently if exists guests_by_name;\n`;
    await migrate(db, { folder: migrations(setTheTable, replaced) });
    expect(await indexes(db)).toEqual([{ name: 'guests_by_both', valid: true }]);
  });

  it('must be alone in its file, because any other statement could remain half done after a crash', async () => {
    const db = databases.of(kind);
    const mixed = `${buildTheIndex}insert into guests values (1, 'Ada');\n`;
    await expect(migrate(db, { folder: migrations(setTheTable, mixed) })).rejects.toThrow(/0002_step_2\.sql/);
    expect(await indexes(db)).toEqual([]);
  });
});

const onServer = kinds.includes('postgres') ? describe : describe.skip;

onServer('a migration on a server that limits statements to 300 ms', () => {
  const patience = { connectTimeoutMs: 250_000 }; // a busy server may accept a connection late
  const limits = { ...patience, statementTimeoutMs: 300, answerMarginMs: 300, idleInTransactionTimeoutMs: 300 };
  let server: TestPostgres;
  const opened: Database[] = [];
  const openWithoutLimits = async (url: string): Promise<Database> => {
    const db = await openPostgres({ url, ...patience, idleInTransactionTimeoutMs: 250_000 });
    opened.push(db);
    return db;
  };
  /** Tries until it succeeds, because on a busy machine even the statement that opens a store can exceed its limit. */
  const open = async (url: string): Promise<Database> => {
    let db: Database | undefined;
    await until('the store opens within its limits', async () => {
      db = await openPostgres({ url, ...limits }).catch(() => undefined);
      return db !== undefined;
    });
    opened.push(db!);
    return db!;
  };
  /** Returns two stores with the limits, and one without them for the test's own statements. */
  const fresh = async (name: string): Promise<[Database, Database, Database]> => {
    const url = await server.createDatabase(name);
    return [await open(url), await open(url), await openWithoutLimits(url)];
  };

  beforeAll(async () => {
    server = (await startPostgres())!;
  });
  afterAll(async () => {
    for (const db of opened) await db.close();
    await server.stop();
  });

  it('runs without a time limit, and logs its progress', async () => {
    const [db, , own] = await fresh('slow');
    const lines: string[] = [];
    const [held, finished] = [createDeferred(), createDeferred()];
    const holding = own.transaction(async (tx) => {
      await tx.query('select pg_advisory_xact_lock(1)');
      held.resolve();
      await finished.promise;
    });
    await held.promise;
    const untilFree = 'while not pg_try_advisory_xact_lock(1) loop perform pg_sleep(0.05); end loop';
    const slow = `-- 0002: takes long.\ndo $$ begin ${untilFree}; end $$;\n`;
    const migrating = migrate(db, {
      folder: migrations(setTheTable, slow),
      onProgress: (line) => lines.push(line),
      everyMs: 250,
    });
    // Three lines need more time than a statement and its answer may take.
    const progressLines = (): string[] => lines.filter((line) => /0002_step_2.* \d+ s/.test(line));
    await Promise.race([until('it has logged three lines', () => progressLines().length >= 3), migrating]);
    finished.resolve();
    await Promise.all([holding, migrating]);
    expect(await numbersOf(own)).toHaveLength(2);
    expect(progressLines().length).toBeGreaterThanOrEqual(3);
  });

  it('waits for a lock in short attempts, lets readers through between them, and finishes once the lock is free', async () => {
    const [db, other, own] = await fresh('locked');
    await migrate(db, { folder: migrations(setTheTable) });
    const add = '-- 0002: a column.\nalter table guests add column seat integer;\n';
    const waits = { lockTimeoutMs: 300, giveUpAfterMs: 250_000, maxPauseMs: 200 };
    let finish!: () => void;
    const unfinished = new Promise<void>((resolve) => {
      finish = resolve;
    });
    const holding = own.transaction(async (tx) => {
      await tx.query('select from guests');
      await unfinished;
    });
    await until('the table is in use', async () => (await readLocks(own)) > 0);
    const folderOfBoth = migrations(setTheTable, add);
    await expect(migrate(db, { folder: folderOfBoth, waits: { ...waits, giveUpAfterMs: 0 } })).rejects.toMatchObject({
      kind: 'busy',
      message: expect.stringMatching(/^0002_step_2\.sql needs a table .*: end that session, then start again/),
    });
    const lines: string[] = [];
    const migrating = migrate(db, { folder: folderOfBoth, waits, onProgress: (line) => lines.push(line) });
    const waiting =
      /\(probably process \d+ of the server: pigeonpost, idle in transaction.*\): trying again in 0\.2 s$/;
    await until('two attempts are over', () => lines.filter((line) => waiting.test(line)).length >= 2);
    await until('a reader gets through', () =>
      other.query('select from guests').then(
        () => true,
        () => false,
      ),
    );
    finish();
    await Promise.all([holding, migrating]);
    expect(await numbersOf(own)).toHaveLength(2);
  });

  it('makes another process wait until it is finished, even if that takes longer than a statement may', async () => {
    const [first, second, own] = await fresh('waited');
    const slow = '-- 0002: takes long.\nselect pg_sleep(1.5);\n';
    const all = migrations(setTheTable, slow);
    await Promise.all([migrate(first, { folder: all }), migrate(second, { folder: all })]);
    expect(await numbersOf(own)).toHaveLength(2);
  });

  // A process that waits within a statement holds a snapshot, and an index build outside a transaction waits for that
  // snapshot.
  it('builds an index while another process waits for it and a third one writes', async () => {
    const [first, second, own] = await fresh('written');
    await migrate(first, { folder: migrations(setTheTable) });
    const all = migrations(setTheTable, buildTheIndex);
    let finish!: () => void;
    const unfinished = new Promise<void>((resolve) => {
      finish = resolve;
    });
    const lines: string[] = [];
    const writing = own.transaction(async (tx) => {
      await tx.query(`insert into guests values (1, 'Ada')`);
      await unfinished;
    });
    await until('a row is written, not committed', async () => (await lockedTables(own)) > 0);
    const migrating = [first, second].map((db) =>
      migrate(db, { folder: all, everyMs: 50, onProgress: (line) => lines.push(line) }),
    );
    await until('the build waits for the writer', () => lines.some((line) => /waiting for writers/.test(line)));
    await until('the other waits for the build', () => lines.some((line) => /another process/.test(line)));
    await own.query(`insert into guests values (2, 'Grace')`); // never ends if it waits for the build, which waits for `finish`
    finish();
    await Promise.all([...migrating, writing]);
    expect(await indexes(own)).toEqual([{ name: 'guests_by_name', valid: true }]);
  });

  it('is completed by the next start if its connection dies during an index build', async () => {
    const [first, second, own] = await fresh('killed');
    await migrate(first, { folder: migrations(setTheTable) });
    const all = migrations(setTheTable, buildTheIndex);
    let finish!: () => void;
    const unfinished = new Promise<void>((resolve) => {
      finish = resolve;
    });
    const writing = own.transaction(async (tx) => {
      await tx.query(`insert into guests values (1, 'Ada')`);
      await unfinished;
    });
    await until('a row is written, not committed', async () => (await lockedTables(own)) > 0);
    const died = migrate(first, { folder: all }).then(
      () => 'it ended well',
      (error: unknown) => error,
    );
    await until('the build left an index', async () => (await indexes(own)).length > 0);
    await own.query(`select pg_terminate_backend(pid) from pg_stat_progress_create_index`);
    expect(await died).toMatchObject({ name: 'StoreError', kind: 'unreachable' });
    finish();
    await writing;
    expect(await indexes(own)).toEqual([{ name: 'guests_by_name', valid: false }]);
    await migrate(second, { folder: all });
    expect(await indexes(own)).toEqual([{ name: 'guests_by_name', valid: true }]);
  });

  const lockedTables = async (db: Database): Promise<number> => {
    const [row] = await db.query<{ n: number }>(
      `select count(*)::int as n from pg_locks where relation = 'guests'::regclass and mode = 'RowExclusiveLock'`,
    );
    return row!.n;
  };
  const readLocks = async (db: Database): Promise<number> => {
    const [row] = await db.query<{ n: number }>(
      `select count(*)::int as n from pg_locks where relation = 'guests'::regclass and mode = 'AccessShareLock'`,
    );
    return row!.n;
  };
});
