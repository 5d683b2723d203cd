import type { Ledger } from '../../ledger/ledger.js';
import { requestSweeps } from '../../ledger/streams-due.js';

/** A statement, as the ledger stores it. */
export interface StoredStatement {
  readonly number: number;
  readonly pigeonholeNumber: number;
  readonly workspace: string;
  readonly pigeonholeId: number;
  /** `closing`: pigeonpost makes it after the end of the event; `request`: an operator requested it. */
  readonly occasion: 'request' | 'closing';
  readonly requestedAt: Date;
  /** Whether the destinations are audited first. */
  readonly audits: boolean;
  /** Null: the audits were not requested yet. */
  readonly auditsRequestedAt: Date | null;
  /** The sinks whose audit was requested. */
  readonly auditedSinks: readonly string[];
  /** Null: it is being made. */
  readonly completedAt: Date | null;
  /** The signed statement, as JSON; null: it is being made. */
  readonly document: string | null;
}

const columns = `s.number, s.pigeonhole_number as "pigeonholeNumber", p.workspace, p.pigeonhole_id as "pigeonholeId",
  s.occasion, s.requested_at as "requestedAt", s.completed_at as "completedAt", s.audits,
  s.audits_requested_at as "auditsRequestedAt", array_to_json(s.audited_sinks)::text as "auditedSinks"`;

/** A row of the table, as `columns` selects it. */
type Row = Omit<StoredStatement, 'auditedSinks'> & { readonly auditedSinks: string };

function toStored({ auditedSinks, ...row }: Row): StoredStatement {
  return { ...row, auditedSinks: JSON.parse(auditedSinks) as string[] };
}

/**
 * Requests a statement, and makes every list of the pigeonhole due for a complete read. If one is being made that was
 * also requested, returns that one. The caller wakes the readers.
 * @param options.audits whether the destinations are audited first
 */
export async function requestStatement(
  ledger: Ledger,
  pigeonholeNumber: number,
  { audits }: { readonly audits: boolean },
): Promise<number> {
  const number = await ledger.db.transaction(async (tx) => {
    const [known] = await tx.query<{ number: number }>(
      `update statements set audits = audits or $2
       where pigeonhole_number = $1 and occasion = 'request' and completed_at is null returning number`,
      [pigeonholeNumber, audits],
    );
    if (known !== undefined) return known.number;
    const [added] = await tx.query<{ number: number }>(
      `insert into statements (pigeonhole_number, occasion, audits) values ($1, 'request', $2)
       on conflict (pigeonhole_number, occasion) where completed_at is null do nothing returning number`,
      [pigeonholeNumber, audits],
    );
    if (added !== undefined) await requestSweeps(tx, pigeonholeNumber, null);
    return added?.number;
  });
  return number ?? (await requestStatement(ledger, pigeonholeNumber, { audits })); // another process has just added one
}

/** After this time, pigeonpost no longer makes the closing statement of an event, such as after a long standstill. */
const tooLateMs = 7 * 24 * 3_600_000;

/**
 * Requests the closing statements that are due: of events whose end is at least this long ago. Each end of an event
 * has one closing statement, whatever happens between the calls.
 * @param pigeonholeNumbers those that are read
 * @returns whether there are new ones; the caller wakes the readers
 */
export async function requestClosingStatements(
  ledger: Ledger,
  pigeonholeNumbers: readonly number[],
  afterEndMs: number,
): Promise<boolean> {
  const due = await ledger.db.query<{ pigeonholeNumber: number }>(
    `select p.pigeonhole_number as "pigeonholeNumber" from pigeonholes p
     where p.pigeonhole_number = any($1::int4[]) and p.pigeonhole_id <> 0 and p.gone_at is null and ${isDue}`,
    [pigeonholeNumbers, afterEndMs, tooLateMs],
  );
  for (const { pigeonholeNumber } of due) {
    await ledger.db.transaction(async (tx) => {
      const added = await tx.query(
        `insert into statements (pigeonhole_number, occasion, ended_at)
         select p.pigeonhole_number, 'closing', p.ended_at from pigeonholes p
         where p.pigeonhole_number = $1::int4 and ${isDue} on conflict do nothing returning number`,
        [pigeonholeNumber, afterEndMs, tooLateMs],
      );
      if (added.length > 0) await requestSweeps(tx, pigeonholeNumber, null);
    });
  }
  return due.length > 0;
}

