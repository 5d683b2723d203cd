import type { Database, Queryable } from '../../ledger/drivers/database.js';

/** A store that tracks whether a statement or transaction is in progress. */
export interface WatchedDatabase extends Database {
  /** Resolves when no statement and no transaction has been running for a moment. */
  untilIdle(): Promise<void>;
  /** Runs `work` while nothing else runs: statements and transactions that begin later wait for its end. */
  alone(work: (db: Database) => Promise<void>): Promise<void>;
}

export function watched(db: Database): WatchedDatabase {
  let underWay = 0;
  let held: Promise<void> | undefined;
  const watch = async <T>(work: () => Promise<T>): Promise<T> => {
    while (held !== undefined) await held;
    underWay += 1;
    try {
      return await work();
    } finally {
      underWay -= 1;
    }
  };
  return {
    kind: db.kind,
    query: <Row extends object>(...args: Parameters<Queryable['query']>) => watch(() => db.query<Row>(...args)),
    script: (sql) => watch(() => db.script(sql)),
    transaction: (work, options) => watch(() => db.transaction(work, options)),
    withoutLimits: (work) => watch(() => db.withoutLimits(work)),
    maintain: () => db.maintain(),
    analyzeGrown: () => db.analyzeGrown(),
    copyFiles: (folder) => db.copyFiles(folder),
    onFatal: (listener) => db.onFatal(listener),
    close: () => Promise.resolve(),
    async untilIdle() {
      for (let calm = 0; calm < 3; calm += 1) {
        await new Promise(setImmediate);
        if (underWay > 0) calm = -1;
      }
    },
    async alone(work) {
      let release = (): void => undefined;
      held = new Promise((resolve) => {
        release = resolve;
      });
      try {
        while (underWay > 0) await new Promise(setImmediate);
        await work(db);
      } finally {
        held = undefined;
        release();
      }
    },
  };
}
