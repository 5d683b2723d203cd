import { randomBytes, randomUUID } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { kinds, useBothDatabases } from './drivers/both-databases.test-kit.js';
import type { Database } from './drivers/database.js';
import { givenKey, keyFile, type KeyPlace, LedgerKey } from './ledger-key.js';
import { KeyedHash } from './keyed-hash.js';
import { openLedger } from './ledger.js';
import { migrate } from './migrate.js';

const databases = useBothDatabases();
const folder = mkdtempSync(join(tmpdir(), 'pigeonpost-key-'));
afterAll(() => rmSync(folder, { recursive: true }));

let number = 0;
const freshFile = (): string => join(folder, `of-${(number += 1)}`, 'ledger.key');
const beside = (file: string): KeyPlace => keyFile(file, { lastsAsStore: true });
const apart = (file: string): KeyPlace => keyFile(file, { lastsAsStore: false });

async function emptied(kind: Database['kind']): Promise<Database> {
  const db = databases.of(kind);
  await migrate(db);
  await db.query('delete from ledger');
  return db;
}

/** Creates a ledger as versions before decision 0048 did, with its keys in the store. */
async function madeBefore(kind: Database['kind']): Promise<{ db: Database; keys: [Buffer, Buffer, Buffer] }> {
  const db = await emptied(kind);
  const keys: [Buffer, Buffer, Buffer] = [randomBytes(32), randomBytes(32), randomBytes(32)];
  await db.query('insert into ledger (id, hash_key, subject_key, fingerprint_key) values ($1, $2, $3, $4)', [
    randomUUID(),
    ...keys,
  ]);
  return { db, keys };
}

const storedKeys = (db: Database): Promise<unknown[]> =>
  db.query('select hash_key, subject_key, fingerprint_key, key_check is not null as checked from ledger');
const urlOf = async (db: Database): Promise<string> => {
  const [row] = await db.query<{ url: string }>(
    `select concat('postgres://', current_user, '@127.0.0.1:', current_setting('port'), '/', current_database()) as url`,
  );
  return row!.url;
};
const removed = [{ hash_key: null, subject_key: null, fingerprint_key: null, checked: true }];

