import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { until } from '../../test/until.js';
import { storeErrorOf } from './both-databases.test-kit.js';
import { openEmbedded } from './embedded.js';
import { newestMigration } from '../migrate.js';
import { lockFolder } from './folder-lock.js';

// Tests what only the embedded store has: a folder that one process owns, and an engine in this process. The other
// processes use the last build.
const built = join(__dirname, '../../dist/ledger/drivers/embedded.js');

let folder: string;
let children: ChildProcess[];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'pigeonpost-embedded-'));
  children = [];
});
afterEach(async () => {
  for (const child of children) {
    if (child.exitCode === null && child.signalCode === null) await killed(child);
  }
  rmSync(folder, { recursive: true });
});

/** Starts a process that opens `db` and runs `script`, and collects the lines that it prints. */
function startProcess(script: string, shell = ''): { process: ChildProcess; lines: () => string[] } {
  const program = `
    require(${JSON.stringify(built)}).openEmbedded({ folder: ${JSON.stringify(folder)} }).then(async (db) => {
      const say = (line) => require('node:fs').writeSync(1, line + '\\n');
      ${script}
    });`;
  const child = spawn('/bin/sh', ['-c', `${shell} exec "$@"`, 'sh', process.execPath, '-e', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  children.push(child);
  let output = '';
  child.stdout.on('data', (data) => (output += String(data)));
  return { process: child, lines: () => output.split('\n').slice(0, -1) };
}

/** Kills a process and waits until everything that it printed has been read. */
function killed(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    child.once('close', () => resolve());
    child.kill('SIGKILL');
  });
}

describe('the folder of an embedded store', () => {
  it('is refused to a second process with the folder and the process that uses it, until that process is killed', async () => {
    const first = startProcess(`say('open'); setInterval(() => {}, 1000);`);
    await until('it is open', () => first.lines().includes('open'));

    const error = await storeErrorOf(openEmbedded({ folder }));
    expect(error.kind).toBe('locked');
    expect(error.message).toBe(
      `the folder ${folder} is in use by process ${first.process.pid}: stop that process, or use another folder`,
    );

    await killed(first.process);
    await (await openEmbedded({ folder })).close();
  });

  it('is refused to a second use by the same process, and available again after closing', async () => {
    const db = await openEmbedded({ folder });
    expect(await storeErrorOf(openEmbedded({ folder }))).toMatchObject({ kind: 'locked' });
    await db.close();
    await (await lockFolder(folder)).release();
  });

  it('is completed by the next process after the one that started to create it was killed', async () => {
    const first = startProcess(`say('open');`);
    await until('it has started', () => existsSync(folder) && readdirSync(folder).some((name) => name !== 'lock'));
    await killed(first.process);
    mkdirSync(join(folder, 'postgres.new-half/base'), { recursive: true }); // the unfinished copy of a killed process

    const db = await openEmbedded({ folder });
    expect(await db.query('select 1 as one')).toEqual([{ one: 1 }]);
    await db.close();
    expect(readdirSync(folder).toSorted()).toEqual(['lock', 'postgres']);
  });

  it('has the newest schema and no ledger when it is created', async () => {
    const db = await openEmbedded({ folder });
    const applied = await db.query<{ newest: number }>('select max(number) as newest from migrations');
    expect(applied).toEqual([{ newest: await newestMigration() }]);
    expect(await db.query('select id from ledger')).toEqual([]);
    await db.close();
  });

  it('is refused if it contains files of another PostgreSQL version', async () => {
    await (await openEmbedded({ folder })).close();
    writeFileSync(join(folder, 'postgres/PG_VERSION'), '17\n');
    expect((await storeErrorOf(openEmbedded({ folder }))).message).toContain('written by PostgreSQL 17');
  });
});

