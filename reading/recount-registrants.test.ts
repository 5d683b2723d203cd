import { randomUUID } from 'node:crypto';
import { forgetEverything } from '../test/kit/forget-everything.js';
import type { Database } from '../ledger/drivers/database.js';
import { kinds, useBothDatabases } from '../ledger/drivers/both-databases.test-kit.js';
import { type Ledger, openLedger } from '../ledger/ledger.js';
import { testKey } from '../ledger/ledger-key.test-kit.js';
import { beginImport, startImport } from '../ledger/imports/imports.js';
import { stageRows } from '../importing/staging.js';
import { type ImportLease, takeImport } from '../ledger/imports/imports.js';
import { beginChunk } from '../ledger/imports/chunks.js';
import { pigeonholeNumberOf } from '../ledger/pigeonholes.js';
import { recountRegistrants } from './recount-registrants.js';

const forNobody = { sinks: [], drop: { attendees: [], registrants: [] } };
const databases = useBothDatabases();

/** Creates a pigeonhole whose list of attendees was read and is empty. */
async function openPlace(db: Database): Promise<{ ledger: Ledger; pigeonholeNumber: number }> {
  await forgetEverything(db);
  const ledger = await openLedger(db, testKey);
  const pigeonholeNumber = await pigeonholeNumberOf(ledger, 'acme', 101);
  await db.query(
    `insert into streams (pigeonhole_number, list, session_id, polled_at) values ($1, 'attendees', 0, now())`,
    [pigeonholeNumber],
  );
  return { ledger, pigeonholeNumber };
}

/** Stages an import and sends its rows, starting at row 2. */
async function beginSending(
  { ledger, pigeonholeNumber }: { ledger: Ledger; pigeonholeNumber: number },
  rows: number,
  prefix = 'P',
): Promise<ImportLease> {
  const id = randomUUID();
  const number = await beginImport(ledger, {
    id,
    pigeonholeNumber,
    file: 'f.csv',
    mapping: {},
    requestedBy: null,
    canary: null,
  });
  const staged = Array.from({ length: rows }, (_, index) => ({
    row: index + 2,
    profile: { attendeeCode: `${prefix}${index}` },
  }));
  await stageRows(ledger, number, staged);
  await startImport(ledger, number, rows);
  return (await takeImport(ledger, id, 'a test'))!;
}

async function send({ ledger }: { ledger: Ledger }, lease: ImportLease, count: number): Promise<number> {
  await ledger.db.query('update imports set chunk_size = $2 where number = $1', [lease.number, count]);
  const chunk = await beginChunk(ledger, lease, ({ rows }) => rows);
  if (!('firstRow' in chunk)) throw new Error(`no chunk was started: ${chunk.kind}`);
  return chunk.firstRow;
}

/** Stores that the service has created the chunk that starts at this row. */
async function created({ ledger }: { ledger: Ledger }, firstRow: number): Promise<void> {
  await ledger.db.query(`update import_chunks set state = 'created' where first_row = $1`, [firstRow]);
}

/** Updates the list slice by slice until nothing is left. @returns the codes in the list, sorted */
async function listed({ ledger, pigeonholeNumber }: { ledger: Ledger; pigeonholeNumber: number }): Promise<string[]> {
  for (let more = true; more;) ({ more } = await recountRegistrants(ledger, pigeonholeNumber, forNobody));
  const rows = await ledger.db.query<{ payload: string }>(
    `select payload from items where pigeonhole_number = $1 and list = 'registrants' and payload is not null`,
    [pigeonholeNumber],
  );
  return rows.map(({ payload }) => (JSON.parse(payload) as { attendeeCode: string }).attendeeCode).toSorted();
}

const end = `update imports set state = 'done', ended_at = now() where number = $1`;

