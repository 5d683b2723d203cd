import { createHash } from 'node:crypto';
import type { ClientBase } from 'pg';
import type { Queryable } from './database.js';
import { type SqlValue, toSqlParameter } from './sql-values.js';
import { type StoreError, breaksConnection, isOfStalePlan, toStoreError } from './store-error.js';

/**
 * Settings that both drivers apply to every new connection:
 * - The text forms that `resultTypes` can read, whatever the defaults of the server or the user are.
 * - A new plan for each run of a statement. A plan kept from the first runs would suit tables that were empty then.
 *   With such plans, a first walk compared each page by reading all earlier pages (measured: 25 ms per page grew to 43
 *   ms within 30,000 items). Planning again costs 0.1 ms; the statement's text is still parsed only once.
 * - No JIT compilation. PostgreSQL chooses it by the estimated cost, but all of these statements return only a few rows
 *   (measured: JIT took 120 of the 125 ms of taking a batch from a backlog of 40,000).
 */
export const sessionSettings =
  "set timezone = 'UTC'; set datestyle = 'ISO'; set bytea_output = 'hex'; set plan_cache_mode = force_custom_plan; set jit = off";

/**
 * A connection, used by one caller at a time. Several statements are sent together and run in order (`pipelining`), so
 * the server does not wait for the client between them. Both drivers speak PostgreSQL's protocol through `pg` and share
 * this code.
 */
export class Connection implements Queryable {
  /** True if a statement failed in such a way that this connection must be closed. */
  isBroken = false;

  constructor(
    private readonly client: ClientBase,
    /** Name of the store in errors. */
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

  /**
   * Runs `begin`, `commit` or `rollback`. Returns the command in the server's answer, which may be ROLLBACK for a
   * commit.
   */
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

const names = new Map<string, string>();
let generation = 0;

/**
 * Maximum number of statement texts that get a name. Each costs memory in every connection until it closes. pigeonpost
 * has about a hundred texts; if a text contained values, the number would otherwise grow without limit.
 */
const maxNames = 1000;

/**
 * Returns the name under which a connection prepares a statement, so that its text is parsed only once (embedded, a
 * look-up takes 50 µs instead of 170). Undefined: the statement runs unprepared.
 */
function statementName(sql: string): string | undefined {
  const known = names.get(sql);
  if (known !== undefined) return known;
  if (names.size >= maxNames) return undefined;
  const name = `${createHash('sha256').update(sql).digest('hex').slice(0, 32)}_${generation}`;
  names.set(sql, name);
  return name;
}

/**
 * Makes all connections prepare every statement again, because a table changed its columns and the prepared statements
 * are outdated (SQLSTATE 0A000, "cached plan must not change result type"). The outdated statements remain until their
 * connections close.
 */
function forgetPlans(): void {
  generation += 1;
  names.clear();
}

const known = new Map<string, ReadonlyMap<number, string>>();
/** Maximum number of statement texts whose array types are remembered. Any other text is searched each time it runs. */
const maxTexts = 1000;

/** Other names of the same types that statements may use. */
const sameType: Readonly<Record<string, string>> = { integer: 'int4', int: 'int4', bigint: 'int8', bool: 'boolean' };

/** Returns the element types to which a statement casts its array parameters (`$3::text[]`), by position from 0. */
function arrayTypes(sql: string): ReadonlyMap<number, string> {
  let types = known.get(sql);
  if (types !== undefined) return types;
  types = new Map(
    [...sql.matchAll(/\$(\d+)::(\w+)\[\]/g)].map(([, number, type]) => [Number(number) - 1, sameType[type!] ?? type!]),
  );
  if (known.size < maxTexts) known.set(sql, types);
  return types;
}