describe('the embedded store, killed while rows are inserted', () => {
  it('contains every acknowledged row after each of three kills', async () => {
    const acknowledged = new Set<string>();
    for (let round = 1; round <= 3; round += 1) {
      const writer = startProcess(`
        await db.script('create table if not exists item (id text primary key, filler text)');
        for (let n = 0; ; n += 1) {
          const id = ${JSON.stringify(`${round}-`)} + n;
          if (n % 10 === 9) await db.transaction((tx) => tx.query('insert into item values ($1, $2)', [id, 'x'.repeat(5000)]));
          else await db.query('insert into item values ($1, $2)', [id, 'x'.repeat(n % 500)]);
          say(id);
        }`);
      const enough = 1 + Math.floor(Math.random() * 150);
      await until(`${enough} rows are in`, () => writer.lines().length >= enough);
      await killed(writer.process);
      for (const id of writer.lines()) acknowledged.add(id);

      const db = await openEmbedded({ folder });
      const rows = await db.query<{ id: string }>('select id from item');
      await db.close();
      const stored = new Set(rows.map(({ id }) => id));
      expect([...acknowledged].filter((id) => !stored.has(id))).toEqual([]);
      expect(stored.size - acknowledged.size).toBeLessThanOrEqual(round); // at most one unacknowledged row per round
    }
  });
});

describe('the engine of the embedded store', () => {
  it('fails all pending calls and notifies its owner when it dies, and keeps the stored rows', async () => {
    await (await openEmbedded({ folder })).close();
    // No file may grow beyond 12 MB, and PostgreSQL panics if it cannot fill the 16 MB of a log file.
    const limited = startProcess(
      `
        db.onFatal((error) => say('fatal ' + error.kind));
        await db.script('create table item (id integer, name text)');
        for (let n = 1; ; n += 1) {
          const calls = [0, 1].map(() => db.query('insert into item select n, repeat(md5(n::text), 30) from generate_series(1, 100) as n'));
          const [one, two] = await Promise.allSettled(calls);
          if (one.status === 'rejected' || two.status === 'rejected') { say('pending ' + one.status + ' ' + two.status); break; }
          say('stored');
        }
        await db.query('select 1').catch((error) => say('afterwards ' + error.kind));
        await db.close();
        say('closed');`,
      'ulimit -f 24000;',
    );
    await until('it has closed', () => limited.lines().includes('closed'));
    const lines = limited.lines();
    expect(lines).toContain('fatal unreachable');
    expect(lines.find((line) => line.startsWith('pending'))).toMatch(/rejected$/);
    expect(lines).toContain('afterwards unreachable');

    const db = await openEmbedded({ folder });
    const [row] = await db.query<{ count: number }>('select count(*) as count from item');
    expect(row?.count).toBeGreaterThanOrEqual(lines.filter((line) => line === 'stored').length * 200);
    await db.close();
  });

  it('does not block the main thread while it computes', async () => {
    const db = await openEmbedded({ folder });
    // Computes until this thread, which must be free to do so, has created a file, or fails after a minute.
    const computing = db.script(`do $$ begin
      while (pg_stat_file('finish', true)).size is null loop
        if clock_timestamp() > now() + interval '1 minute' then raise 'the main thread was blocked'; end if;
      end loop;
    end $$`);
    for (let turn = 0; turn < 20; turn += 1) await nextTurn();
    writeFileSync(join(folder, 'postgres/finish'), '');
    await computing;
    await db.close();
  });

  it('ignores the environment variables of PostgreSQL', async () => {
    process.env['PGOPTIONS'] = '-c search_path=nowhere';
    process.env['PGDATABASE'] = 'nowhere';
    const db = await openEmbedded({ folder });
    delete process.env['PGOPTIONS'];
    delete process.env['PGDATABASE'];
    expect(await db.query(`select current_database() as name, current_setting('search_path') as path`)).toEqual([
      { name: 'postgres', path: 'public' },
    ]);
    await db.close();
  });

  it('refuses statements once it is closed, and can be closed twice', async () => {
    const db = await openEmbedded({ folder });
    const last = db.query('select 1 as one');
    await Promise.all([db.close(), db.close()]);
    expect(await last).toEqual([{ one: 1 }]);
    expect((await storeErrorOf(db.query('select 1'))).message).toContain('closed');
  });
});
