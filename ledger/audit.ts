import type { Ledger } from './ledger.js';
import { literal } from './sql-expressions.js';

/** A requested action, recorded before it runs. It contains no text that a person has typed and no field of an item. */
export interface RequestedAction {
  /** The token's name. */
  readonly who: string;
  /** The id of a named token; null if the request used the token of the configuration or needed none. */
  readonly token: string | null;
  /** The operation, as the API's description names it. */
  readonly action: string;
  /** The object of the action, such as `sink:hooks` or `pigeonhole:acme/101`; null: the installation as a whole. */
  readonly target: string | null;
  readonly detail: Readonly<Record<string, string | number | boolean | null>>;
  /**
   * The person whose data the action shows, as the hash by which the ledger identifies people; null if it shows none.
   */
  readonly subject: Buffer | null;
  readonly requestId: string;
}

type AuditOutcome = 'done' | 'refused' | 'failed';

export interface AuditEntry extends Omit<RequestedAction, 'subject'> {
  readonly number: number;
  readonly at: Date;
  /** Null: the action is still running, or the process ended before it finished. */
  readonly outcome: AuditOutcome | null;
  /** HTTP status of the answer. */
  readonly status: number | null;
  readonly endedAt: Date | null;
}

interface AuditFilter {
  readonly who: string | null;
  readonly action: string | null;
  readonly target: string | null;
  /** Only requests from this instant on, or before that one, in ISO 8601; absent: all. */
  readonly from?: string | undefined;
  readonly until?: string | undefined;
}

/**
 * Records a request before it is carried out. If it cannot be recorded, it must not be carried out.
 * @returns the number of the record
 */
export async function recordRequest(ledger: Ledger, asked: RequestedAction): Promise<number> {
  const [row] = await ledger.db.query<{ number: number }>(
    `insert into audit (who, token, action, target, detail, subject, request_id)
     values ($1, $2, $3, $4, $5, $6, $7) returning number`,
    [asked.who, asked.token, asked.action, asked.target, JSON.stringify(asked.detail), asked.subject, asked.requestId],
  );
  return row!.number;
}

/** Records the outcome of a requested action. @param asked the number that `recordRequest` returned */
export async function recordResult(
  ledger: Ledger,
  asked: number,
  { outcome, status, requestId }: { outcome: AuditOutcome; status: number; requestId: string },
): Promise<void> {
  await ledger.db.query('insert into audit (asked, outcome, status, request_id) values ($1, $2, $3, $4)', [
    asked,
    outcome,
    status,
    requestId,
  ]);
}

/** Returns a script that records a restore of the store as carried out. @param restore.madeAt instant of the backup; null: not known */
export function recordRestore({
  by,
  madeAt,
  requestId,
}: {
  readonly by: string;
  readonly madeAt: Date | null;
  readonly requestId: string;
}): string {
  return `with asked as (
  insert into audit (who, action, detail, request_id)
    values (${literal(by)}, 'restore', json_build_object('madeAt', ${madeAt === null ? 'null' : literal(madeAt.toISOString())}), ${literal(requestId)})
    returning number)
insert into audit (asked, outcome, status, request_id) select number, 'done', 200, ${literal(requestId)} from asked;`;
}

/**
 * Returns the audit log, newest entry first.
 * @param before number of the last entry of the previous page; null: from the newest
 */
export async function auditEntries(
  ledger: Ledger,
  choice: AuditFilter,
  { before, limit }: { before: number | null; limit: number },
): Promise<AuditEntry[]> {
  const rows = await ledger.db.query<Omit<AuditEntry, 'detail'> & { detail: string }>(
    `select a.number, a.at, a.who, a.token, a.action, a.target, a.detail, a.request_id as "requestId", e.outcome,
       e.status, e.at as "endedAt"
     from audit a left join audit e on e.asked = a.number
     where a.asked is null and ($1::int8 is null or a.number < $1) and ($2::text is null or a.who = $2)
       and ($3::text is null or a.action = $3) and ($4::text is null or a.target = $4)
       and ($6::timestamptz is null or a.at >= $6) and ($7::timestamptz is null or a.at < $7)
     order by a.number desc limit $5`,
    [before, choice.who, choice.action, choice.target, limit, choice.from ?? null, choice.until ?? null],
  );
  return rows.map((row) => ({ ...row, detail: JSON.parse(row.detail) as AuditEntry['detail'] }));
}
