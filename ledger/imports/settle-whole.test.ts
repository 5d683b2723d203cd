import { randomUUID } from 'node:crypto';
import { until } from '../../test/until.js';
import { heldDatabase, untilOverOrWaiting } from '../../test/kit/held-database.js';
import { forgetEverything } from '../../test/kit/forget-everything.js';
import { kinds, useBothDatabases } from '../drivers/both-databases.test-kit.js';
import type { Database } from '../drivers/database.js';
import { type Ledger, openLedger } from '../ledger.js';
import { testKey } from '../ledger-key.test-kit.js';
import { pause } from '../pauses.js';
import { eraseRegistrants } from '../../people/erase-registrants.js';
import type { ErasureNames } from '../../people/erasures.js';
import { pigeonholeNumberOf } from '../pigeonholes.js';
import { requestCancellation } from './imports.js';
import { beginImport, startImport } from './imports.js';
import { stageRows } from '../../importing/staging.js';
import { type StartedChunk, type NothingStarted, beginChunk } from './chunks.js';
import { type ImportLease, takeImport } from './imports.js';
import { settleWhole } from './settle-chunk.js';

const databases = useBothDatabases();

/** Sends all rows of a piece. */
const all = ({ rows }: { rows: number }): number => rows;

/** Starts an import with this number of rows, from row 2 on, in chunks of ten. */
async function sending(
  db: Database,
  rows: number,
  { canary = null }: { canary?: number | null } = {},
): Promise<{ ledger: Ledger; lease: ImportLease; id: string }> {
  await forgetEverything(db);
  const ledger = await openLedger(db, testKey);
  const id = randomUUID();
  const pigeonholeNumber = await pigeonholeNumberOf(ledger, 'acme', 101);
  const number = await beginImport(ledger, {
    id,
    pigeonholeNumber,
    file: 'f.csv',
    mapping: {},
    requestedBy: null,
    canary,
  });
  const profiles = Array.from({ length: rows }, (_, index) => ({ attendeeCode: `P${index}` }));
  await stageRows(
    ledger,
    number,
    profiles.map((profile, index) => ({ row: index + 2, profile })),
  );
  await startImport(ledger, number, rows);
  await db.query('update imports set chunk_size = 10');
  return { ledger, lease: (await takeImport(ledger, id, 'a test'))!, id };
}

function chunkIn(found: StartedChunk | NothingStarted | undefined): StartedChunk {
  if (found === undefined || 'kind' in found) throw new Error(`nothing was started: ${found?.kind}`);
  return found;
}

/** Makes all transactions wait for the import's row, each with its own snapshot, and then releases them. */
async function whileLocked<T>(db: Database, work: () => Promise<T>, waiting: number): Promise<T> {
  let release!: () => void;
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const locked = db.transaction(async (tx) => {
    await tx.query('select number from imports for update');
    await released;
  });
  const isWaitedFor = async (count: number): Promise<boolean> => {
    const [row] = await db.query<{ waits: number }>('select count(*) as waits from pg_locks where not granted');
    return row!.waits >= count;
  };
  await until('the import is locked', async () => {
    const rows = await db.query('select number from imports for update skip locked');
    return rows.length === 0;
  });
  const done = work();
  try {
    await until('all of them wait', () => isWaitedFor(waiting));
  } finally {
    release();
  }
  const [result] = await Promise.all([done, locked]);
  return result;
}

async function sender(db: Database): Promise<object> {
  const [row] = await db.query('select position, begun, requests, request_number, passed, failures from imports');
  return row!;
}

