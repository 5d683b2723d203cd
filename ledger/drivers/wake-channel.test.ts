import { lendDatabase } from '../../test/lend-database.js';
import { until } from '../../test/until.js';
import type { Database } from './database.js';
import { openPostgres } from './postgres.js';
import { listenForWakes, notifyWakes } from './wake-channel.js';

let lent: Awaited<ReturnType<typeof lendDatabase>> = null;
let db: Database | undefined;
const closers: (() => Promise<void>)[] = [];

beforeAll(async () => {
  lent = await lendDatabase({ isEmpty: true });
  if (lent !== null) db = await openPostgres({ url: lent.url });
});
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});
afterAll(async () => {
  await db?.close();
  await lent?.giveBack();
});

/** A process that listens. */
function listening(from: string) {
  const names: string[] = [];
  const seen = { names, connections: 0, failures: 0 };
  closers.push(
    listenForWakes(lent!.url, from, {
      onNames: (some) => names.push(...some),
      onConnected: () => (seen.connections += 1),
      onFailure: () => (seen.failures += 1),
    }),
  );
  return seen;
}

describe('the channel on which processes wake each other', () => {
  it('brings the names to every other process, however many they are', async () => {
    if (db === undefined) return;
    const [one, two] = [listening('one'), listening('two')];
    await until('both listen', () => one.connections + two.connections === 2);
    const many = Array.from({ length: 2000 }, (_, index) => `sink number ${index}`);
    await notifyWakes(db, 'one', many);
    await notifyWakes(db, 'two', ['last']);
    await until('the second process has heard everything', () => two.names.length >= many.length);
    await until('the first process has heard the other one', () => one.names.length > 0);
    expect(two.names).toEqual(many);
    expect(one.names).toEqual(['last']);
  });

  it('connects again after its connection was lost, and says so', async () => {
    if (db === undefined) return;
    const one = listening('one');
    await until('it listens', () => one.connections === 1);
    await db.query(
      `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'pigeonpost wakes'`,
    );
    await until('it listens again', () => one.connections === 2);
    expect(one.failures).toBeGreaterThan(0);
    await notifyWakes(db, 'two', ['after']);
    await until('it hears the name', () => one.names.includes('after'));
  });

  it('ignores texts of other programs', async () => {
    if (db === undefined) return;
    const one = listening('one');
    await until('it listens', () => one.connections === 1);
    await db.query(`select pg_notify('pigeonpost_wakes', 'no JSON'), pg_notify('pigeonpost_wakes', '[1]')`);
    await notifyWakes(db, 'two', ['after']);
    await until('it hears the name', () => one.names.length > 0);
    expect(one.names).toEqual(['after']);
  });
});
