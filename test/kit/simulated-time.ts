import type { Database, Queryable } from '../../ledger/drivers/database.js';

const RealDate = Date;

/**
 * Time that passes only when a test says so, for a store and for this process: `Date`, `performance.now` and the
 * database's `now()` and `clock_timestamp()` stand still otherwise. Unlike `passTime`, it also reaches what a process
 * remembers. Timers stay real. Only one at a time can be in use.
 */
export class SimulatedTime {
  /** The store, by whose clock this time is the present. */
  readonly db: Database;
  readonly #monotonicNow = performance.now.bind(performance);
  readonly #monotonicMs: number;

  private constructor(
    private readonly store: Database,
    private readonly startsAtMs: number,
    private nowMs: number,
  ) {
    this.#monotonicMs = Math.floor(this.#monotonicNow()); // whole, so that no sum of times is rounded
    this.db = simulated(store);
    const present = (): number => this.nowMs;
    globalThis.Date = new Proxy(RealDate, {
      construct: (target, args: [], newTarget) =>
        args.length === 0 ? new RealDate(present()) : (Reflect.construct(target, args, newTarget) as Date),
      get: (target, name, receiver) => (name === 'now' ? present : (Reflect.get(target, name, receiver) as unknown)),
    });
    performance.now = () => this.#monotonicMs + this.nowMs - this.startsAtMs;
  }

  /** Starts at an instant. Call `stop` at the end. */
  static async start(store: Database, startsAt: Date): Promise<SimulatedTime> {
    await store.script(clockSql);
    for (const { table, name } of await store.query<{ table: string; name: string }>(instantsByDefault)) {
      await store.script(`alter table ${table} alter column ${name} set default simulated.present()`);
    }
    await store.script(`delete from simulated.clock; insert into simulated.clock values ('${startsAt.toISOString()}')`);
    return new SimulatedTime(store, startsAt.getTime(), startsAt.getTime());
  }

  now = (): number => this.nowMs;

  async pass(ms: number): Promise<void> {
    this.nowMs += ms;
    await setClock(this.store, this.nowMs);
  }

  stop(): void {
    globalThis.Date = RealDate;
    performance.now = this.#monotonicNow;
  }
}

/** The database's instants have microseconds, which JavaScript's lack. */
const clockSql = `create schema if not exists simulated;
  create table if not exists simulated.clock (present timestamptz not null);
  create or replace function simulated.present() returns timestamptz language sql stable
    as 'select present + interval ''567 microseconds'' from simulated.clock'`;

const instantsByDefault = `select table_name as "table", column_name as name from information_schema.columns
  where table_schema = 'public' and column_default in ('now()', 'clock_timestamp()')`;

/** Concurrent calls never set the clock back. */
async function setClock(store: Database, ms: number): Promise<void> {
  const present = new RealDate(ms).toISOString();
  await store.script(`update simulated.clock set present = greatest(present, '${present}')`);
}

function simulated(db: Database): Database {
  const on = (queryable: Queryable): Queryable => ({
    query: (sql, params) => queryable.query(inSimulatedTime(sql), params),
    script: (sql) => queryable.script(inSimulatedTime(sql)),
  });
  return {
    ...on(db),
    kind: db.kind,
    transaction: (work, options) => db.transaction((tx) => work(on(tx)), options),
    withoutLimits: (work) => db.withoutLimits(work),
    maintain: () => db.maintain(),
    analyzeGrown: () => db.analyzeGrown(),
    copyFiles: (folder) => db.copyFiles(folder),
    onFatal: (listener) => db.onFatal(listener),
    close: () => Promise.resolve(),
  };
}

function inSimulatedTime(sql: string): string {
  return sql.replaceAll(/\b(now|clock_timestamp)\(\)/g, 'simulated.present()');
}
