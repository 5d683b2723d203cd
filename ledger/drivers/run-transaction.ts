import { AsyncLocalStorage } from 'node:async_hooks';
import type { Connection } from './connection.js';
import type { Queryable, TransactionOptions } from './database.js';
import type { SqlValue } from './sql-values.js';
import { StoreError } from './store-error.js';

/** The transaction that the present code runs in, whatever it awaited since. */
const current = new AsyncLocalStorage<Transaction>();

/**
 * Refuses what would wait for the transaction that waits for it: using the store itself within a transaction.
 * @throws {StoreError} kind `other`
 */
export function refuseWithinTransaction(owner: object): void {
  const transaction = current.getStore();
  if (transaction?.isOpen === true && transaction.owner === owner) {
    throw new StoreError('other', 'the store itself was used within one of its transactions: use `tx` there');
  }
}

/**
 * Begins, runs `work`, commits or rolls back. A transaction left idle for longer than `idleTimeoutMs` (its `work` waits
 * for something else) is rolled back, because it holds locks, and embedded the whole store; `work` then runs on into
 * refusals.
 * @param limits.owner the store whose direct use within `work` is refused
 * @throws {StoreError}, or whatever `work` throws
 */
export async function runTransaction<T>(
  connection: Connection,
  work: (tx: Queryable) => Promise<T>,
  { owner, idleTimeoutMs }: { readonly owner: object; readonly idleTimeoutMs: number },
  { beginsByLocking = false, onSent }: TransactionOptions = {},
): Promise<T> {
  const begun = connection.control('begin');
  if (!beginsByLocking) await begun;
  const transaction = new Transaction(owner, connection, idleTimeoutMs, begun);
  let result: T;
  try {
    result = await Promise.race([current.run(transaction, () => work(transaction)), transaction.leftIdle]);
    await begun; // of a transaction that gave no statement
  } catch (error) {
    await transaction.rollBack();
    throw error;
  }
  // The transaction has ended in any case. Later statements may belong to another one.
  await transaction.commit(onSent);
  return result;
}

/** Open until commit or roll back begin; afterwards every statement is refused. */
class Transaction implements Queryable {
  isOpen = true;
  /** Never resolves. Rejects if the transaction is idle for too long. */
  readonly leftIdle: Promise<never>;
  #timer: NodeJS.Timeout | undefined;
  /** Statements whose answer has not come yet. */
  readonly #running = new Set<Promise<unknown>>();
  #giveUp!: (error: StoreError) => void;
  /** The error that ended the transaction. Later statements only report that it has failed (25P02). */
  #firstFailure: unknown;

  constructor(
    readonly owner: object,
    private readonly connection: Connection,
    private readonly idleTimeoutMs: number,
    /** The answer to `begin`. */
    private readonly begun: Promise<unknown>,
  ) {
    begun.catch(() => undefined); // told by the first statement
    this.leftIdle = new Promise((_, reject) => {
      this.#giveUp = reject;
    });
    this.#startTimer();
  }

  query<Row extends object>(sql: string, params?: readonly SqlValue[]): Promise<Row[]> {
    return this.#run(() => this.connection.query<Row>(sql, params));
  }

  script(sql: string): Promise<void> {
    return this.#run(() => this.connection.script(sql));
  }

  /**
   * Sends the commit behind the running statements, so that the server does not wait for the client. If one of them
   * fails, the server rolls back instead.
   */
  async commit(onSent?: () => void): Promise<void> {
    const running = [...this.#running];
    this.#end();
    let answer: string;
    try {
      const answered = this.connection.control('commit');
      onSent?.();
      answer = await answered;
    } catch (error) {
      if (!this.connection.isBroken) throw error;
      // The one case in which nobody knows: the answer to a commit that may have happened was lost.
      throw new StoreError(
        'unreachable',
        `the connection to ${this.connection.store} broke during a commit: whether it happened is not known`,
      );
    }
    if (answer === 'ROLLBACK') {
      for (const result of await Promise.allSettled(running)) if (result.status === 'rejected') throw result.reason;
      throw new StoreError('other', 'a transaction went on after a failed statement, so all of it was rolled back');
    }
  }

  async rollBack(): Promise<void> {
    this.#end();
    if (this.connection.isBroken) return; // the server rolls back automatically
    await this.connection.control('rollback').catch(() => {
      this.connection.isBroken = true; // the first error is the one to tell
    });
  }

  #run<T>(statement: () => Promise<T>): Promise<T> {
    if (!this.isOpen) {
      return Promise.reject(
        new StoreError('other', 'a statement came after its transaction had ended: await it inside'),
      );
    }
    clearTimeout(this.#timer);
    const running = this.#runToEnd(statement);
    this.#running.add(running);
    const ended = (): void => {
      this.#running.delete(running);
      if (this.#running.size === 0 && this.isOpen) this.#startTimer();
    };
    running.then(ended, ended);
    return running;
  }

  async #runToEnd<T>(statement: () => Promise<T>): Promise<T> {
    try {
      const sent = statement();
      sent.catch(() => undefined); // awaited below; until then a failure must not count as unhandled
      await this.begun; // before any answer is believed: without it the statement stood alone
      return await sent;
    } catch (error) {
      this.#firstFailure ??= error;
      throw error instanceof StoreError && error.sqlState === '25P02' ? this.#firstFailure : error;
    }
  }

  #startTimer(): void {
    this.#timer = setTimeout(() => {
      const seconds = this.idleTimeoutMs / 1000;
      this.#end();
      this.#giveUp(new StoreError('conflict', `a transaction asked nothing for ${seconds} s and was rolled back`));
    }, this.idleTimeoutMs);
  }

  #end(): void {
    this.isOpen = false;
    clearTimeout(this.#timer);
  }
}