describe.each(kinds)('settling a created chunk on %s', (kind) => {
  it('marks the next rows in order, and finally the smaller rest', async () => {
    const db = databases.of(kind);
    const { ledger, lease } = await sending(db, 25);
    const first = chunkIn(await beginChunk(ledger, lease, all));
    const second = chunkIn(await settleWhole(ledger, lease, first, { requestId: 'r-1', count: all }));
    const codes = Array.from({ length: 10 }, (_, index) => ({ attendeeCode: `P${index + 10}` }));
    expect(JSON.parse(`[${second.elements}]`)).toEqual(codes);
    expect(second).toMatchObject({ firstRow: 12, lastRow: 21, count: 10, request: 2, piece: { rows: 10 } });
    const third = chunkIn(await settleWhole(ledger, lease, second, { requestId: 'r-2', count: all }));
    expect(third).toMatchObject({ firstRow: 22, lastRow: 26, count: 5, request: 3 });
    expect(await settleWhole(ledger, lease, third, { requestId: 'r-3', count: all })).toEqual({ kind: 'none' });
    expect(
      await db.query('select first_row, row_count, state, request_id from import_chunks order by first_row'),
    ).toEqual([
      { first_row: 2, row_count: 10, state: 'created', request_id: 'r-1' },
      { first_row: 12, row_count: 10, state: 'created', request_id: 'r-2' },
      { first_row: 22, row_count: 5, state: 'created', request_id: 'r-3' },
    ]);
    expect(await sender(db)).toMatchObject({ position: 26, begun: 25, requests: 3, request_number: 3, passed: 3 });
  });

  it('returns no row twice to callers that settle at the same time', async () => {
    const db = databases.of(kind);
    const { ledger, lease } = await sending(db, 120);
    await db.query(`insert into workspaces (name, registrants_at_once) values ('acme', 10)
      on conflict (name) do update set registrants_at_once = 10`);
    let chunks: StartedChunk[] = [];
    for (let n = 0; n < 4; n += 1) chunks.push(chunkIn(await beginChunk(ledger, lease, all)));
    const rows = chunks.map(({ firstRow }) => firstRow);
    while (chunks.length > 0) {
      const settle = (): Promise<(StartedChunk | NothingStarted | undefined)[]> =>
        Promise.all(chunks.map((chunk) => settleWhole(ledger, lease, chunk, { requestId: null, count: all })));
      const next = await (kind === 'postgres' ? whileLocked(db, settle, chunks.length) : settle());
      chunks = next.filter((begun): begun is StartedChunk => begun !== undefined && !('kind' in begun));
      rows.push(...chunks.map(({ firstRow }) => firstRow));
    }
    expect(rows.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 12 }, (_, index) => 2 + 10 * index));
    expect(await sender(db)).toMatchObject({ position: 121, begun: 120, requests: 12, request_number: 12, passed: 12 });
    const [{ open }] = (await db.query(`select count(*) as open from import_chunks where state <> 'created'`)) as [
      { open: number },
    ];
    expect(open).toBe(0);
  });

  (kind === 'postgres' ? it : it.skip)('marks no row that was erased while the statement waited', async () => {
    const db = databases.of(kind);
    const { ledger, lease } = await sending(db, 25);
    const first = chunkIn(await beginChunk(ledger, lease, all));
    const [erasure] = await db.query<{ number: number }>(
      `insert into erasures (id, asked_hash, names) values ($1, 'x', '{}') returning number`,
      [randomUUID()],
    );
    await db.query(
      `insert into forgotten_codes (pigeonhole_number, code_hash, erasure) select pigeonhole_number, code_hash, $1
         from registrants where row_number = 14`,
      [erasure!.number],
    );
    const eraser = heldDatabase(db, (sql) => sql.startsWith('update imports set file'));
    const places = [
      {
        ...(
          await db.query<{ pigeonholeNumber: number }>('select pigeonhole_number as "pigeonholeNumber" from imports')
        )[0]!,
        codes: [],
      },
    ];
    const names = { asked: null, places } as unknown as ErasureNames;
    const erasing = eraseRegistrants(await openLedger(eraser.db, testKey), erasure!.number, names);
    await until('the erasure holds the lock on the import', () => eraser.isHeld());
    const settling = settleWhole(ledger, lease, first, { requestId: null, count: all });
    await untilOverOrWaiting(db, 'the statement waits for the lock', settling);
    eraser.letGo();
    expect(await erasing).toMatchObject({ rows: 1, beingSent: 0 });
    const codes = [10, 11, 13, 14, 15, 16, 17, 18, 19, 20].map((n) => ({ attendeeCode: `P${n}` }));
    expect(JSON.parse(`[${chunkIn(await settling).elements}]`)).toEqual(codes);
  });

  it('changes nothing if a newer attempt holds the import', async () => {
    const db = databases.of(kind);
    const { ledger, lease, id } = await sending(db, 25);
    const chunk = chunkIn(await beginChunk(ledger, lease, all));
    await takeImport(ledger, id, 'another');
    const before = await sender(db);
    await expect(settleWhole(ledger, lease, chunk, { requestId: 'r-1', count: all })).rejects.toMatchObject({
      kind: 'stale',
    });
    expect(await sender(db)).toEqual(before);
    expect(await db.query('select state, request_id from import_chunks')).toEqual([
      { state: 'sending', request_id: null },
    ]);
  });

  it('sends a piece that is due again before the next rows', async () => {
    const db = databases.of(kind);
    const { ledger, lease } = await sending(db, 40);
    const [first, second] = [
      chunkIn(await beginChunk(ledger, lease, all)),
      chunkIn(await beginChunk(ledger, lease, all)),
    ];
    await db.query(`update import_chunks set state = 'open', unknowns = 1 where first_row = $1`, [first.firstRow]);
    const next = chunkIn(await settleWhole(ledger, lease, second, { requestId: null, count: all }));
    expect(next).toMatchObject({ firstRow: first.firstRow, request: 3, piece: { unknowns: 1 } });
  });

  it('uses the chunk size that the service accepts, and increases it after successes', async () => {
    const db = databases.of(kind);
    const { ledger, lease } = await sending(db, 60);
    const first = chunkIn(await beginChunk(ledger, lease, all));
    await db.query('update imports set chunk_size = 4');
    const second = chunkIn(await settleWhole(ledger, lease, first, { requestId: null, count: all }));
    expect(second).toMatchObject({ firstRow: 12, count: 4, chunkSize: 4 });
    await db.query('update imports set passed = 4');
    const third = chunkIn(await settleWhole(ledger, lease, second, { requestId: null, count: all }));
    expect(third).toMatchObject({ firstRow: 16, count: 8, chunkSize: 8 });
  });

  it('finds rows that follow many rows of other imports', async () => {
    const db = databases.of(kind);
    const { ledger, lease } = await sending(db, 100);
    const first = chunkIn(await beginChunk(ledger, lease, all));
    await db.query('update registrants set import = 99999 where row_number between 12 and 90');
    const second = chunkIn(await settleWhole(ledger, lease, first, { requestId: null, count: all }));
    expect(second).toMatchObject({ firstRow: 91, count: 10 });
    expect(chunkIn(await settleWhole(ledger, lease, second, { requestId: null, count: all }))).toMatchObject({
      firstRow: 101,
      count: 1,
    });
  });

  it('sends only the rows of a canary', async () => {
    const db = databases.of(kind);
    const { ledger, lease } = await sending(db, 40, { canary: 13 });
    const first = chunkIn(await beginChunk(ledger, lease, all));
    const second = chunkIn(await settleWhole(ledger, lease, first, { requestId: null, count: all }));
    expect(second).toMatchObject({ firstRow: 12, count: 3 });
    expect(await settleWhole(ledger, lease, second, { requestId: null, count: all })).toEqual({ kind: 'none' });
  });

  it('settles the chunk and marks nothing if nothing may be sent next', async () => {
    const db = databases.of(kind);
    const { ledger, lease, id } = await sending(db, 60);
    const begin = async (): Promise<StartedChunk> => chunkIn(await beginChunk(ledger, lease, all));
    const chunks = [await begin(), await begin(), await begin()] as const;
    expect(await settleWhole(ledger, lease, chunks[0], { requestId: null, count: null })).toBeUndefined();
    await pause(ledger, {
      scope: 'import',
      name: id,
      pausedBy: 'person',
      cause: 'asked',
      detail: '',
      fingerprint: null,
    });
    expect(await settleWhole(ledger, lease, chunks[1], { requestId: null, count: all })).toEqual({
      kind: 'stop',
      why: 'paused',
    });
    await requestCancellation(ledger, id, 'Ann');
    expect(await settleWhole(ledger, lease, chunks[2], { requestId: null, count: all })).toEqual({
      kind: 'stop',
      why: 'cancel',
    });
    expect(await db.query('select distinct state from import_chunks')).toEqual([{ state: 'created' }]);
    expect(await sender(db)).toMatchObject({ position: 31, requests: 3 });
  });
});
