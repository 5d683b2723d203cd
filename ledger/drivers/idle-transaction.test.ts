import { kinds, storeErrorOf, useBothDatabases } from './both-databases.test-kit.js';

// Stores of their own: with so short a limit, a machine that stops for a moment ends any transaction.
const stores = useBothDatabases({ idleInTransactionTimeoutMs: 200 });

describe.each(kinds)('the store on %s', (kind) => {
  it('rolls back a transaction that is left idle, so that it holds nobody up', async () => {
    const db = stores.of(kind);
    await db.script('create table item (id integer)');
    const transaction = db.transaction(async (tx) => {
      await tx.query('insert into item (id) values (1)');
      await new Promise(() => undefined); // waits for something else, for ever
    });
    expect(await storeErrorOf(transaction)).toMatchObject({
      kind: 'conflict',
      message: expect.stringContaining('0.2 s'),
    });
    expect(await db.query('select id from item')).toEqual([]);
  });
});
