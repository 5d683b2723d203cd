import type { Queryable } from './drivers/database.js';
import type { Ledger } from './ledger.js';
import { setReaders } from './pigeonholes-asked.js';

/** Maximum number of pigeonholes that share a reader. */
const perReader = 25;

/** A reader's right to read: the number of the reader, and the epoch of the stay that holds it. */
export interface ReaderLease {
  readonly number: number;
  readonly epoch: number;
}

/** A pigeonhole of a reader. */
export interface ReaderMember {
  readonly pigeonholeNumber: number;
  readonly workspace: string;
  readonly pigeonholeId: number;
  /** Increases with each request from outside that the reader has to notice. */
  readonly asked: number;
  /** Whether its workspace has to wait before the next request, or did until its last wait ended. */
  readonly waits: boolean;
}

/** The answer to a beat. */
export interface Beat {
  /** The number of the current configuration. */
  readonly configuration: number;
  readonly members: readonly ReaderMember[];
}

/** SQL query for the pigeonholes that a sync in use has selected. */
const selected = `select n.pigeonhole_number from selections n join syncs y on y.name = n.sync
  where n.archived_at is null and y.archived_at is null`;

const isMisassigned = `(p.reader is null) = (p.pigeonhole_number in (${selected}))`;

/**
 * Gives each selected pigeonhole a reader, and takes it from the others. Fills the readers that have room before it adds
 * one. A pigeonhole keeps its reader until no sync selects it. A second call changes nothing.
 */
export async function assignReaders(ledger: Ledger): Promise<void> {
  const wrong = await ledger.db.query(`select 1 from pigeonholes p where ${isMisassigned} limit 1`);
  if (wrong.length === 0) return;
  await ledger.db.transaction(async (tx) => {
    await tx.query('lock table readers in share row exclusive mode'); // also against `endEmptyReader`
    const rows = await tx.query<{ pigeonholeNumber: number; reader: number | null }>(
      `select pigeonhole_number as "pigeonholeNumber", reader from pigeonholes p where ${isMisassigned}
         order by pigeonhole_number for no key update`,
    );
    const left = rows.filter(({ reader }) => reader !== null);
    await setReaders(
      tx,
      left.map(({ pigeonholeNumber }) => ({ pigeonholeNumber, reader: null })),
    );
    const missing = rows.filter(({ reader }) => reader === null);
    await setReaders(tx, await placesFor(tx, missing));
  });
}

/** Returns a reader for each of these pigeonholes, and adds readers as needed. */
async function placesFor(
  tx: Queryable,
  pigeonholes: readonly { readonly pigeonholeNumber: number }[],
): Promise<{ pigeonholeNumber: number; reader: number }[]> {
  const readers = await tx.query<{ number: number; members: number }>(
    `select r.number, count(p.pigeonhole_number)::int as members from readers r
       left join pigeonholes p on p.reader = r.number
     group by r.number having count(p.pigeonhole_number) < $1 order by r.number`,
    [perReader],
  );
  const places = readers.flatMap(({ number, members }) => Array<number>(perReader - members).fill(number));
  while (places.length < pigeonholes.length) {
    const [added] = await tx.query<{ number: number }>('insert into readers default values returning number');
    places.push(...Array<number>(perReader).fill(added!.number));
  }
  return pigeonholes.map(({ pigeonholeNumber }, index) => ({ pigeonholeNumber, reader: places[index]! }));
}

/** Returns the numbers of all readers. */
export async function readerNumbers(ledger: Ledger): Promise<number[]> {
  const rows = await ledger.db.query<{ number: number }>('select number from readers order by number');
  return rows.map(({ number }) => number);
}

/** Returns the numbers of the readers of these pigeonholes. */
export async function readersOf(
  ledger: Ledger,
  pigeonholes: readonly { readonly workspace: string; readonly pigeonholeId: number }[],
): Promise<number[]> {
  const rows = await ledger.db.query<{ number: number }>(
    `select distinct p.reader as number from pigeonholes p
       join unnest($1::text[], $2::int8[]) as n (workspace, id) on n.workspace = p.workspace and n.id = p.pigeonhole_id
     where p.reader is not null order by 1`,
    [pigeonholes.map(({ workspace }) => workspace), pigeonholes.map(({ pigeonholeId }) => pigeonholeId)],
  );
  return rows.map(({ number }) => number);
}

/**
 * Takes a reader for a new stay. The next beat of the previous stay is refused.
 * @returns undefined if the reader has ended
 */
export async function takeReader(ledger: Ledger, number: number, owner: string): Promise<ReaderLease | undefined> {
  const [row] = await ledger.db.query<ReaderLease>(
    'update readers set epoch = epoch + 1, owner = $2 where number = $1 returning number, epoch',
    [number, owner],
  );
  return row;
}

/**
 * Asks, in one statement, what a stay has to know: whether its epoch is still the newest, the current configuration, and
 * its pigeonholes.
 * @returns undefined if another stay has taken the reader, or the reader has ended
 */
export async function beat(ledger: Ledger, { number, epoch }: ReaderLease): Promise<Beat | undefined> {
  const askedAt = ledger.clock.monotonic();
  const rows = await ledger.db.query<
    { configuration: number; now: Date } & { [Field in keyof ReaderMember]: ReaderMember[Field] | null }
  >(
    `select (select coalesce(max(c.number), 0) from configurations c) as configuration,
       clock_timestamp() as now, p.pigeonhole_number as "pigeonholeNumber", p.workspace,
       p.pigeonhole_id as "pigeonholeId", p.asked,
       exists (select 1 from workspaces w where w.name = p.workspace and w.wait_until is not null) as waits
     from readers r left join pigeonholes p on p.reader = r.number
     where r.number = $1 and r.epoch = $2 order by p.pigeonhole_number`,
    [number, epoch],
  );
  if (rows.length === 0) return undefined;
  ledger.clock.adjust(rows[0]!.now, askedAt);
  const members = rows.flatMap(({ configuration: _, now: __, ...member }) =>
    member.pigeonholeNumber === null ? [] : [member as ReaderMember],
  );
  return { configuration: rows[0]!.configuration, members };
}

/** Gives a reader back at the end of a stay. Changes nothing if another stay has taken it. */
export async function returnReader(ledger: Ledger, { number, epoch }: ReaderLease): Promise<void> {
  await ledger.db.query('update readers set owner = null where number = $1 and epoch = $2', [number, epoch]);
}

/**
 * Ends a reader that has no pigeonholes. Its number is never used again, so a workflow that ends because of it cannot
 * miss a pigeonhole that is assigned at the same moment.
 * @returns false if it has pigeonholes, or another stay has taken it
 */
export async function endEmptyReader(ledger: Ledger, { number, epoch }: ReaderLease): Promise<boolean> {
  return await ledger.db.transaction(async (tx) => {
    await tx.query('lock table readers in share row exclusive mode'); // waits for an assignment
    const ended = await tx.query(
      `delete from readers r where r.number = $1 and r.epoch = $2
         and not exists (select 1 from pigeonholes p where p.reader = r.number) returning r.number`,
      [number, epoch],
    );
    return ended.length > 0;
  });
}
