import { kinds, storeErrorOf, useBothDatabases } from './both-databases.test-kit.js';
import type { Database, Queryable } from './database.js';

const stores = useBothDatabases({ isDurable: true });

describe.each(kinds)('the store on %s', (kind) => {
  let db: Database;
  beforeAll(() => {
    db = stores.of(kind);
  });
  beforeEach(() => db.script('drop table if exists item; create table item (id integer primary key, name text)'));

  const insert = (on: Queryable, id: number, name = 'a name'): Promise<object[]> =>
    on.query('insert into item (id, name) values ($1, $2)', [id, name]);
  const ids = async (): Promise<number[]> =>
    (await db.query<{ id: number }>('select id from item order by id')).map(({ id }) => id);

  it('reports its kind', () => {
    expect(db.kind).toBe(kind);
  });

  it('commits a transaction whose work returns, and returns the result of the work', async () => {
    const result = await db.transaction(async (tx) => {
      await insert(tx, 1);
      await insert(tx, 2);
      return 'done';
    });
    expect(result).toBe('done');
    expect(await ids()).toEqual([1, 2]);
  });

  it('rolls back a transaction whose work throws, and throws the same error', async () => {
    const error = new Error('changed my mind');
    const transaction = db.transaction(async (tx) => {
      await insert(tx, 1);
      throw error;
    });
    await expect(transaction).rejects.toBe(error);
    expect(await ids()).toEqual([]);
  });

  it('rolls back and fails if the work continues after a failed statement', async () => {
    const transaction = db.transaction(async (tx) => {
      await insert(tx, 1);
      await insert(tx, 1).catch(() => undefined);
    });
    expect(await storeErrorOf(transaction)).toMatchObject({ kind: 'other' });
    expect(await ids()).toEqual([]);
  });

  it('keeps statements of one transaction from those of another', async () => {
    const both = [1, 2].map((first) =>
      db.transaction(async (tx) => {
        await insert(tx, first * 10);
        await insert(tx, first * 10 + 1);
        if (first === 2) throw new Error('only the second is rolled back');
      }),
    );
    const [one, two] = await Promise.allSettled(both);
    expect([one?.status, two?.status]).toEqual(['fulfilled', 'rejected']);
    expect(await ids()).toEqual([10, 11]);
  });

  it('runs concurrent statements of a transaction one after the other', async () => {
    await db.transaction(async (tx) => {
      await Promise.all(Array.from({ length: 20 }, (_, id) => insert(tx, id)));
    });
    expect(await ids()).toHaveLength(20);
  });

  it('fails a transaction with the first error of statements sent together, and prepares the later statements again', async () => {
    const late = (on: Queryable): Promise<object[]> => on.query('insert into item (id) values ($1) returning id', [9]);
    const transaction = db.transaction((tx) => Promise.all([insert(tx, 1), insert(tx, 1), insert(tx, 2), late(tx)]));
    expect(await storeErrorOf(transaction)).toMatchObject({ kind: 'constraint', sqlState: '23505' });
    expect(await ids()).toEqual([]);
    expect(await late(db)).toEqual([{ id: 9 }]);
  });

  it('commits statements that the work sent without waiting, before it returns the result', async () => {
    let answered = 0;
    const result = await db.transaction(async (tx) => {
      const count = (): void => void (answered += 1);
      for (const id of [1, 2]) insert(tx, id).then(count, () => undefined);
      return 'done';
    });
    expect([result, answered]).toEqual(['done', 2]);
    expect(await ids()).toEqual([1, 2]);
  });

  it('commits and rolls back transactions that send a lock together with the begin', async () => {
    await db.query('insert into item (id) values (1)');
    const lock = (tx: Queryable): Promise<object[]> => tx.query('select id from item for no key update');
    const work = async (tx: Queryable): Promise<void> => {
      expect(await lock(tx)).toEqual([{ id: 1 }]);
      await insert(tx, 2);
    };
    await db.transaction(work, { beginsByLocking: true });
    expect(await ids()).toEqual([1, 2]);
    const lost = db.transaction(
      async (tx) => {
        await lock(tx);
        await insert(tx, 3);
        await insert(tx, 1);
      },
      { beginsByLocking: true },
    );
    expect(await storeErrorOf(lost)).toMatchObject({ kind: 'constraint' });
    expect(await ids()).toEqual([1, 2]);
  });

  it('rolls back if a statement fails that the work did not wait for, and stays usable', async () => {
    const transaction = db.transaction(async (tx) => {
      for (const id of [1, 2, 1, 3]) insert(tx, id).catch(() => undefined);
    });
    expect(await storeErrorOf(transaction)).toMatchObject({ kind: 'constraint', sqlState: '23505' });
    expect(await ids()).toEqual([]);
    await db.transaction((tx) => insert(tx, 4));
    expect(await ids()).toEqual([4]);
  });

  it('does not let a transaction that fails at its end affect the transactions after it', async () => {
    const fails = db.transaction(async (tx) => {
      for (const id of [1, 1]) insert(tx, id).catch(() => undefined);
    });
    // If the end of the previous transaction ended this one too, its first row would be committed on its own.
    const failsToo = db.transaction(async (tx) => {
      await insert(tx, 5);
      await insert(tx, 5);
    });
    const behind = [insert(db, 3), db.transaction((tx) => insert(tx, 4))];
    expect(await storeErrorOf(fails)).toMatchObject({ kind: 'constraint', sqlState: '23505' });
    expect(await storeErrorOf(failsToo)).toMatchObject({ kind: 'constraint', sqlState: '23505' });
    await Promise.all(behind);
    expect(await ids()).toEqual([3, 4]);
  });

  it('fails a transaction with its first error, even if the work waited for a later statement', async () => {
    const lost = db.transaction(async (tx) => {
      tx.query('select 1 / 0').catch(() => undefined);
      await tx.query('select 1');
    });
    expect(await storeErrorOf(lost)).toMatchObject({ sqlState: '22012' });
  });

  it('refuses to be used within one of its transactions, instead of waiting forever', async () => {
    const transaction = db.transaction(async () => ids());
    expect((await storeErrorOf(transaction)).message).toContain('use `tx` there');
    expect(await ids()).toEqual([]);
  });

  it('can be used by code that a transaction started and that runs after its end', async () => {
    let later: Promise<number[]> | undefined;
    let start: () => void = () => undefined;
    const ended = new Promise<void>((resolve) => (start = resolve));
    await db.transaction(async (tx) => {
      later = ended.then(ids);
      await insert(tx, 1);
    });
    start();
    expect(await later).toEqual([1]);
  });

  it('refuses a statement after the end of its transaction', async () => {
    let kept: Queryable | undefined;
    await db.transaction(async (tx) => {
      kept = tx;
    });
    expect((await storeErrorOf(insert(kept as Queryable, 1))).message).toContain('after its transaction');
    expect(await ids()).toEqual([]);
  });

  it('runs a script of several statements completely or not at all', async () => {
    await db.script(`insert into item values (1, 'a;b'); insert into item values (2, null)`);
    expect(await ids()).toEqual([1, 2]);
    await storeErrorOf(db.script('insert into item values (3, null); insert into item values (1, null)'));
    expect(await ids()).toEqual([1, 2]);
  });

  it('runs a script within a transaction as a part of it', async () => {
    const transaction = db.transaction(async (tx) => {
      await tx.script('create table made (id integer); insert into item values (1, null)');
      throw new Error('no');
    });
    await expect(transaction).rejects.toThrow('no');
    expect(await db.query(`select to_regclass('made') as made`)).toEqual([{ made: null }]);
    expect(await ids()).toEqual([]);
  });

  it('refuses several statements in a query', async () => {
    expect(await storeErrorOf(db.query('select 1; select 2'))).toMatchObject({ kind: 'other', sqlState: '42601' });
  });

  it('reports a refused row as a constraint error that names the constraint but not the row', async () => {
    await insert(db, 1);
    const error = await storeErrorOf(insert(db, 1, 'ada@example.com'));
    expect(error).toMatchObject({ kind: 'constraint', sqlState: '23505' });
    expect(error.message).toContain('constraint "item_pkey"');
    expect(JSON.stringify(error) + error.message + String(error.stack)).not.toContain('ada@');
    expect(error.cause).toBeUndefined();
  });

  it('names the failed statement in an error, but not its values', async () => {
    const error = await storeErrorOf(db.query('select nothing from item where name = $1', ['ada@example.com']));
    expect(error.message).toContain('column "nothing" does not exist');
    expect(error.message).toContain('in: select nothing from item');
    const cast = await storeErrorOf(db.query('select $1::integer', ['ada@example.com']));
    expect(cast.message).toContain('SQLSTATE 22P02');
    expect(cast.message).not.toContain('ada@');
  });

  it('stays usable after an error in any kind of statement', async () => {
    await storeErrorOf(db.query('selec 1'));
    await storeErrorOf(db.query('select 1/0'));
    await storeErrorOf(db.script('selec 1'));
    await storeErrorOf(db.transaction((tx) => tx.query('select 1/0')));
    expect(await db.query('select 1 as one')).toEqual([{ one: 1 }]);
  });

  it('fails at most once with a query plan that a table change made invalid, as a conflict that can be retried', async () => {
    await insert(db, 1);
    const read = (): Promise<object[]> => db.query('select * from item');
    expect(await read()).toEqual([{ id: 1, name: 'a name' }]);
    await db.script('alter table item add column more text');
    expect(await storeErrorOf(read())).toMatchObject({ kind: 'conflict', sqlState: '0A000' });
    expect(await read()).toEqual([{ id: 1, name: 'a name', more: null }]);
  });

  it('can run maintenance while it is used', async () => {
    await db.query('insert into item select n, $1 from generate_series(1, 1000) as n', ['a name']);
    await db.query('delete from item where id > $1', [10]);
    const [, left] = await Promise.all([db.maintain(), ids()]);
    expect(left).toHaveLength(10);
  });

  it('analyzes a table that has grown, but not again until it has grown much further', async () => {
    const analyzed = async (): Promise<object[]> =>
      await db.query(`select reltuples > 0 as known, relpages as pages from pg_class where relname = 'item'`);
    await db.query('insert into item select n, $1 from generate_series(1, 30000) as n', [
      'a name that takes some room',
    ]);
    await db.analyzeGrown();
    const [first] = await analyzed();
    expect(first).toMatchObject({ known: true });
    await db.query('insert into item select n, $1 from generate_series(30001, 40000) as n', [
      'a name that takes some room',
    ]);
    await db.analyzeGrown();
    expect(await analyzed()).toEqual([first]);
  });
});

// These tests have their own stores, because with such a short limit, any transaction would end if the machine paused
// for a moment.
const impatientStores = useBothDatabases({ idleInTransactionTimeoutMs: 200 });

describe.each(kinds)('a store with a limit of 200 ms for idle transactions on %s', (kind) => {
  it('rolls back a transaction that is left idle, so that it blocks no other', async () => {
    const db = impatientStores.of(kind);
    await db.script('create table item (id integer)');
    const work = async (tx: Queryable): Promise<void> => {
      await tx.query('insert into item (id) values (1)');
      await new Promise(() => undefined); // waits forever for something other than the database
    };
    // Sends the first statement together with `begin`. A pause of this process between them would be idle time too.
    const transaction = db.transaction(work, { beginsByLocking: true });
    expect(await storeErrorOf(transaction)).toMatchObject({
      kind: 'conflict',
      message: expect.stringContaining('0.2 s'),
    });
    expect(await db.query('select id from item')).toEqual([]);
  });
});
