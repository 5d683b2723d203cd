import { cpSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { kinds, useBothDatabases } from './drivers/both-databases.test-kit.js';
import { openLedger } from './ledger.js';
import { testKey } from './ledger-key.test-kit.js';
import { migrate } from './migrate.js';

const databases = useBothDatabases({ isEmpty: true });
const folder = mkdtempSync(join(tmpdir(), 'pigeonpost-migrations-'));
cpSync(join(__dirname, 'migrations'), folder, { recursive: true });
const numbers = readdirSync(folder)
  .map((name) => Number(name.slice(0, 4)))
  .toSorted((a, b) => a - b);
const newest = numbers.at(-1)!;
afterAll(() => rmSync(folder, { recursive: true }));

describe.each(kinds)('migrations on %s', (kind) => {
  it('are each applied once by the first of several processes, and do not change a current ledger', async () => {
    const db = databases.of(kind);
    const [first, second] = await Promise.all([openLedger(db, testKey), openLedger(db, testKey)]);
    await db.query(`insert into workspaces (name) values ('acme')`);
    await migrate(db);
    const again = await openLedger(db, testKey);
    expect([second.id, again.id]).toEqual([first.id, first.id]);
    expect(again.hash.content('{}')).toEqual(first.hash.content('{}'));
    expect(await db.query('select name from workspaces')).toEqual([{ name: 'acme' }]);
    expect(await db.query('select number from migrations order by 1')).toEqual(numbers.map((number) => ({ number })));
  });

  it('of the next version change a store with rows, once, and keep the rows', async () => {
    const db = databases.of(kind);
    await openLedger(db, testKey);
    await db.query(`insert into syncs (name, workspace, choice) values ('all', 'acme', '{}')`);
    const next = join(folder, `${String(newest + 1).padStart(4, '0')}_colours.sql`);
    writeFileSync(
      next,
      `alter table syncs add column colour text not null default 'red'; create table colours (name text);`,
    );
    await migrate(db, { folder });
    await migrate(db, { folder });
    rmSync(next);
    expect(await db.query('select name, colour from syncs')).toEqual([{ name: 'all', colour: 'red' }]);
    expect(await db.query('select max(number) as number from migrations')).toEqual([{ number: newest + 1 }]);
    await db.script('drop table colours; alter table syncs drop column colour; delete from syncs');
    await db.query('delete from migrations where number = $1', [newest + 1]);
  });

  it('are applied even if a migration with a higher number was applied before', async () => {
    const db = databases.of(kind);
    await openLedger(db, testKey);
    const late = join(folder, '0000_late.sql');
    writeFileSync(late, 'create table late (id integer);');
    await migrate(db, { folder });
    rmSync(late);
    expect(await db.query(`select 1 as n from pg_tables where tablename = 'late'`)).toEqual([{ n: 1 }]);
    await db.script('drop table late; delete from migrations where number = 0');
  });

  it('leave neither their number nor any of their changes if they fail', async () => {
    const db = databases.of(kind);
    await openLedger(db, testKey);
    const broken = join(folder, '9990_broken.sql');
    writeFileSync(broken, 'create table half_done (id integer); select nothing_there;');
    await expect(migrate(db, { folder })).rejects.toMatchObject({ name: 'StoreError' });
    rmSync(broken);
    expect(await db.query(`select 1 from pg_tables where tablename = 'half_done'`)).toEqual([]);
    expect(await db.query('select max(number) as number from migrations')).toEqual([{ number: newest }]);
  });

  it('of a newer version are refused, and the message names both numbers', async () => {
    const db = databases.of(kind);
    await openLedger(db, testKey);
    await db.query('insert into migrations (number) values ($1)', [newest + 1]);
    await expect(openLedger(db, testKey)).rejects.toMatchObject({
      name: 'LedgerError',
      kind: 'version',
      message: expect.stringContaining(
        `migrated the store to ${newest + 1}, and this version of pigeonpost supports ${newest}:`,
      ),
    });
    await db.query('delete from migrations where number = $1', [newest + 1]);
  });
});
