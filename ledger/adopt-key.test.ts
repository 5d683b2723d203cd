import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { kinds, useBothDatabases } from './drivers/both-databases.test-kit.js';
import type { Database } from './drivers/database.js';
import { givenKey, keyFile, type KeyPlace, LedgerKey } from './ledger-key.js';
import { openLedger } from './ledger.js';
import { migrate } from './migrate.js';

const databases = useBothDatabases();
const folder = mkdtempSync(join(tmpdir(), 'pigeonpost-key-'));
afterAll(() => rmSync(folder, { recursive: true }));

let number = 0;
const freshFile = (): string => join(folder, `of-${(number += 1)}`, 'ledger.key');
const beside = (file: string): KeyPlace => keyFile(file, { isBesideSources: false });
const apart = (file: string): KeyPlace => keyFile(file, { isBesideSources: true });

async function emptied(kind: Database['kind']): Promise<Database> {
  const db = databases.of(kind);
  await migrate(db);
  await db.query('delete from ledger');
  return db;
}

describe.each(kinds)('the key of a ledger on %s', (kind) => {
  it('is created with the ledger in a file that only its owner can read, and is never in the store', async () => {
    const db = await emptied(kind);
    const file = freshFile();
    const ledger = await openLedger(db, apart(file));
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readdirSync(join(file, '..')).toSorted()).toEqual(['.gitignore', 'ledger.key']);
    const stored = JSON.stringify(await db.query('select ledger::text as row from ledger'));
    expect(stored).toContain(ledger.id);
    const secrets = [readFileSync(file, 'utf8'), Buffer.from(readFileSync(file, 'utf8'), 'base64url').toString('hex')];
    expect(secrets.filter((secret) => stored.includes(secret))).toEqual([]);
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

  it('is not created if its file cannot be written', async () => {
    const db = await emptied(kind);
    const closed = join(folder, 'a-file');
    writeFileSync(closed, '');
    const nowhere = apart(join(closed, 'ledger.key')); // no file can be created below a file
    await expect(openLedger(db, nowhere)).rejects.toMatchObject({ message: expect.stringContaining('LEDGER_KEY') });
    expect(await db.query('select 1 from ledger')).toEqual([]);
  });
});

describe('the text form of a key', () => {
  it('is accepted in both alphabets of base64 and with surrounding white space', () => {
    const bytes = Buffer.alloc(32, 0xfb);
    for (const text of [bytes.toString('base64'), bytes.toString('base64url'), `${bytes.toString('base64')}\n`]) {
      expect(LedgerKey.parse(text)?.reveal()).toBe(bytes.toString('base64url'));
    }
  });

  it.each(['', 'changeme', 'x'.repeat(42), Buffer.alloc(31).toString('base64'), Buffer.alloc(96).toString('base64')])(
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