describe.each(kinds)('the list of registrants, on %s', (kind) => {
  it('grows chunk by chunk with an import, up to the first chunk that is not settled', async () => {
    const place = await openPlace(databases.of(kind));
    const lease = await beginSending(place, 6);
    const [first, second] = [await send(place, lease, 2), await send(place, lease, 2)];
    expect(await listed(place)).toEqual([]);
    await created(place, second);
    expect(await listed(place)).toEqual([]);
    await created(place, first);
    expect(await listed(place)).toEqual(['P0', 'P1', 'P2', 'P3']);

    await created(place, await send(place, lease, 2));
    expect(await listed(place)).toEqual(['P0', 'P1', 'P2', 'P3', 'P4', 'P5']);
    await place.ledger.db.query(end, [lease.number]);
    expect(await listed(place)).toHaveLength(6);
    const changes = await place.ledger.db.query(`select 1 from changes where list = 'registrants'`);
    expect(changes).toHaveLength(6);
  });

  it('omits registrants that were not created, and decides about ambiguous ones at the end of the import', async () => {
    const place = await openPlace(databases.of(kind));
    const lease = await beginSending(place, 6);
    await created(place, await send(place, lease, 6));
    const outcomes = ['rejected', 'unknown', 'existing', 'existing', 'confirmed'];
    for (const [index, outcome] of outcomes.entries()) {
      await place.ledger.db.query(
        `update registrants set outcome = $3, origin = 1, sent = 'unknown' where import = $1 and row_number = $2`,
        [lease.number, index + 2, outcome],
      );
    }
    expect(await listed(place)).toEqual(['P5']);

    const turn = (index: number, outcome: string): Promise<unknown> =>
      place.ledger.db.query('update registrants set outcome = $3 where import = $1 and row_number = $2', [
        lease.number,
        index + 2,
        outcome,
      ]);
    await turn(1, 'confirmed');
    await turn(3, 'conflict');
    await place.ledger.db.query(end, [lease.number]);
    expect(await listed(place)).toEqual(['P1', 'P2', 'P4', 'P5']);
  });

  it('processes later rounds of an import whose rows precede those of the first', async () => {
    const place = await openPlace(databases.of(kind));
    const lease = await beginSending(place, 4);
    const claimLate = `update registrants set round = $2 where import = $1 and row_number in (2, 4)`;
    await place.ledger.db.query(claimLate, [lease.number, 1]);
    await created(place, await send(place, lease, 4));
    expect(await listed(place)).toEqual(['P1', 'P3']);
    await place.ledger.db.query('update imports set round = 1, position = 0 where number = $1', [lease.number]);
    expect(await listed(place)).toEqual(['P1', 'P3']);
    await created(place, await send(place, lease, 4));
    expect(await listed(place)).toEqual(['P0', 'P1', 'P2', 'P3']);
  });

  it('contains the registrants that a cancelled import created, and none that it did not send', async () => {
    const place = await openPlace(databases.of(kind));
    const lease = await beginSending(place, 4);
    await created(place, await send(place, lease, 2));
    await place.ledger.db.query(`update imports set state = 'cancelled', ended_at = now() where number = $1`, [
      lease.number,
    ]);
    expect(await listed(place)).toEqual(['P0', 'P1']);
  });

  it('processes thousands of rows in slices of 500 row numbers, each in its own transaction', async () => {
    const place = await openPlace(databases.of(kind));
    const lease = await beginSending(place, 1200);
    await created(place, await send(place, lease, 1200));
    const slice = () => recountRegistrants(place.ledger, place.pigeonholeNumber, forNobody);
    const sizes: number[] = [];
    for (let round = 0; round < 4; round += 1) {
      await slice();
      const [row] = await place.ledger.db.query<{ items: number }>(
        `select count(*)::int as items from items where list = 'registrants'`,
      );
      sizes.push(row!.items);
    }
    expect(sizes).toEqual([499, 999, 1200, 1200]); // row 1 is the header
  });

  it('is empty, and writes nothing, in a pigeonhole without imports', async () => {
    const place = await openPlace(databases.of(kind));
    expect(await recountRegistrants(place.ledger, place.pigeonholeNumber, forNobody)).toEqual({
      more: false,
      woken: [],
    });
    expect(await place.ledger.db.query('select 1 from registrant_lists')).toEqual([]);
  });
});
