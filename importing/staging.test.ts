import { randomUUID } from 'node:crypto';
import { forgetEverything } from '../test/kit/forget-everything.js';
import { kinds, useBothDatabases } from '../ledger/drivers/both-databases.test-kit.js';
import type { Database } from '../ledger/drivers/database.js';
import { type Ledger, openLedger } from '../ledger/ledger.js';
import { testKey } from '../ledger/ledger-key.test-kit.js';
import { pigeonholeNumberOf } from '../ledger/pigeonholes.js';
import { beginImport, startImport } from '../ledger/imports/imports.js';
import { stageAll, type StagedRow } from './staging.js';

const databases = useBothDatabases();

async function staging(db: Database): Promise<{ ledger: Ledger; number: number }> {
  await forgetEverything(db);
  const ledger = await openLedger(db, testKey);
  const pigeonholeNumber = await pigeonholeNumberOf(ledger, 'acme', 101);
  const about = { id: randomUUID(), pigeonholeNumber, file: 'f.csv', mapping: {}, requestedBy: null, canary: null };
  return { ledger, number: await beginImport(ledger, about) };
}

/** Returns N portions of three rows, from row 2 on; the last row of each is invalid. */
function* portions(count: number): Generator<StagedRow[]> {
  for (let row = 2; row < 2 + 3 * count; row += 3) {
    yield [
      { row, profile: { attendeeCode: `P${row}` } },
      { row: row + 1, profile: { attendeeCode: `P${row + 1}` } },
      { row: row + 2, values: { Name: 'Nobody' }, problems: [] },
    ];
  }
}

/** Wraps a store. The test delays or fails its statements and reads the highest number in progress. */
function watched(db: Database, before: () => Promise<void>): { db: Database; most: () => number } {
  let underWay = 0;
  let most = 0;
  const query = async (sql: string, params: never): Promise<never[]> => {
    underWay += 1;
    most = Math.max(most, underWay);
    try {
      await before();
      return await db.query(sql, params);
    } finally {
      underWay -= 1;
    }
  };
  return { db: Object.assign(Object.create(db) as Database, { query }), most: () => most };
}

describe.each(kinds)('staging a file on %s', (kind) => {
  it('stores every row and the number of the last one', async () => {
    const db = databases.of(kind);
    const { ledger, number } = await staging(db);
    expect(await stageAll(ledger, number, portions(20))).toBe(60);
    await startImport(ledger, number, 60);
    expect(await db.query('select rows_claimed, rows_other, last_row from imports')).toEqual([
      { rows_claimed: 40, rows_other: 20, last_row: 61 },
    ]);
  });

  it('has at most three portions in progress at the same time', async () => {
    const db = databases.of(kind);
    const { ledger, number } = await staging(db);
    const slow = watched(db, () => new Promise((resolve) => setImmediate(resolve)));
    await stageAll({ ...ledger, db: slow.db, hash: ledger.hash }, number, portions(9));
    expect(slow.most()).toBe(3);
  });

  it('stops at the first failure, with no statement in progress, and reads no further portions', async () => {
    const db = databases.of(kind);
    const { ledger, number } = await staging(db);
    let read = 0;
    function* counted(): Generator<StagedRow[]> {
      for (const portion of portions(50)) {
        read += 1;
        yield portion;
      }
    }
    let statements = 0;
    const failing = watched(db, async () => {
      statements += 1;
      if (statements === 4) throw new Error('the store is gone');
    });
    const staged = stageAll({ ...ledger, db: failing.db, hash: ledger.hash }, number, counted());
    await expect(staged).rejects.toThrow('the store is gone');
    const atTheEnd = await db.query('select count(*) as rows from registrants');
    expect(read).toBeLessThan(10);
    await new Promise((resolve) => setImmediate(resolve));
    expect(await db.query('select count(*) as rows from registrants')).toEqual(atTheEnd);
  });

  it('records that the import is still being staged', async () => {
    const db = databases.of(kind);
    const { ledger, number } = await staging(db);
    const touchedAgo = async (): Promise<boolean> => {
      const [row] = await db.query<{ recent: boolean }>(
        `select touched_at > now() - interval '1 minute' as recent from imports`,
      );
      return row!.recent;
    };
    await db.query(`update imports set touched_at = now() - interval '9 minutes'`);
    expect(await touchedAgo()).toBe(false);
    await stageAll(ledger, number, portions(1));
    expect(await touchedAgo()).toBe(true);
  });
});
