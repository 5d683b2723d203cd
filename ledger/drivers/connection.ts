import type { ClientBase } from 'pg';
import { arrayTypes } from './array-types.js';
import type { Queryable } from './database.js';
import { type SqlValue, toSqlParameter } from './sql-values.js';
import { forgetPlans, statementName } from './statement-name.js';
import type { StoreError } from './store-error.js';
import { breaksConnection, isOfStalePlan, toStoreError } from './translate-error.js';

/**
 * One connection, used by one caller at a time. Statements given at once run one after the other, and are sent at
 * once (`pipelining`): the server goes from one to the next without waiting for us. Both drivers speak PostgreSQL's
 * protocol through `pg`, so what is written here holds for both.
 */
export class Connection implements Queryable {
  /** A statement failed in a way after which this connection has to be thrown away. */
  isBroken = false;

  constructor(
    private readonly client: ClientBase,
    /** How the store is named in errors. */
    readonly store: string,
  ) {}

  query<Row extends object>(sql: string, params: readonly SqlValue[] = []): Promise<Row[]> {
    return this.#run(sql, async () => {
      const types = arrayTypes(sql);
      const values = params.map((value, index) => toSqlParameter(value, types.get(index)));
      return (await this.client.query<Row>({ name: statementName(sql), text: sql, values })).rows;
    });
  }

  async script(sql: string): Promise<void> {
    await this.#run(sql, () => this.client.query(sql));
  }

  /** Runs `begin`, `commit` or `rollback` and gives the server's answer, which for a commit may be ROLLBACK. */
  control(command: 'begin' | 'commit' | 'rollback'): Promise<string> {
    return this.#run(command, async () => (await this.client.query(command)).command);
  }

  async #run<T>(sql: string, run: () => Promise<T>): Promise<T> {
    try {
      return await run();
    } catch (error) {
      throw this.#translated(error, sql);
    }
  }

  #translated(error: unknown, sql: string): StoreError {
    const translated = toStoreError(error, this.store, sql);
    this.isBroken ||= breaksConnection(translated);
    if (isOfStalePlan(translated)) forgetPlans();
    return translated;
  }
}
