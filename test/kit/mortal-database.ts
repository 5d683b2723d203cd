import type { Database, Queryable } from '../../ledger/drivers/database.js';

/** A moment at which a process can die: before a statement, or after a statement or commit, before its answer. */
export interface Moment {
  /** Number of the moment, starting from 1. */
  readonly n: number;
  readonly sql: string;
}

/**
 * Wraps a store for a process that dies at a chosen moment. Committed data stays, everything else is rolled back, and
 * all later attempts of the process fail. The store itself remains usable for the next process.
 */
export function mortalDatabase(db: Database, isLast: (moment: Moment) => boolean): Database {
  let n = 0;
  let dead = false;
  const live = (sql: string): void => {
    n += 1;
    dead ||= isLast({ n, sql });
    if (dead) throw new ProcessDied();
  };
  const mortal = (queryable: Queryable): Queryable => ({
    async query(sql, params) {
      live(sql);
      const rows = await queryable.query(sql, params);
      live(sql);
      return rows as never;
    },
    async script(sql) {
      live(sql);
      await queryable.script(sql);
      live(sql);
    },
  });
  return {
    ...mortal(db),
    kind: db.kind,
    async transaction(work, options) {
      live('begin');
      const result = await db.transaction(async (tx) => {
        const done = await work(mortal(tx));
        // `work` may end before its statements are answered. A process that has died in the meantime must not send the
        // commit.
        live('before commit');
        return done;
      }, options);
      live('commit');
      return result;
    },
    withoutLimits: (work) => db.withoutLimits(work),
    maintain: () => db.maintain(),
    analyzeGrown: () => db.analyzeGrown(),
    copyFiles: (folder) => db.copyFiles(folder),
    onFatal: (listener) => db.onFatal(listener),
    close: () => Promise.resolve(),
  };
}

export class ProcessDied extends Error {
  override readonly name = 'ProcessDied';

  constructor() {
    super('the process died here');
  }
}