/** SQL condition: the closing statement of pigeonhole `p` is due, $2 ms after its end, and is not $3 ms too late. */
const isDue = `p.ended_at + $2::float8 * interval '1 millisecond' between now() - $3::float8 * interval '1 millisecond' and now()
  and not exists (select 1 from statements s where s.pigeonhole_number = p.pigeonhole_number
    and (s.ended_at = p.ended_at or (s.occasion = 'closing' and s.completed_at is null)))`;

/** Returns the statements that are being made. */
export async function openStatements(ledger: Ledger): Promise<StoredStatement[]> {
  const rows = await ledger.db.query<Row>(
    `select ${columns}, null as document from statements s join pigeonholes p on p.pigeonhole_number = s.pigeonhole_number
     where s.completed_at is null order by s.number`,
  );
  return rows.map(toStored);
}

/** Notes that the audits for a statement were requested, unless another process has noted it. */
export async function noteAudits(
  ledger: Ledger,
  number: number,
  { at, sinks }: { readonly at: Date; readonly sinks: readonly string[] },
): Promise<void> {
  await ledger.db.query(
    `update statements set audits_requested_at = $2, audited_sinks = $3::text[]
     where number = $1 and audits_requested_at is null`,
    [number, at, sinks],
  );
}

/** Stores a signed statement. @returns false if another process has stored one */
export async function storeStatement(
  ledger: Ledger,
  number: number,
  { document, completedAt, agrees, open }: { document: string; completedAt: Date; agrees: boolean; open: number },
): Promise<boolean> {
  const rows = await ledger.db.query(
    `update statements set document = $2, completed_at = $3, agrees = $4, open_points = $5
     where number = $1 and completed_at is null returning number`,
    [number, document, completedAt, agrees, open],
  );
  return rows.length > 0;
}

/** Returns a statement; undefined if there is none with this number. */
export async function findStatement(ledger: Ledger, number: number): Promise<StoredStatement | undefined> {
  const [row] = await ledger.db.query<Row>(
    `select ${columns}, s.document from statements s join pigeonholes p on p.pigeonhole_number = s.pigeonhole_number
     where s.number = $1`,
    [number],
  );
  return row && toStored(row);
}

/** A statement without its document. */
export interface StatementEntry extends Omit<
  StoredStatement,
  'document' | 'pigeonholeNumber' | 'audits' | 'auditsRequestedAt' | 'auditedSinks'
> {
  /** Null: it is being made. */
  readonly agrees: boolean | null;
  readonly openPoints: number | null;
}

/** Returns the latest statements of a pigeonhole, newest first. */
export async function latestStatements(
  ledger: Ledger,
  { workspace, pigeonholeId, limit }: { workspace: string; pigeonholeId: number; limit: number },
): Promise<StatementEntry[]> {
  return await ledger.db.query<StatementEntry>(
    `select s.number, p.workspace, p.pigeonhole_id as "pigeonholeId", s.occasion, s.requested_at as "requestedAt",
       s.completed_at as "completedAt", s.agrees, s.open_points as "openPoints"
     from statements s join pigeonholes p on p.pigeonhole_number = s.pigeonhole_number
     where p.workspace = $1 and p.pigeonhole_id = $2 order by s.number desc limit $3`,
    [workspace, pigeonholeId, limit],
  );
}

/** A completed closing statement, for the message about it. */
export interface ClosingStatement extends Pick<StatementEntry, 'number' | 'workspace' | 'pigeonholeId'> {
  readonly completedAt: Date;
  readonly agrees: boolean;
  readonly openPoints: number;
}

/** Returns the closing statements that were completed after an instant, without the known ones. */
export async function closingStatements(
  ledger: Ledger,
  { after, known }: { readonly after: Date; readonly known: readonly number[] },
): Promise<ClosingStatement[]> {
  return await ledger.db.query<ClosingStatement>(
    `select s.number, p.workspace, p.pigeonhole_id as "pigeonholeId", s.completed_at as "completedAt", s.agrees,
       s.open_points as "openPoints"
     from statements s join pigeonholes p on p.pigeonhole_number = s.pigeonhole_number
     where s.occasion = 'closing' and s.completed_at > $1 and not (s.number = any($2::int4[])) order by s.number`,
    [after, known],
  );
}
