import { createServer, type Server } from 'node:net';
import { startPooler } from '../../test/pooler.js';
import { useLentDatabases } from '../../test/lend-database.js';
import { startPostgres, hasPostgres, type TestPostgres } from '../../test/postgres.js';
import { until } from '../../test/until.js';
import { storeErrorOf } from './both-databases.test-kit.js';
import type { Database } from './database.js';
import { openPostgres } from './postgres.js';

const onPostgres = hasPostgres() ? describe : describe.skip;

onPostgres('a connection to a PostgreSQL server', () => {
  let server: TestPostgres;
  let db: Database;
  beforeAll(async () => {
    const started = await startPostgres();
    if (started === null) throw new Error('it is installed but did not start');
    server = started;
  });
  afterAll(() => server.stop());
  beforeEach(async () => {
    // the default limit of 10 s may be too short for a busy server
    db = await openPostgres({ url: server.url, maxConnections: 3, connectTimeoutMs: 250_000 });
    await db.script('drop table if exists item; create table item (id integer primary key)');
  });
  afterEach(() => db.close());

  /** Ends every connection of `db` except the one that runs this statement. */
  const endOthers = (): Promise<object[]> =>
    db.query(
      `select pg_terminate_backend(pid) from pg_stat_activity
       where application_name = $1 and pid <> pg_backend_pid()`,
      ['pigeonpost'],
    );

  it('fails its transaction if it dies in it, and the next call uses another connection', async () => {
    const transaction = db.transaction(async (tx) => {
      const [row] = await tx.query<{ pid: number }>('insert into item values (1) returning pg_backend_pid() as pid');
      const other = await openPostgres({ url: server.url });
      await other.query('select pg_terminate_backend($1)', [row?.pid]);
      await other.close();
      await tx.query('insert into item values (2)');
    });
    expect(await storeErrorOf(transaction)).toMatchObject({ kind: 'unreachable' });
    expect(await db.query('select id from item')).toEqual([]);
  });

  it('is replaced if it dies while idle', async () => {
    await Promise.all([db.query('select pg_sleep(0.05)'), db.query('select pg_sleep(0.05)')]);
    await endOthers();
    await until('the dead ones are out of use', async () => {
      const results = await Promise.allSettled([db.query('select 1'), db.query('select 1'), db.query('select 1')]);
      return results.every(({ status }) => status === 'fulfilled');
    });
  });

  it('reports an unknown outcome if it dies during a commit', async () => {
    // a deferred trigger ends the session during the commit
    await db.script(`
      create function end_session() returns trigger language plpgsql as
        $$ begin perform pg_terminate_backend(pg_backend_pid()); perform pg_sleep(10); return null; end $$;
      create constraint trigger at_commit after insert on item deferrable initially deferred
        for each row execute function end_session()`);
    const transaction = db.transaction((tx) => tx.query('insert into item values (1)'));
    const error = await storeErrorOf(transaction);
    expect(error).toMatchObject({ kind: 'unreachable' });
    expect(error.message).toContain('it is not known whether the commit happened');
  });

  it('is limited to the allowed number of concurrent transactions, and others wait', async () => {
    let open = 0;
    let most = 0;
    const transactions = Array.from({ length: 9 }, () =>
      db.transaction(async (tx) => {
        most = Math.max(most, (open += 1));
        await until('as many run as may', () => most >= 3);
        await tx.query('select 1');
        open -= 1;
      }),
    );
    await Promise.all(transactions);
    expect(most).toBe(3);
  });

  it('reports a deadlock as a conflict that can be retried', async () => {
    await db.script('insert into item values (1), (2)');
    const lockBoth = (first: number, second: number, whenFirst: () => Promise<void>): Promise<void> =>
      db.transaction(async (tx) => {
        await tx.query('select id from item where id = $1 for update', [first]);
        await whenFirst();
        await tx.query('select id from item where id = $1 for update', [second]);
      });
    let waiting = 0;
    const bothHold = async (): Promise<void> => {
      waiting += 1;
      await until('both hold their first row', () => waiting === 2);
    };
    const results = await Promise.allSettled([lockBoth(1, 2, bothHold), lockBoth(2, 1, bothHold)]);
    const refused = results.filter((result) => result.status === 'rejected');
    expect(refused).toEqual([
      expect.objectContaining({ reason: expect.objectContaining({ kind: 'conflict', sqlState: '40P01' }) }),
    ]);
  });

  it('reports a statement that exceeds its time limit as a conflict', async () => {
    let impatient: Database | undefined;
    // On a busy machine, even the statement that opens the store can exceed the limit.
    await until('the store opens within its limit', async () => {
      impatient = await openPostgres({ url: server.url, statementTimeoutMs: 500, answerMarginMs: 250_000 }).catch(
        () => undefined,
      );
      return impatient !== undefined;
    });
    expect(await storeErrorOf(impatient!.query('select pg_sleep(250)'))).toMatchObject({
      kind: 'conflict',
      sqlState: '57014',
    });
    await impatient!.close();
  });

  it('has the application name pigeonpost', async () => {
    expect(await db.query('select current_setting($1) as name', ['application_name'])).toEqual([
      { name: 'pigeonpost' },
    ]);
  });

  it('is refused with the server’s address and without the password if the database does not exist', async () => {
    const url = new URL(server.url.replace('app@', 'app:s3cret@'));
    url.pathname = '/nowhere';
    const error = await storeErrorOf(openPostgres({ url: url.href }));
    expect(error).toMatchObject({ kind: 'unreachable', sqlState: '3D000' });
    expect(error.message).toContain(`PostgreSQL at 127.0.0.1:${url.port} refused the connection`);
    expect(error.message + String(error.stack)).not.toContain('s3cret');
  });

  it('refuses statements once it is closed, and can be closed twice', async () => {
    const closed = await openPostgres({ url: server.url });
    await Promise.all([closed.close(), closed.close()]);
    expect((await storeErrorOf(closed.query('select 1'))).message).toContain('closed');
  });
});

