import {
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { randomUUID } from 'node:crypto';
import promises from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execFileSync } from 'node:child_process';
import { Secret } from '../../config/secret.js';
import type { Database } from '../../ledger/drivers/database.js';
import { openEmbedded } from '../../ledger/drivers/embedded.js';
import { openPostgres } from '../../ledger/drivers/postgres.js';
import { LedgerKey } from '../../ledger/ledger-key.js';
import { type Ledger, openLedger } from '../../ledger/ledger.js';
import { testKey, testLedgerKey } from '../../ledger/ledger-key.test-kit.js';
import { readErasureList, takeOverErasures } from '../../people/erasure-list.js';
import { noteCleared, requestErasure } from '../../people/erasure-states.js';
import { hasPostgres, startPostgres, type TestPostgres } from '../../test/postgres.js';
import { packUnusedStore, writeBackup, packStore } from './backup-store.js';
import { restoreEmbedded } from './restore-embedded.js';
import { markStoreRestored, readErasureListFile } from './restore-store.js';

const noTerms = { erasures: null, otherLedger: false };
const terms = { erasures: null, otherLedger: false, configuredKey: testLedgerKey };
const mark = { sinks: ['archive', 'younger'], by: "o'brien", requestId: 'request-1' };
const folder = mkdtempSync(join(tmpdir(), 'pigeonpost-backup-'));
afterAll(() => rmSync(folder, { recursive: true }));

function replaceByLink(path: string, target: string): void {
  rmSync(path, { recursive: true });
  symlinkSync(target, path);
}