describe.each(kinds)('the key of a ledger on %s', (kind) => {
  it('is created with the ledger in a file that only its owner can read, and is never in the store', async () => {
    const db = await emptied(kind);
    const file = freshFile();
    const ledger = await openLedger(db, apart(file));
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readdirSync(join(file, '..')).toSorted()).toEqual(['.gitignore', 'ledger.key']);
    expect(await storedKeys(db)).toEqual(removed);
    const again = await openLedger(db, apart(file));
    expect([again.id, again.hash.content('{}')]).toEqual([ledger.id, ledger.hash.content('{}')]);
  });

  it('is the same for processes that create the ledger at the same time', async () => {
    const db = await emptied(kind);
    const file = freshFile();
    const opened = await Promise.all([1, 2, 3].map(() => openLedger(db, apart(file))));
    expect(new Set(opened.map(({ hash }) => hash.content('{}').toString('hex'))).size).toBe(1);
  });

  it('is required: a process with another key or without one is refused in one sentence', async () => {
    const db = await emptied(kind);
    const ledger = await openLedger(db, givenKey(LedgerKey.generate()));
    const none = freshFile();
    await expect(openLedger(db, apart(none))).rejects.toMatchObject({
      kind: 'key',
      message: expect.stringContaining(`not in ${none}`),
    });
    expect(existsSync(none)).toBe(false);
    const other = expect.stringContaining('belongs to another ledger');
    const given = givenKey(LedgerKey.generate());
    await expect(openLedger(db, given)).rejects.toMatchObject({ kind: 'key', message: other });
    const broken = join(folder, 'broken.key');
    writeFileSync(broken, 'no key');
    await expect(openLedger(db, apart(broken))).rejects.toMatchObject({ kind: 'key' });
    expect(ledger.id).toBeDefined();
  });

  it('moves from the store of an earlier version to a file at the first start, and gives the same hashes', async () => {
    const { db, keys } = await madeBefore(kind);
    const [hash, subject, fingerprint] = keys;
    const file = freshFile();
    const ledger = await openLedger(db, beside(file));
    expect(await storedKeys(db)).toEqual(removed);
    const before = new KeyedHash({ hash, subject, fingerprint });
    expect(ledger.hash.subject('acme', 7, 'anonymous')).toEqual(before.subject('acme', 7, 'anonymous'));
    expect(ledger.hash.rowKey('[]')).toBe(before.rowKey('[]'));
    expect((await openLedger(db, beside(file))).hash.content('{}')).toEqual(before.content('{}'));
    // The old version of the row must not remain either: the table has one row, and its file contains nothing else.
    const [size] = await db.query<{ pages: number; dead: number }>(
      `select (pg_relation_size('ledger') / current_setting('block_size')::int)::int as pages, count(*)::int as dead from ledger`,
    );
    expect(size).toEqual({ pages: 1, dead: 1 });
    expect(await db.query(`select ctid::text as place from ledger`)).toEqual([{ place: '(0,1)' }]);
  });

  // The embedded store has only one session.
  (kind === 'postgres' ? it : it.skip)(
    'leaves no copy in the files of the database, even if another session has an older snapshot',
    async () => {
      const { db, keys } = await madeBefore(kind);
      await db.query(`update ledger set cluster_id = 'a', namespace = 'b', created_at = '2026-11-21T09:00:00.123456Z'`);
      const row = () => db.query('select id, singleton, cluster_id, namespace, created_at::text from ledger');
      const before = await row();
      const other = new Client({ connectionString: await urlOf(db) });
      await other.connect();
      await other.query('begin isolation level repeatable read; select 1 from sinks');
      await openLedger(db, beside(freshFile()));
      await other.end();
      expect(await storedKeys(db)).toEqual(removed);
      expect(await row()).toEqual(before);
      await db.script('checkpoint'); // writes the file
      const [{ content }] = (await db.query(
        `select pg_read_binary_file(pg_relation_filepath('ledger')) as content`,
      )) as [{ content: Buffer }];
      expect(keys.filter((key) => content.includes(key))).toEqual([]);
    },
  );

  it('stays in the database until a later start finds the key file, because the file of a container may not survive', async () => {
    const { db } = await madeBefore(kind);
    const file = freshFile();
    const notices: string[] = [];
    await openLedger(db, apart(file), { onNotice: (notice) => notices.push(notice) });
    expect(notices).toEqual([expect.stringContaining(`now also in ${file}`)]);
    expect(await storedKeys(db)).toMatchObject([{ checked: false }]);
    rmSync(file); // the container is replaced, and its file is lost
    await openLedger(db, apart(file));
    expect(await storedKeys(db)).toMatchObject([{ checked: false }]);
    await openLedger(db, apart(file), { onNotice: (notice) => notices.push(notice) });
    expect(notices).toHaveLength(1);
    expect(await storedKeys(db)).toEqual(removed);
  });

  it('is refused if it is not the key that the database contains', async () => {
    const { db } = await madeBefore(kind);
    await expect(openLedger(db, givenKey(LedgerKey.generate()))).rejects.toMatchObject({
      kind: 'key',
      message: expect.stringContaining('pigeonpost key export'),
    });
    expect(await storedKeys(db)).toMatchObject([{ checked: false }]);
  });

  it('stays in the database while the key file cannot be written', async () => {
    const { db } = await madeBefore(kind);
    const closed = join(folder, 'a-file');
    writeFileSync(closed, '');
    chmodSync(closed, 0o600);
    const nowhere = apart(join(closed, 'ledger.key')); // no file can be created below a file
    const notices: string[] = [];
    await openLedger(db, nowhere, { onNotice: (notice) => notices.push(notice) });
    expect(notices).toEqual([expect.stringContaining('still in the database')]);
    await db.query('delete from ledger');
    await expect(openLedger(db, nowhere)).rejects.toMatchObject({ message: expect.stringContaining('LEDGER_KEY') });
  });
});

describe('the text form of a key', () => {
  it('is accepted in both alphabets of base64 and with surrounding white space', () => {
    const bytes = Buffer.alloc(32, 0xfb);
    for (const text of [bytes.toString('base64'), bytes.toString('base64url'), `${bytes.toString('base64')}\n`]) {
      expect(LedgerKey.parse(text)?.reveal()).toBe(bytes.toString('base64url'));
    }
  });

  it.each(['', 'changeme', 'x'.repeat(42), Buffer.alloc(31).toString('base64'), Buffer.alloc(64).toString('base64')])(
    'is invalid with another length: %j',
    (text) => {
      expect(LedgerKey.parse(text)).toBeUndefined();
    },
  );

  it('is hidden when a key is printed or converted to JSON', () => {
    const key = LedgerKey.generate();
    expect(`${String(key)} ${JSON.stringify({ key })}`).toBe('[secret] {"key":"[secret]"}');
  });
});

it('does not overwrite an existing key file', async () => {
  const file = freshFile();
  const key = LedgerKey.generate();
  await beside(file).keep(key);
  expect((await beside(file).keep(LedgerKey.generate()))?.equals(key)).toBe(true);
  expect(readFileSync(file, 'utf8')).toBe(key.reveal());
});