onPostgres('a store behind a connection pooler', () => {
  const lend = useLentDatabases();
  const openBehind = async (mode: 'session' | 'transaction' | 'statement', parameters = '') => {
    const pooler = await startPooler(await lend(), mode);
    try {
      const db = await openPostgres({ url: `${pooler.url}${parameters}`, connectTimeoutMs: 250_000 });
      const limits = `select current_setting('statement_timeout') as statement,
        current_setting('idle_in_transaction_session_timeout') as idle, current_setting('jit') as jit`;
      const limited = await db.query(limits);
      const unlimited = await db.withoutLimits((session) => session.query(limits));
      await db.close();
      return { limited, unlimited };
    } finally {
      pooler.stop();
    }
  };

  it('opens in session mode, and each of its connections has its settings', async () => {
    expect(await openBehind('session')).toEqual({
      limited: [{ statement: '1min', idle: '1min', jit: 'off' }],
      unlimited: [{ statement: '0', idle: '0', jit: 'off' }],
    });
  });

  it.each(['transaction', 'statement'] as const)('is refused in %s mode with what to set', async (mode) => {
    const { message } = await storeErrorOf(openBehind(mode));
    expect(message).toMatch(/^PostgreSQL at 127\.0\.0\.1:\d+ .*does not pool sessions: set pool_mode = session/);
  });

  it('is refused with the parameter of its URL that the pooler does not accept', async () => {
    const { message } = await storeErrorOf(openBehind('session', '?options=-csearch_path%3Dother'));
    expect(message).toMatch(/refuses the parameter "options": remove the parameter from the URL of "store"/);
  });
});

describe('opening a store on PostgreSQL', () => {
  it('fails as unreachable with the address if nothing listens', async () => {
    // A port that another program just released could be in use again. No program listens on port 1.
    const error = await storeErrorOf(openPostgres({ url: 'postgres://app:s3cret@127.0.0.1:1/test' }));
    expect(error.kind).toBe('unreachable');
    expect(error.message).toBe(
      'PostgreSQL at 127.0.0.1:1 cannot be reached (ECONNREFUSED): start it, or correct "store"',
    );
  });

  it('fails as unreachable if the server never answers', async () => {
    const silent = await listen();
    const url = `postgres://app:s3cret@127.0.0.1:${silent.port}/test`;
    const error = await storeErrorOf(openPostgres({ url, connectTimeoutMs: 100 }));
    expect(error).toMatchObject({ kind: 'unreachable', message: expect.stringContaining('did not answer in time') });
    silent.server.close();
  });

  it('fails for an invalid URL without quoting it', async () => {
    const error = await storeErrorOf(openPostgres({ url: 'postgres://app:s3cret@@:port/' }));
    expect(error.message).not.toContain('s3cret');
  });
});

function listen(): Promise<{ server: Server; port: number }> {
  return new Promise((resolve) => {
    const server = createServer((socket) => socket.on('error', () => undefined)).listen(0, '127.0.0.1', () => {
      const address = server.address();
      resolve({ server, port: typeof address === 'object' && address !== null ? address.port : 0 });
    });
  });
}
