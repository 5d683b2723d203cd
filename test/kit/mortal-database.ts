import type { Database, Queryable } from '../../ledger/drivers/database.js';

/** A moment at which a process can die: before a statement, or after one (or a commit) whose answer it never saw. */
export interface Moment {
  /** Counted from 1 over all moments. */
  readonly n: number;
  readonly sql: string;
}

/**
 * The store as a process sees it that dies at a chosen moment: what was committed by then stands, all else is rolled
 * back, and whatever the process tries afterwards fails. The store itself lives on for the next one.
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
        // Work may end before the answers to what it sent; a process that died meanwhile sends no commit behind them.
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
