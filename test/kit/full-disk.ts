import type { Database, Queryable } from '../../ledger/drivers/database.js';
import { StoreError } from '../../ledger/drivers/store-error.js';

/** A store on a disk that can be full. Statements that need space are refused, and their transactions rolled back. */
export interface FullDisk {
  readonly db: Database;
  isFull: boolean;
}

/** @param needsRoom matches statements that need space; on a real disk, this depends on the free space in pages */
export function fullDisk(db: Database, needsRoom: RegExp): FullDisk {
  const disk = { isFull: false };
  const checked = (queryable: Queryable): Queryable => ({
    async query(sql, params) {
      if (disk.isFull && needsRoom.test(sql)) throw new StoreError('full', 'no space is left on the disk of the store');
      return await queryable.query(sql, params);
    },
    script: (sql) => queryable.script(sql),
  });
  const checkedDb: Database = {
    ...checked(db),
    kind: db.kind,
    transaction: (work, options) => db.transaction((tx) => work(checked(tx)), options),
    withoutLimits: (work) => db.withoutLimits(work),
    maintain: () => db.maintain(),
    analyzeGrown: () => db.analyzeGrown(),
    copyFiles: (folder) => db.copyFiles(folder),
    onFatal: (listener) => db.onFatal(listener),
    close: () => Promise.resolve(),
  };
  return Object.assign(disk, { db: checkedDb });
}
