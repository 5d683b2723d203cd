import type { Database, Queryable } from '../../ledger/drivers/database.js';
import type { SqlValue } from '../../ledger/drivers/sql-values.js';
import { createDeferred } from '../../base/deferred.js';
import { until } from '../until.js';

/** A store that holds one statement, before it is sent, until the test releases it. */
export interface HeldDatabase {
  readonly db: Database;
  /** Whether the statement was reached. */
  isHeld(): boolean;
  letGo(): void;
}

/** Whether a statement is the one to hold. */
export type Moment = (sql: string, params: readonly SqlValue[]) => boolean;

/** Holds the first statement for which `isMoment` is true. Its transaction, if any, stays open in the meantime. */
export function heldDatabase(inner: Database, isMoment: Moment): HeldDatabase {
  let held = false;
  let letGo!: () => void;
  const gate = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  const db = delayedDatabase(inner, async (sql, params) => {
    if (held || !isMoment(sql, params)) return;
    held = true;
    await gate;
  });
  return { db, isHeld: () => held, letGo };
}

/** Wraps a store that counts the answers to the statements, outside of transactions, for which `isMoment` is true. */
export function countedDatabase(inner: Database, isMoment: Moment): { readonly db: Database; count(): number } {
  let count = 0;
  const db: Database = {
    ...delayedDatabase(inner, async () => undefined),
    async query(sql, params = []) {
      const rows = await inner.query(sql, params);
      if (isMoment(sql, params)) count += 1;
      return rows as never;
    },
  };
  return { db, count: () => count };
}

/** Wraps a store so that it waits before each statement, inside and outside of transactions. */
export function delayedDatabase(
  inner: Database,
  wait: (sql: string, params: readonly SqlValue[]) => Promise<void>,
): Database {
  const wrap = (queryable: Queryable): Queryable => ({
    async query(sql, params = []) {
      await wait(sql, params);
      return (await queryable.query(sql, params)) as never;
    },
    async script(sql) {
      await wait(sql, []);
      await queryable.script(sql);
    },
  });
  return {
    ...wrap(inner),
    kind: inner.kind,
    transaction: (work, options) => inner.transaction((tx) => work(wrap(tx)), options),
    withoutLimits: (work) => inner.withoutLimits(work),
    maintain: () => inner.maintain(),
    analyzeGrown: () => inner.analyzeGrown(),
    copyFiles: (folder) => inner.copyFiles(folder),
    onFatal: (listener) => inner.onFatal(listener),
    close: () => inner.close(),
  };
}

/** A store that can stop to answer, as when connections hang. */
export interface SilentDatabase {
  readonly db: Database;
  /** From now on, statements are neither sent nor refused. */
  silence(): void;
  /** Sends the statements that have waited. */
  answer(): void;
  /** Number of statements and transactions that wait. */
  waiting(): number;
}

export function silentDatabase(inner: Database): SilentDatabase {
  let silence: { readonly promise: Promise<void>; resolve(): void } | undefined;
  let waiting = 0;
  const wait = async (): Promise<void> => {
    if (silence === undefined) return;
    waiting += 1;
    await silence.promise;
    waiting -= 1;
  };
  const delayed = delayedDatabase(inner, wait);
  const db: Database = {
    ...delayed,
    async transaction(work, options) {
      await wait();
      return await delayed.transaction(work, options);
    },
  };
  return {
    db,
    silence() {
      silence ??= createDeferred();
    },
    answer() {
      silence?.resolve();
      silence = undefined;
    },
    waiting: () => waiting,
  };
}

/** On PostgreSQL: waits until the started statements have finished or wait for a held lock. */
export async function untilOverOrWaiting(db: Database, what: string, turn: Promise<unknown>): Promise<void> {
  let over = false;
  const end = (): void => void (over = true);
  turn.then(end, end);
  await until(what, async () => over || (await anyWaits(db)));
}

async function anyWaits(db: Database): Promise<boolean> {
  return (await countWaiting(db)) > 0;
}

/** Returns the number of connections that wait for a lock. */
export async function countWaiting(db: Database): Promise<number> {
  const rows = await db.query(
    `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
  );
  return rows.length;
}
