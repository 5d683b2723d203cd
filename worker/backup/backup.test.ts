import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { randomUUID } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execFileSync } from 'node:child_process';
import { Secret } from '../../config/secret.js';
import type { Database } from '../../ledger/drivers/database.js';
import { openEmbedded } from '../../ledger/drivers/embedded.js';
import { openPostgres } from '../../ledger/drivers/postgres.js';
import { openLedger } from '../../ledger/ledger.js';
import { placeEmbeddedStore } from '../../test/embedded-store.js';
import { hasPostgres, startPostgres, type TestPostgres } from '../../test/postgres.js';
import { dumpPostgres, packUnusedStore, writeBackup } from './backup-store.js';
import { packStore } from './pack-store.js';
import { postgresTool } from './postgres-tool.js';
import { markStoreRestored, restoreStore } from './restore-store.js';

const mark = { sinks: ['archive', 'younger'], by: "o'brien", requestId: 'request-1' };
const folder = mkdtempSync(join(tmpdir(), 'pigeonpost-backup-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** A ledger with a sink that has delivered, one that was archived, and an import under way. */
async function fill(db: Database): Promise<void> {
  await openLedger(db);
  await db.script(`
    insert into workspaces (name) values ('before');
    insert into sinks (name, type) values ('archive', 'file'), ('left-out', 'file');
    update sinks set archived_at = now() where name = 'left-out';
    insert into pauses (scope, name, paused_by, cause, detail, fingerprint)
      values ('sink', 'archive', 'cause', 'credential', 'refused', 'a fingerprint');
    insert into pigeonholes (workspace, pigeonhole_id) values ('before', 101);
    insert into lanes (sink_id, ref, history_until) select s.id, p.ref, 0 from sinks s, pigeonholes p;
  `);
}

async function pausesIn(db: Database): Promise<unknown[]> {
  return await db.query(`select scope, name, paused_by, cause, fingerprint from pauses order by scope, name`);
}

const allPaused = ['archive', 'left-out', 'younger'].map((name) => ({
  scope: 'sink',
  name,
  paused_by: 'cause',
  cause: 'restored',
  fingerprint: null,
}));

async function expectMarked(db: Database): Promise<void> {
  expect(await pausesIn(db)).toEqual(allPaused);
  expect(await db.query(`select who, action, outcome from audit order by number`)).toEqual([
    { who: "o'brien", action: 'restore', outcome: null },
    { who: null, action: null, outcome: 'done' },
  ]);
  expect(
    await db.query('select count(*)::int as n from lanes where owner is null or lease_expires_at > now()'),
  ).toEqual([{ n: 0 }]);
}

describe('a backup of an embedded store', () => {
  const source = join(folder, 'source');
  const file = join(folder, 'store.tar.gz');
  const used = join(folder, 'used');
  const store = (name: string) => ({ kind: 'embedded', folder: join(folder, name) }) as const;

  beforeAll(async () => {
    await placeEmbeddedStore(source);
    const db = await openEmbedded({ folder: source });
    await fill(db);
    const { bytes } = await packStore(db, source);
    await db.query(`insert into workspaces (name) values ('after')`); // while the archive is still being written
    await writeBackup(file, bytes);
    expect(readdirSync(source).toSorted()).toEqual(['lock', 'postgres']);
    await db.close();
    mkdirSync(join(used, 'postgres'), { recursive: true });
    writeFileSync(join(used, 'postgres/was-here'), 'a store');
    writeFileSync(join(used, 'temporal.sqlite'), 'of the time after the backup');
  });

  it('is for its owner alone, and holds what was committed when it was asked for', async () => {
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const { facts } = await restoreStore(file, store('used'), mark);
    expect(facts?.format).toBe('pigeonpost-backup/1');
    const db = await openEmbedded({ folder: used });
    expect(await db.query('select name from workspaces')).toEqual([{ name: 'before' }]);
    await expectMarked(db);
    await db.close();
  });

  it('takes the place of a store, which is kept, and of what Temporal has since done', () => {
    const [kept] = readdirSync(used).filter((name) => name.startsWith('postgres.replaced-'));
    expect(readdirSync(used).toSorted()).toEqual(['lock', 'postgres', kept]);
    expect(readFileSync(join(used, kept!, 'was-here'), 'utf8')).toBe('a store');
  });

  it('is neither made nor restored where another process has the store', async () => {
    const holder = await openEmbedded({ folder: source });
    await expect(packUnusedStore(source, async () => undefined)).rejects.toMatchObject({ kind: 'locked' });
    await expect(restoreStore(file, store('source'), mark)).rejects.toMatchObject({ kind: 'locked' });
    await holder.close();
  });

  it('never overwrites a file, and leaves none when it breaks off', async () => {
    const older = readFileSync(file);
    await expect(packUnusedStore(source, (bytes) => writeBackup(file, bytes))).rejects.toMatchObject({ kind: 'inUse' });
    expect(readFileSync(file).equals(older)).toBe(true);
    async function* broken(): AsyncGenerator<Uint8Array> {
      yield older.subarray(0, 1000);
      throw new Error('the connection broke');
    }
    const half = join(folder, 'half.tar.gz');
    await expect(writeBackup(half, broken())).rejects.toThrow('the connection broke');
    expect(readdirSync(folder).filter((name) => name.startsWith('half'))).toEqual([]);
  });

  it('that was cut short, or is another archive, changes nothing', async () => {
    const cut = join(folder, 'cut.tar.gz');
    writeFileSync(cut, readFileSync(file).subarray(0, 20_000));
    const other = join(folder, 'other.tar.gz');
    execFileSync('tar', ['-C', folder, '-czf', other, 'source/lock']);
    for (const unusable of [cut, other]) {
      await expect(restoreStore(unusable, store('untouched'), mark)).rejects.toMatchObject({ name: 'BackupError' });
    }
    expect(readdirSync(join(folder, 'untouched'))).toEqual(['lock']);
  });

  it('is refused by an older version, which says which one is needed', async () => {
    const newer = join(folder, 'newer');
    mkdirSync(join(newer, 'postgres'), { recursive: true });
    writeFileSync(join(newer, 'postgres/PG_VERSION'), '18');
    const facts = {
      format: 'pigeonpost-backup/1',
      madeAt: '2026-11-20T09:30:00.000Z',
      pigeonpost: '9.9.9',
      migration: 9999,
      ledger: randomUUID(),
    };
    writeFileSync(join(newer, 'backup.json'), JSON.stringify(facts));
    execFileSync('tar', ['-C', newer, '-czf', `${newer}.tar.gz`, 'backup.json', 'postgres']);
    await expect(restoreStore(`${newer}.tar.gz`, store('older'), mark)).rejects.toThrow(/made by pigeonpost 9\.9\.9/);
    expect(readdirSync(join(folder, 'older'))).toEqual(['lock']);
  });

  it('that was put back by hand is marked by itself', async () => {
    await markStoreRestored(store('source'), mark);
    const db = await openEmbedded({ folder: source });
    await expectMarked(db);
    await db.close();
  });
});

(hasPostgres() ? describe : describe.skip)('a backup of a PostgreSQL store', () => {
  let postgres: TestPostgres;
  const file = join(folder, 'database.dump');
  const storeAt = (url: string) => ({ kind: 'postgres', url: new Secret(url) }) as const;

  beforeAll(async () => {
    postgres = (await startPostgres())!;
    const db = await openPostgres({ url: postgres.url });
    await fill(db);
    await dumpPostgres(storeAt(postgres.url), file);
    await db.close();
  });
  afterAll(async () => {
    await postgres.stop();
  });

  it('is restored into an empty database, with every sink paused', async () => {
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const url = await postgres.createDatabase('restored');
    await restoreStore(file, storeAt(url), mark);
    const db = await openPostgres({ url });
    expect(await db.query('select name from workspaces')).toEqual([{ name: 'before' }]);
    await expectMarked(db);
    await db.close();
  });

  it('is refused where there are tables, and where pigeonpost runs', async () => {
    await expect(restoreStore(file, storeAt(postgres.url), mark)).rejects.toMatchObject({ kind: 'inUse' });
    const url = await postgres.createDatabase('busy');
    const running = await openPostgres({ url });
    await running.query('select 1');
    await expect(restoreStore(file, storeAt(url), mark)).rejects.toThrow(/pigeonpost runs on this database/);
    await running.close();
  });

  it('that was cut short leaves the database empty', async () => {
    const cut = join(folder, 'cut.dump');
    writeFileSync(cut, readFileSync(file));
    truncateSync(cut, Math.floor(statSync(cut).size * 0.8));
    const url = await postgres.createDatabase('cut');
    await expect(restoreStore(cut, storeAt(url), mark)).rejects.toMatchObject({ name: 'BackupError' });
    const db = await openPostgres({ url });
    expect(await db.query(`select tablename from pg_tables where schemaname = 'public'`)).toEqual([]);
    await db.close();
  });

  it('needs the programs of PostgreSQL, and says which command they would run', async () => {
    await expect(
      dumpPostgres(storeAt(postgres.url), join(folder, 'none.dump'), { PATH: folder }),
    ).rejects.toMatchObject({
      kind: 'tool',
      message: expect.stringContaining('pg_dump --format=custom'),
    });
    const url = await postgres.createDatabase('without_tools');
    await expect(restoreStore(file, storeAt(url), mark, { PATH: folder })).rejects.toMatchObject({
      kind: 'tool',
      message: expect.stringContaining('--mark-only'),
    });
  });
});

describe("a store's URL for PostgreSQL's programs", () => {
  it.each([
    [
      'postgres://app:p%40ss@db.example.com:5432/pigeonpost?sslmode=require',
      'postgres://app@db.example.com:5432/pigeonpost?sslmode=require',
      'p@ss',
    ],
    [
      'postgres://db.example.com/pigeonpost?user=app&password=secret',
      'postgres://db.example.com/pigeonpost?user=app',
      'secret',
    ],
    ['postgres://app@127.0.0.1/pigeonpost', 'postgres://app@127.0.0.1/pigeonpost', undefined],
  ])('%s has its password in the environment alone', (given, url, password) => {
    const tool = postgresTool(given, { PATH: '/bin', HOOK_SECRET: 'whsec_x' });
    expect(tool.url).toBe(url);
    expect(tool.variables).toEqual(password === undefined ? { PATH: '/bin' } : { PATH: '/bin', PGPASSWORD: password });
  });
});