/** Fills a ledger with a paused sink, an archived sink, a pigeonhole, and their lanes. */
async function fill(db: Database): Promise<void> {
  await openLedger(db, testKey);
  await db.script(`
    insert into workspaces (name) values ('before');
    insert into sinks (name, type) values ('archive', 'file'), ('left-out', 'file');
    update sinks set archived_at = now() where name = 'left-out';
    insert into pauses (scope, name, paused_by, cause, detail, fingerprint)
      values ('sink', 'archive', 'cause', 'credential', 'refused', 'a fingerprint');
    insert into pigeonholes (workspace, pigeonhole_id) values ('before', 101);
    insert into lanes (sink_id, pigeonhole_number, history_until) select s.id, p.pigeonhole_number, 0
      from sinks s, pigeonholes p;
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

/** Forgets a person in a pigeonhole that the backup contains and, with the same id, in one that it does not. */
async function forgetSomebody(ledger: Ledger): Promise<void> {
  await ledger.db.query(`insert into pigeonholes (workspace, pigeonhole_id) values ('before', 102)`);
  const pigeonholes = await ledger.db.query<{ pigeonholeNumber: number; pigeonhole_id: number }>(
    'select pigeonhole_number as "pigeonholeNumber", pigeonhole_id from pigeonholes',
  );
  const places = pigeonholes.map(({ pigeonholeNumber, pigeonhole_id: pigeonholeId }) => {
    return { pigeonholeNumber, workspace: 'before', pigeonholeId, attendeeIds: [11], codes: ['MARK-code'] };
  });
  await requestErasure(ledger, {
    id: randomUUID(),
    names: { asked: '11', places },
    by: null,
    reason: null,
    sharing: 0,
  });
}

async function expectForgotten({ db, hash }: Ledger): Promise<void> {
  expect(await db.query('select ended_at, reason from erasures')).toEqual([
    { ended_at: null, reason: 'carried over from before the restore' },
  ]);
  const people = await db.query<{ subject: Buffer }>(`select subject from forgotten where workspace = 'before'`);
  expect(people.map(({ subject }) => subject.toString('hex')).toSorted()).toEqual(
    (['named', 'anonymous'] as const).map((as) => hash.subject('before', 11, as).toString('hex')).toSorted(),
  );
  const codes = await db.query<{ pigeonhole_id: number; code_hash: Buffer }>(
    `select p.pigeonhole_id, c.code_hash from forgotten_codes c
       join pigeonholes p on p.pigeonhole_number = c.pigeonhole_number order by 1`,
  );
  const code = hash.attendeeCode('MARK-code');
  expect(codes).toEqual([101, 102].map((id) => ({ pigeonhole_id: id, code_hash: code })));
}

/** A person with personal data in an item, an import and the reason of the erasure, who is then erased. */
async function eraseMarked(db: Database): Promise<void> {
  const ledger = await openLedger(db, testKey);
  await fill(db);
  const payload = JSON.stringify({ id: 11, Name: 'MARK-erased', Email: 'MARK-erased@example.com' });
  await db.query(
    `insert into items (pigeonhole_number, list, key, stream_id, revision, content_hash, payload, rules, seen_at,
       last_sequence)
     select 1, 'attendees', n::text, 1, 1, '', case when n = 11 then $1 else '{}' end::json, '', now(), n from generate_series(1, 2000) n`,
    [payload],
  );
  await db.query(
    `insert into imports (id, pigeonhole_number, file, mapping, chunk_size) values ($1, 1, 'MARK-erased.csv', '{}', 1)`,
    [randomUUID()],
  );
  const id = randomUUID();
  const place = {
    pigeonholeNumber: 1,
    workspace: 'before',
    pigeonholeId: 101,
    attendeeIds: [11],
    codes: ['MARK-erased'],
  };
  const names = { asked: 'MARK-erased@example.com', places: [place] };
  await requestErasure(ledger, { id, names, by: null, reason: 'MARK-erased has asked by mail', sharing: 0 });
  await db.script('analyze; checkpoint');
  await db.query(`update items set payload = null, erased = true where payload::text like '%MARK%'`);
  await db.query(`update imports set file = '(name erased)' where file like '%MARK%'`);
  await noteCleared(ledger, 1);
}

describe('a backup of an embedded store', () => {
  const source = join(folder, 'source');
  const file = join(folder, 'store.tar.gz');
  const used = join(folder, 'used');
  const folderOf = (name: string): string => join(folder, name);

  beforeAll(async () => {
    const db = await openEmbedded({ folder: source });
    await fill(db);
    const bytes = await packStore(db, source);
    await db.query(`insert into workspaces (name) values ('after')`); // while the archive is still being written
    await writeBackup(file, bytes);
    expect(readdirSync(source).toSorted()).toEqual(['lock', 'postgres']);
    await db.close();
    mkdirSync(join(used, 'postgres'), { recursive: true });
    writeFileSync(join(used, 'postgres/was-here'), 'a store');
    writeFileSync(join(used, 'temporal.sqlite'), 'of the time after the backup');
  });

  it('is readable only by its owner, and contains the data committed at the time of the request', async () => {
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const { facts } = await restoreEmbedded(file, folderOf('used'), mark, terms);
    expect(facts?.format).toBe('pigeonpost-backup/1');
    const db = await openEmbedded({ folder: used });
    expect(await db.query('select name from workspaces')).toEqual([{ name: 'before' }]);
    await expectMarked(db);
    await db.close();
  });

  it('replaces a store, which is kept under another name, and deletes the database of Temporal', () => {
    const [kept] = readdirSync(used).filter((name) => name.startsWith('postgres.replaced-'));
    expect(readdirSync(used).toSorted()).toEqual(['lock', 'postgres', kept]);
    expect(readFileSync(join(used, kept!, 'was-here'), 'utf8')).toBe('a store');
  });

  it('leaves the old or the restored store if it is killed before any of its renames, never an empty one', async () => {
    const found: string[] = [];
    for (let before = 0, isKilled = true; isKilled; before += 1) {
      const place = join(folder, `killed-${before}`);
      const old = await openEmbedded({ folder: place });
      await openLedger(old, testKey);
      await old.script(`insert into workspaces (name) values ('old')`);
      await old.close();
      const { rename } = promises;
      let calls = 0;
      const dying = jest.spyOn(promises, 'rename').mockImplementation(async (from, to) => {
        if (calls++ === before) throw new Error('killed');
        await rename(from, to);
      });
      const restoring = restoreEmbedded(file, place, mark, { ...terms, otherLedger: true });
      isKilled = await restoring.then(
        () => false,
        () => true,
      );
      dying.mockRestore();
      const db = await openEmbedded({ folder: place });
      const [{ name } = { name: 'none' }] = await db.query<{ name: string }>('select name from workspaces');
      if (name === 'before') await expectMarked(db);
      await db.close();
      expect(readdirSync(place)).not.toContain('postgres.restored');
      found.push(name);
    }
    expect(found).toEqual(['old', 'old', 'before', 'before']);
  });

  it('keeps people forgotten whose erasure is recorded only in the replaced store', async () => {
    expect((await restoreEmbedded(file, folderOf('since'), mark, terms)).erasures).toBeNull();
    const since = join(folder, 'since');
    const there = await openEmbedded({ folder: since });
    await forgetSomebody(await openLedger(there, testKey));
    await there.close();
    expect((await restoreEmbedded(file, folderOf('since'), mark, terms)).erasures).toBe(1);
    const db = await openEmbedded({ folder: since });
    await expectForgotten(await openLedger(db, testKey));
    expect(await takeOverErasures(db, await readErasureList(db))).toBe(0);
    await db.close();
  });

  it('of another ledger replaces a store only if the operator confirms it', async () => {
    const other = join(folder, 'another');
    const db = await openEmbedded({ folder: other });
    await openLedger(db, testKey);
    await db.query('update ledger set id = $1', [randomUUID()]);
    await db.close();
    await expect(restoreEmbedded(file, folderOf('another'), mark, terms)).rejects.toMatchObject({
      kind: 'otherLedger',
    });
    expect(readdirSync(other).toSorted()).toEqual(['lock', 'postgres']);
    const { erasures } = await restoreEmbedded(file, folderOf('another'), mark, { ...terms, otherLedger: true });
    expect(erasures).toBeNull();
  });

  it('does not contain the key of its ledger, and cannot be restored without it', async () => {
    const keyless = { erasures: null, otherLedger: false };
    await expect(restoreEmbedded(file, folderOf('keyless'), mark, keyless)).rejects.toMatchObject({
      kind: 'key',
      message: expect.stringContaining('--key-file'),
    });
    const other = { ...keyless, key: LedgerKey.generate() };
    await expect(restoreEmbedded(file, folderOf('keyless'), mark, other)).rejects.toMatchObject({ kind: 'key' });
    expect(readdirSync(join(folder, 'keyless'))).toEqual(['lock']);
    await restoreEmbedded(file, folderOf('keyless'), mark, { ...keyless, key: testLedgerKey });
    const kept = join(folder, 'keyless/ledger.key');
    expect([readFileSync(kept, 'utf8'), statSync(kept).mode & 0o777]).toEqual([testLedgerKey.reveal(), 0o600]);
    await restoreEmbedded(file, folderOf('keyless'), mark, keyless); // the key file is now in the folder
    expect(readdirSync(join(folder, 'keyless')).filter((name) => name.startsWith('ledger.key'))).toEqual([
      'ledger.key',
    ]);
  });

  it('contains nothing of a person who was erased before, not even in dead rows, old log or statistics', async () => {
    const erased = join(folder, 'erased');
    const db = await openEmbedded({ folder: erased });
    await eraseMarked(db);
    await db.close();
    // The files of the store still contain the text, so a copy of them would as well.
    expect(() => execFileSync('grep', ['-rqa', 'MARK-erased', join(erased, 'postgres')])).not.toThrow();
    const archive = join(folder, 'erased.tar.gz');
    await packUnusedStore(erased, (bytes) => writeBackup(archive, bytes));
    const unpacked = join(folder, 'erased-unpacked');
    mkdirSync(unpacked);
    execFileSync('tar', ['-C', unpacked, '-xzf', archive]);
    expect(() => execFileSync('grep', ['-rqa', 'MARK-erased', unpacked])).toThrow(); // grep exits with 1 if it finds nothing
    await restoreEmbedded(archive, folderOf('erased-restored'), mark, terms);
    const restored = await openEmbedded({ folder: join(folder, 'erased-restored') });
    expect(await restored.query('select count(*)::int as n from items')).toEqual([{ n: 2000 }]);
    await restored.close();
  });

  it('is neither created nor restored while another process uses the store', async () => {
    const holder = await openEmbedded({ folder: source });
    await expect(packUnusedStore(source, async () => undefined)).rejects.toMatchObject({ kind: 'locked' });
    await expect(restoreEmbedded(file, folderOf('source'), mark, noTerms)).rejects.toMatchObject({ kind: 'locked' });
    await holder.close();
  });

  it('never overwrites a file, and leaves no partial file after a failure', async () => {
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

  it('that is incomplete or another kind of archive changes nothing', async () => {
    const cut = join(folder, 'cut.tar.gz');
    writeFileSync(cut, readFileSync(file).subarray(0, 20_000));
    const other = join(folder, 'other.tar.gz');
    execFileSync('tar', ['-C', folder, '-czf', other, 'source/lock']);
    const text = join(folder, 'text.tar.gz');
    writeFileSync(text, 'no archive');
    for (const unusable of [cut, other, text]) {
      await expect(restoreEmbedded(unusable, folderOf('untouched'), mark, noTerms)).rejects.toMatchObject({
        name: 'BackupError',
        message: expect.stringContaining('is not a complete backup of an embedded store'),
      });
    }
    expect(readdirSync(join(folder, 'untouched'))).toEqual(['lock']);
  });

  it.each<[string, (unpacked: string) => void, string[]]>([
    ['a link to a path outside the store', (at) => symlinkSync(folder, join(at, 'postgres/pg_link')), []],
    ['a link out of its folder', (at) => symlinkSync('../../..', join(at, 'postgres/pg_link')), []],
    ['a link in place of a folder', (at) => replaceByLink(join(at, 'postgres/base'), folder), []],
    ['a hard link', (at) => linkSync(join(at, 'postgres/PG_VERSION'), join(at, 'postgres/again')), []],
    ['a named pipe', (at) => void execFileSync('mkfifo', [join(at, 'postgres/pipe')]), []],
    [
      'a path that leaves the folder',
      (at) => writeFileSync(join(at, 'postgres/out'), ''),
      ['--transform=s#postgres/out#postgres/../../out#'],
    ],
    [
      'an absolute path',
      (at) => writeFileSync(join(at, 'postgres/out'), ''),
      [`--transform=s#postgres/out#${folder}/out#`],
    ],
  ])('with %s is refused, and none of its files is written', async (what, spoil, more) => {
    const name = what.replaceAll(' ', '-');
    const unpacked = join(folder, `unpacked-${name}`);
    mkdirSync(unpacked);
    // Only the parts that identify a backup. A whole store would only take longer to pack.
    execFileSync('tar', [
      '-C',
      unpacked,
      '-xzf',
      file,
      'backup.json',
      'postgres/PG_VERSION',
      'postgres/base/5/PG_VERSION',
    ]);
    spoil(unpacked);
    const hostile = join(folder, `${name}.tar.gz`);
    execFileSync('tar', ['-C', unpacked, '-P', ...more, '-czf', hostile, 'backup.json', 'postgres']);
    rmSync(unpacked, { recursive: true });
    const before = readdirSync(folder);
    await expect(restoreEmbedded(hostile, folderOf(`into-${name}`), mark, noTerms)).rejects.toMatchObject({
      kind: 'unusable',
    });
    expect(readdirSync(join(folder, `into-${name}`))).toEqual(['lock']);
    expect(readdirSync(folder)).toEqual([...before, `into-${name}`].toSorted());
  });

  it('of a newer pigeonpost is refused, and the message names the version that made it', async () => {
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
    await expect(restoreEmbedded(`${newer}.tar.gz`, folderOf('older'), mark, noTerms)).rejects.toThrow(
      /pigeonpost 9\.9\.9 made the backup/,
    );
    expect(readdirSync(join(folder, 'older'))).toEqual(['lock']);
  });

  it('whose files were copied back by hand is marked as restored, with every sink paused', async () => {
    await markStoreRestored({ kind: 'embedded', folder: source }, mark, noTerms);
    const db = await openEmbedded({ folder: source });
    await expectMarked(db);
    await db.close();
  });
});

