import { randomUUID } from 'node:crypto';
import { countWaiting, heldDatabase, untilOverOrWaiting } from '../../test/kit/held-database.js';
import { forgetEverything } from '../../test/kit/forget-everything.js';
import { createDeferred } from '../../base/deferred.js';
import { until } from '../../test/until.js';
import { kinds, useBothDatabases } from '../../ledger/drivers/both-databases.test-kit.js';
import type { Database } from '../../ledger/drivers/database.js';
import { type Ledger, openLedger } from '../../ledger/ledger.js';
import { testKey } from '../../ledger/ledger-key.test-kit.js';
import { pigeonholeNumberOf } from '../../ledger/pigeonholes.js';
import { importFigures } from '../../operations/ledger-status.js';
import { eraseRegistrants } from '../../people/erase-registrants.js';
import type { ErasureNames } from '../../people/erasures.js';
import { beginImport, startImport } from '../../ledger/imports/imports.js';
import { stageRows } from '../staging.js';
import { readImport } from '../read-import.js';
import { beginChunk, type StartedChunk } from '../../ledger/imports/chunks.js';
import { type ImportLease, takeImport } from '../../ledger/imports/imports.js';
import { endCancelledImport, reviewWaiting } from './end-import.js';
import { countToSend } from './settle-answer.js';
import { settleChunk } from '../../ledger/imports/settle-chunk.js';

const databases = useBothDatabases();

/** Begins an import. Its rows can be staged. */
async function begun(ledger: Ledger): Promise<{ id: string; number: number }> {
  const id = randomUUID();
  const pigeonholeNumber = await pigeonholeNumberOf(ledger, 'acme', 101);
  const about = { id, pigeonholeNumber, file: 'f.csv', mapping: {}, requestedBy: null, canary: null };
  return { id, number: await beginImport(ledger, about) };
}

/** Starts an import of these codes, from row 2 on, and takes it. */
async function taken(ledger: Ledger, codes: readonly string[]): Promise<ImportLease> {
  const { id, number } = await begun(ledger);
  const rows = codes.map((attendeeCode, index) => ({ row: index + 2, profile: { attendeeCode } }));
  await stageRows(ledger, number, rows);
  await startImport(ledger, number, rows.length);
  return (await takeImport(ledger, id, 'a test'))!;
}

/** Requests the erasure of the person with this code, without carrying it out. @returns its number */
async function forgetting({ db, hash }: Ledger, pigeonholeNumber: number, code: string): Promise<number> {
  const [erasure] = await db.query<{ number: number }>(
    `insert into erasures (id, asked_hash, names) values ($1, 'x', '{}') returning number`,
    [randomUUID()],
  );
  const { number } = erasure!;
  await db.query('insert into forgotten_codes (pigeonhole_number, code_hash, erasure) values ($1, $2, $3)', [
    pigeonholeNumber,
    hash.attendeeCode(code),
    number,
  ]);
  return number;
}

function namesOf(pigeonholeNumber: number): ErasureNames {
  return { asked: null, places: [{ pigeonholeNumber, codes: [] }] } as unknown as ErasureNames;
}

/** Returns the profiles of all rows of all imports, as one text. */
async function profiles(db: Database): Promise<string> {
  const all = 'select profile::text from registrants union all select profile::text from import_rows';
  return JSON.stringify(await db.query(all));
}

describe.each(kinds)('the review of waiting rows on %s', (kind) => {
  // The embedded store has one connection, so an erasure cannot commit between two statements of the review.
  (kind === 'postgres' ? it : it.skip)('claims no row of a person who is erased meanwhile', async () => {
    const db = databases.of(kind);
    await forgetEverything(db);
    const ledger = await openLedger(db, testKey);
    const first = await taken(ledger, ['A1', 'A2']);
    const second = await taken(ledger, ['A1', 'A2']);
    expect(await reviewWaiting(ledger, second)).toEqual({ claimed: 0, waiting: 2 });
    await endCancelledImport(ledger, first);

    const reviewer = heldDatabase(db, (sql) => sql.startsWith('select number from imports'));
    const reviewing = reviewWaiting(await openLedger(reviewer.db, testKey), second);
    await until('the review is about to lock the imports', () => reviewer.isHeld());
    const erasure = await forgetting(ledger, first.pigeonholeNumber, 'A1');
    expect(await eraseRegistrants(ledger, erasure, namesOf(first.pigeonholeNumber))).toMatchObject({
      rows: 2,
      beingSent: 0,
    });
    reviewer.letGo();
    expect(await reviewing).toEqual({ claimed: 1, waiting: 0 });
    expect(await db.query('select profile from registrants where import = $1', [second.number])).toEqual([
      { profile: '{"attendeeCode":"A2"}' },
    ]);
    expect(await profiles(db)).not.toContain('A1');
  });

  (kind === 'postgres' ? it : it.skip)(
    'keeps no profile of a row whose person is erased as it is claimed',
    async () => {
      const db = databases.of(kind);
      await forgetEverything(db);
      const ledger = await openLedger(db, testKey);
      const first = await taken(ledger, ['A1', 'A2']);
      const second = await taken(ledger, ['A1', 'A2']);
      await endCancelledImport(ledger, first);
      const erasure = await forgetting(ledger, first.pigeonholeNumber, 'A1');
      const reviewer = heldDatabase(db, (sql) => sql.startsWith('with judged'));
      const reviewing = reviewWaiting(await openLedger(reviewer.db, testKey), second);
      await until('the review is about to claim the rows', () => reviewer.isHeld());
      const erasing = eraseRegistrants(ledger, erasure, namesOf(first.pigeonholeNumber));
      await untilOverOrWaiting(db, 'the erasure waits for the imports', erasing);
      reviewer.letGo();
      await Promise.all([erasing, reviewing]);
      expect(await profiles(db)).not.toContain('A1');
    },
  );
});

