import type { Connection } from './connection.js';
import type { Queryable } from './database.js';
import { runTransaction } from './run-transaction.js';
import { StoreError } from './store-error.js';

const limits = { owner: {}, idleTimeoutMs: 1000 };

describe('a transaction that starts with a lock', () => {
  it('sends its first statement before `begin` is answered', async () => {
    const { connection, sent, answerBegin } = watchedConnection();
    const done = runTransaction(connection, (tx) => tx.query('lock'), limits, { beginsByLocking: true });
    expect(sent).toEqual(['begin', 'lock']);
    answerBegin();
    await done;
    expect(sent).toEqual(['begin', 'lock', 'commit']);
  });

  it('ignores all answers and sends no further statement if `begin` was refused', async () => {
    const { connection, sent, refuseBegin } = watchedConnection();
    const work = async (tx: Queryable): Promise<void> => {
      await tx.query('lock');
      await tx.query('write');
    };
    const done = runTransaction(connection, work, limits, { beginsByLocking: true });
    refuseBegin(new StoreError('conflict', 'cancelled'));
    await expect(done).rejects.toThrow('cancelled');
    expect(sent).toEqual(['begin', 'lock', 'rollback']);
  });

  it('is not committed if `begin` was refused, even if it sent no statement', async () => {
    const { connection, sent, refuseBegin } = watchedConnection();
    const done = runTransaction(connection, async () => 'nothing', limits, { beginsByLocking: true });
    refuseBegin(new StoreError('conflict', 'cancelled'));
    await expect(done).rejects.toThrow('cancelled');
    expect(sent).toEqual(['begin', 'rollback']);
  });
});

describe('any other transaction', () => {
  it('sends no statement before `begin` is answered', async () => {
    const { connection, sent, refuseBegin } = watchedConnection();
    const done = runTransaction(connection, (tx) => tx.query('write'), limits);
    refuseBegin(new StoreError('conflict', 'cancelled'));
    await expect(done).rejects.toThrow('cancelled');
    expect(sent).toEqual(['begin']);
  });
});

/** Creates a connection that answers everything immediately except `begin`. */
function watchedConnection(): {
  connection: Connection;
  sent: string[];
  answerBegin: () => void;
  refuseBegin: (error: Error) => void;
} {
  const sent: string[] = [];
  let answerBegin: () => void = () => undefined;
  let refuseBegin: (error: Error) => void = () => undefined;
  const begun = new Promise<string>((resolve, reject) => {
    answerBegin = () => resolve('BEGIN');
    refuseBegin = reject;
  });
  const connection = {
    isBroken: false,
    store: 'a store',
    query: async (sql: string) => {
      sent.push(sql);
      return [];
    },
    control: (command: string) => {
      sent.push(command);
      return command === 'begin' ? begun : Promise.resolve(command.toUpperCase());
    },
  } as unknown as Connection;
  return { connection, sent, answerBegin, refuseBegin };
}
