import { AsyncLocalStorage } from 'node:async_hooks';
import type { Connection } from './connection.js';
import type { Queryable, TransactionOptions } from './database.js';
import type { SqlValue } from './sql-values.js';
import { StoreError } from './store-error.js';

/** The transaction in which the current code runs. It follows the code across every `await`. */
const current = new AsyncLocalStorage<Transaction>();

/**
 * Refuses a use of the store itself within one of its transactions, which would be a deadlock: the statement would wait
 * for the transaction to end, and the transaction for the statement.
 * @throws {StoreError} kind `other`
 */
export function refuseWithinTransaction(owner: object): void {
  const transaction = current.getStore();
  if (transaction?.isOpen === true && transaction.owner === owner) {
    throw new StoreError('other', 'the store itself was used within one of its transactions: use `tx` there');
  }
}

/**
 * Begins a transaction, runs `work`, and commits or rolls back. If `work` leaves the transaction idle for longer than
 * `idleTimeoutMs` because it waits for something else, the transaction is rolled back, because it holds locks and, in
 * the embedded store, the only connection. Later statements of `work` are then refused.
 * @param limits.owner the store, whose direct use within `work` is refused; options.onSent called once the commit has been
 * sent, after which the next transaction can follow on the same connection
 * @throws {StoreError}, or any error that `work` throws
 */
export async function runTransaction<T>(
  connection: Connection,
  work: (tx: Queryable) => Promise<T>,
  { owner, idleTimeoutMs }: { readonly owner: object; readonly idleTimeoutMs: number },
  { beginsByLocking = false, onSent }: TransactionOptions & { readonly onSent?: (() => void) | undefined } = {},
): Promise<T> {
  const begun = connection.control('begin');
  if (!beginsByLocking) await begun;
  const transaction = new Transaction(owner, connection, idleTimeoutMs, begun);
  let result: T;
  try {
    result = await Promise.race([current.run(transaction, () => work(transaction)), transaction.leftIdle]);
    await begun; // awaited here in case `work` sent no statement
  } catch (error) {
    await transaction.rollBack();
    throw error;
  }
  // Not inside the `try`, because after a commit, even a failed one, the transaction has ended. A rollback could affect
  // a later transaction.
  await transaction.commit(onSent);
  return result;
}

/** A transaction. It refuses every statement after its commit or rollback has started. */
class Transaction implements Queryable {
  isOpen = true;
  /** Never resolves. Rejects if the transaction is idle for too long. */
  readonly leftIdle: Promise<never>;
  #timer: NodeJS.Timeout | undefined;
  /** Statements that have not been answered yet. */
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
    begun.catch(() => undefined); // ignored here: the first statement reports it
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
   * Sends the commit directly after the running statements, so that the server does not wait for the client. If one of
   * the statements fails, the server rolls back instead.
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
      // The only case in which the outcome is unknown: the commit may have succeeded, but its answer was lost.
      throw new StoreError(
        'unreachable',
        `the connection to ${this.connection.store} broke during a commit: it is not known whether the commit happened`,
      );
    }
    if (answer === 'ROLLBACK') {
      for (const result of await Promise.allSettled(running)) if (result.status === 'rejected') throw result.reason;
      throw new StoreError('other', 'a transaction continued after a failed statement, so all of it was rolled back');
    }
  }

  async rollBack(): Promise<void> {
    this.#end();
    if (this.connection.isBroken) return; // the server rolls back automatically
    await this.connection.control('rollback').catch(() => {
      this.connection.isBroken = true; // the caller throws the first error, so this one is dropped
    });
  }

  #run<T>(statement: () => Promise<T>): Promise<T> {
    if (!this.isOpen) {
      return Promise.reject(
        new StoreError(
          'other',
          'a statement was sent after its transaction had ended: await it inside the transaction',
        ),
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
      sent.catch(() => undefined); // awaited below; this prevents an unhandled rejection in the meantime
      await this.begun; // if `begin` failed, the statement ran outside a transaction and its answer does not count
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
      this.#giveUp(new StoreError('conflict', `a transaction sent no statement for ${seconds} s and was rolled back`));
    }, this.idleTimeoutMs);
  }

  #end(): void {
    this.isOpen = false;
    clearTimeout(this.#timer);
  }
}