(hasPostgres() ? describe : describe.skip)('a PostgreSQL store that was restored by pg_restore', () => {
  let postgres: TestPostgres;
  const file = join(folder, 'database.dump');
  const storeAt = (url: string) => ({ kind: 'postgres', url: new Secret(url) }) as const;

  beforeAll(async () => {
    postgres = (await startPostgres())!;
    const db = await openPostgres({ url: postgres.url });
    await fill(db);
    execFileSync('pg_dump', [...asDocumented, '--format=custom', `--file=${file}`, postgres.url]);
    await db.close();
  });
  afterAll(async () => {
    await postgres.stop();
  });
  const asDocumented = ['--no-owner', '--no-privileges'];
  async function restoredDatabase(name: string): Promise<string> {
    const url = await postgres.createDatabase(name);
    execFileSync('pg_restore', [...asDocumented, '--single-transaction', `--dbname=${url}`, file]);
    return url;
  }

  it('comes from a dump that holds nothing of what was erased before it', async () => {
    const url = await postgres.createDatabase('erased');
    const db = await openPostgres({ url });
    await eraseMarked(db);
    await db.close();
    const dump = execFileSync('pg_dump', [...asDocumented, url], { encoding: 'utf8' });
    expect(dump).toContain('COPY public.items');
    expect(dump).not.toContain('MARK-erased');
  });

  it('is marked as restored, with every sink paused', async () => {
    const url = await restoredDatabase('restored');
    expect(await markStoreRestored(storeAt(url), mark, terms)).toEqual({ erasures: null, keyProblem: null });
    const db = await openPostgres({ url });
    expect(await db.query('select name from workspaces')).toEqual([{ name: 'before' }]);
    await expectMarked(db);
    await db.close();
  });

  it('is marked as restored without its key or with another key, and names the required key', async () => {
    const url = await restoredDatabase('without_key');
    const without = await markStoreRestored(storeAt(url), mark, { erasures: null });
    expect(without.keyProblem).toMatch(/set LEDGER_KEY before you start/);
    const other = await markStoreRestored(storeAt(url), mark, { erasures: null, configuredKey: LedgerKey.generate() });
    expect(other.keyProblem).toMatch(/LEDGER_KEY is not the key of the restored ledger/);
  });

  it('carries over a list of people erased since the backup, but no list of another ledger', async () => {
    const db = await openPostgres({ url: postgres.url });
    await forgetSomebody(await openLedger(db, testKey));
    const list = join(folder, 'erasures.json');
    writeFileSync(list, JSON.stringify(await readErasureList(db)));
    await db.close();
    const erasures = await readErasureListFile(list);
    const url = await restoredDatabase('restored_later');
    expect(await markStoreRestored(storeAt(url), mark, { ...terms, erasures })).toMatchObject({ erasures: 1 });
    const restored = await openPostgres({ url });
    await expectForgotten(await openLedger(restored, testKey));
    await restored.close();
    const strange = { ...terms, erasures: { ...erasures, ledger: randomUUID() } };
    await expect(markStoreRestored(storeAt(url), mark, strange)).rejects.toMatchObject({ kind: 'otherLedger' });
    writeFileSync(list, '{"ledger":"none"}');
    await expect(readErasureListFile(list)).rejects.toMatchObject({ kind: 'unusable' });
  });

  it('is refused while pigeonpost uses it', async () => {
    const url = await postgres.createDatabase('busy');
    const running = await openPostgres({ url });
    await running.query('select 1');
    await expect(markStoreRestored(storeAt(url), mark, terms)).rejects.toThrow(/pigeonpost runs on this database/);
    await running.close();
  });

  it('is marked as restored directly after pigeonpost has stopped, while the server still ends its connections', async () => {
    const url = await postgres.createDatabase('just_stopped');
    const stopping = await openPostgres({ url });
    await stopping.query('select 1');
    const marked = markStoreRestored(storeAt(url), mark, terms);
    const ended = pause(500).then(() => stopping.close());
    await expect(marked).resolves.toMatchObject({ keyProblem: null });
    await ended;
  });
});
