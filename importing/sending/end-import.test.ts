import { randomUUID } from 'node:crypto';
import { heldDatabase, untilOverOrWaiting } from '../../test/kit/held-database.js';
import { forgetEverything } from '../../test/kit/forget-everything.js';
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

/** Starts an import of these codes, from row 2 on, and takes it. */
async function taken(ledger: Ledger, codes: readonly string[]): Promise<ImportLease> {
  const id = randomUUID();
  const pigeonholeNumber = await pigeonholeNumberOf(ledger, 'acme', 101);
  const number = await beginImport(ledger, {
    id,
    pigeonholeNumber,
    file: 'f.csv',
    mapping: {},
    requestedBy: null,
    canary: null,
  });
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

    const reviewer = heldDatabase(db, (sql) => sql.startsWith('select round from imports'));
    const reviewing = reviewWaiting(await openLedger(reviewer.db, testKey), second);
    await until('the review is about to lock the import', () => reviewer.isHeld());
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
      const eraser = heldDatabase(db, (sql) => sql.startsWith('update imports set file'));
      const erasing = eraseRegistrants(await openLedger(eraser.db, testKey), erasure, namesOf(first.pigeonholeNumber));
      await until('the erasure has changed the row of the first import', () => eraser.isHeld());
      reviewer.letGo();
      await untilOverOrWaiting(db, 'the review waits for the row', reviewing);
      eraser.letGo();
      await Promise.all([erasing, reviewing]);
      expect(await profiles(db)).not.toContain('A1');
    },
  );
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
