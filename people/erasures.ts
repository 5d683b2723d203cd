import type { PersonPlace } from './find-person.js';
import type { Ledger } from '../ledger/ledger.js';

/** Everything by which a person's data is found. Deleted once the data is erased from the ledger. */
export interface ErasureNames {
  /** The name in the request; null if the erasure was recreated after a restore. */
  readonly asked: string | null;
  readonly places: readonly PersonPlace[];
}

/** A request to forget a person, with its progress. */
export interface Erasure {
  readonly number: number;
  /** A UUID. */
  readonly id: string;
  /** Null once the ledger no longer holds data of the person. */
  readonly names: ErasureNames | null;
  readonly requestedBy: string | null;
  readonly reason: string | null;
  readonly requestedAt: Date;
  readonly clearedAt: Date | null;
  readonly endedAt: Date | null;
}

/**
 * The outcome of an erasure at one place. `erased`: the place holds no data any more; `told`: the place received a
 * request to remove its data but cannot confirm the removal; `nothing`: the place never had data; `waiting`: the place
 * has not answered yet; `by-hand`: an operator has to act.
 */
export interface Receipt {
  readonly place: string;
  readonly count: number;
  readonly outcome: 'erased' | 'told' | 'nothing' | 'waiting' | 'by-hand';
  /** Codes and ids, no personal data. */
  readonly detail: string | null;
  /** A sentence that says what to do. */
  readonly todo: string | null;
}

const columns = `number, id, names, requested_by as "requestedBy", reason, requested_at as "requestedAt",
  cleared_at as "clearedAt", ended_at as "endedAt"`;

interface ErasureRow extends Omit<Erasure, 'names'> {
  names: string | null;
}

const toErasure = ({ names, ...row }: ErasureRow): Erasure => ({
  ...row,
  names: names === null ? null : (JSON.parse(names) as ErasureNames),
});

export async function readErasure(ledger: Ledger, id: string): Promise<Erasure | undefined> {
  const [row] = await ledger.db.query<ErasureRow>(`select ${columns} from erasures where id = $1::uuid`, [id]);
  return row === undefined ? undefined : toErasure(row);
}

/** Returns the latest erasure whose request named the person in the same way; undefined if there is none. */
export async function latestErasureFor(ledger: Ledger, asked: string): Promise<Erasure | undefined> {
  const [row] = await ledger.db.query<ErasureRow>(
    `select ${columns} from erasures where asked_hash = $1 order by number desc limit 1`,
    [ledger.hash.asked(asked)],
  );
  return row === undefined ? undefined : toErasure(row);
}

/**
 * Returns erasures, newest first.
 * @param before number of the last erasure on the previous page; null for the first page
 */
export async function listErasures(
  ledger: Ledger,
  { before, limit }: { readonly before: number | null; readonly limit: number },
): Promise<Erasure[]> {
  const rows = await ledger.db.query<ErasureRow>(
    `select ${columns} from erasures where $1::int4 is null or number < $1 order by number desc limit $2`,
    [before, limit],
  );
  return rows.map(toErasure);
}

/** Returns the UUIDs of erasures that have not ended. A workflow has to run for each of them. */
export async function openErasures(ledger: Ledger): Promise<string[]> {
  const rows = await ledger.db.query<{ id: string }>('select id from erasures where ended_at is null order by number');
  return rows.map(({ id }) => id);
}

export interface KeptReceipt extends Receipt {
  readonly at: Date;
}

export async function receiptsOf(ledger: Ledger, erasure: number): Promise<KeptReceipt[]> {
  return await ledger.db.query<KeptReceipt>(
    'select place, count, outcome, detail, todo, at from erasure_receipts where erasure = $1 order by place',
    [erasure],
  );
}

/** Counts the erased items of an erasure. Reads all items once. */
export async function countErased(ledger: Ledger, erasure: number): Promise<number> {
  const [row] = await ledger.db.query<{ items: number }>(
    `select count(*)::int as items from forgotten f join pigeonholes p on p.workspace = f.workspace
       join items i on i.ref = p.ref and i.subject = f.subject where f.erasure = $1 and i.erased`,
    [erasure],
  );
  return row!.items;
}

/** Returns the names of the workspaces that had the person's data. */
export async function workspacesOf(ledger: Ledger, erasure: number): Promise<string[]> {
  const rows = await ledger.db.query<{ workspace: string }>(
    `select workspace from forgotten where erasure = $1
     union select p.workspace from forgotten_codes c join pigeonholes p on p.ref = c.ref where c.erasure = $1 order by 1`,
    [erasure],
  );
  return rows.map(({ workspace }) => workspace);
}

/** Returns the pigeonholes that contained questions of the people of an erasure. */
export async function refsOfErasedQuestions(ledger: Ledger, erasure: number): Promise<number[]> {
  const rows = await ledger.db.query<{ ref: number }>(
    `select distinct i.ref from forgotten f join pigeonholes p on p.workspace = f.workspace
       join items i on i.ref = p.ref and i.erased and i.list in ('questions', 'qna-questions') and i.subject = f.subject
     where f.erasure = $1`,
    [erasure],
  );
  return rows.map(({ ref }) => ref);
}

/**
 * Waits until every page that is being written is stored, because its transaction may have started before the person
 * was forgotten. Locks one pigeonhole at a time, so that reading waits only briefly.
 */
export async function awaitPages(ledger: Ledger, erasure: number): Promise<void> {
  const rows = await ledger.db.query<{ ref: number }>(
    `select ref from pigeonholes where workspace in (select workspace from forgotten where erasure = $1) order by ref`,
    [erasure],
  );
  for (const { ref } of rows) {
    await ledger.db.query('select 1 from pigeonholes where ref = $1 for share', [ref]);
  }
}

/** Counts the erasures that have cleared the ledger. */
export async function countCleared(ledger: Ledger): Promise<number> {
  const [row] = await ledger.db.query<{ cleared: number }>(
    'select count(*)::int as cleared from erasures where cleared_at is not null',
  );
  return row!.cleared;
}