describe.each(kinds)('two imports that claim codes of each other on %s', (kind) => {
  // The embedded store has one connection, so two reviews cannot wait for each other.
  (kind === 'postgres' ? it : it.skip)('review their waiting rows one after the other', async () => {
    const db = databases.of(kind);
    await forgetEverything(db);
    const ledger = await openLedger(db, testKey);
    const codes = ['claimed', 'same', 'exists'];
    const first = await begun(ledger);
    const second = await begun(ledger);
    const own = (prefix: string) =>
      codes.map((code, at) => ({ row: at + 2, profile: { attendeeCode: prefix + code } }));
    const others = (prefix: string) =>
      codes.map((code, at) => {
        const profile = { attendeeCode: prefix + code, ...(code === 'claimed' && { Name: 'Corrected' }) };
        return { row: at + 5, profile };
      });
    await stageRows(ledger, first.number, own('A'));
    await stageRows(ledger, second.number, [...own('B'), ...others('A')]);
    await stageRows(ledger, first.number, others('B'));
    const leases: ImportLease[] = [];
    for (const { id, number } of [first, second]) {
      await startImport(ledger, number, 6);
      leases.push((await takeImport(ledger, id, 'a test'))!);
      // Each import has refused two of its codes: one that the other corrected, and one that it has as well.
      await db.query(
        `update registrants set outcome = case when row_number = 4 then 'created' else 'rejected' end where import = $1`,
        [number],
      );
    }

    // Holds a count that each review writes after it has claimed the code of the other import, and before the next count.
    await db.query(`insert into import_counts (import, outcome, rows) select number, 'existing', 0 from imports`);
    const free = createDeferred();
    const isHolding = createDeferred();
    const holding = db.transaction(async (tx) => {
      await tx.query(`select 1 from import_counts where outcome = 'existing' for update`);
      isHolding.resolve();
      await free.promise;
    });
    await isHolding.promise;
    const reviews = leases.map(async (lease) => await reviewWaiting(ledger, lease));
    await until('both reviews wait', async () => (await countWaiting(db)) === 2);
    free.resolve();
    await holding;
    expect(await Promise.all(reviews)).toEqual([
      { claimed: 1, waiting: 0 },
      { claimed: 1, waiting: 0 },
    ]);
  });
});

describe.each(kinds)('the rows left of an import on %s', (kind) => {
  it('do not include rows that were erased before they were sent', async () => {
    const db = databases.of(kind);
    await forgetEverything(db);
    const ledger = await openLedger(db, testKey);
    const lease = await taken(ledger, ['A1', 'A2', 'A3']);
    const rowsLeft = async () => (await importFigures(ledger)).map((each) => each.rowsLeft);
    const erase = async (code: string): Promise<void> => {
      const erasure = await forgetting(ledger, lease.pigeonholeNumber, code);
      for (let run = 0; run < 2; run += 1) await eraseRegistrants(ledger, erasure, namesOf(lease.pigeonholeNumber));
    };
    expect(await rowsLeft()).toEqual([3]);
    await erase('A1');
    expect(await rowsLeft()).toEqual([2]);
    await db.query('update imports set chunk_size = 1');
    expect(await beginChunk(ledger, lease, countToSend)).toMatchObject({ count: 1 });
    expect(await rowsLeft()).toEqual([1]);
    await db.query(`update import_chunks set state = 'open'`); // as if the quota had refused the request
    await erase('A2');
    expect(await rowsLeft()).toEqual([1]);
  });

  it('do not include rows that were erased before the import started', async () => {
    const db = databases.of(kind);
    await forgetEverything(db);
    const ledger = await openLedger(db, testKey);
    const { number, pigeonholeNumber } = await taken(ledger, ['A1', 'A2', 'A3']);
    await db.query(`update imports set state = 'staging'`);
    await eraseRegistrants(ledger, await forgetting(ledger, pigeonholeNumber, 'A1'), namesOf(pigeonholeNumber));
    await startImport(ledger, number, 3);
    expect((await importFigures(ledger)).map((each) => each.rowsLeft)).toEqual([2]);
  });
});

describe.each(kinds)('the end of a cancelled import on %s', (kind) => {
  it('leaves only those rows unknown that a request without an answer contained', async () => {
    const db = databases.of(kind);
    await forgetEverything(db);
    const ledger = await openLedger(db, testKey);
    const lease = await taken(ledger, ['A1', 'A2', 'A3', 'A4', 'A5']);
    await db.query('update imports set chunk_size = 4');
    const all = ({ rows }: { rows: number }): number => rows;
    const chunk = (await beginChunk(ledger, lease, all)) as StartedChunk;
    // The service refused a row, which it did not name, and is known to create nothing then: half of the rows are sent.
    const pieces = [{ ...chunk.piece, suspects: 4, created: false }];
    const learned = { rows: [], withoutEffect: null, refusesWhole: false, smaller: null, indexBase: null };
    const settlement = { ...learned, pieces, requestId: null, failing: null, unspent: false };
    await settleChunk(ledger, lease, chunk, { settlement, count: null });
    expect(await beginChunk(ledger, lease, countToSend)).toMatchObject({ firstRow: 2, lastRow: 5, count: 2 });

    const successor = (await takeImport(ledger, lease.id, 'another'))!;
    await endCancelledImport(ledger, successor);
    expect((await readImport(ledger, lease.id))?.counts).toMatchObject({ unknown: 2, cancelled: 3 });
    expect(await db.query(`select row_number from registrants where outcome = 'unknown' order by 1`)).toEqual([
      { row_number: 2 },
      { row_number: 3 },
    ]);
  });
});
