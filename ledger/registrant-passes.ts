import type { Queryable } from './drivers/database.js';
import { standing } from './registrant-standing.js';

/** Maximum number of row numbers that one transaction checks. */
const rowsAtOnce = 500;

/**
 * SQL expression over `i` (imports) and `s` for the last settled row of a pass's round: the row before the first chunk
 * that still has to be sent, or else the last row of any chunk. All rows, once a later round has started or the import
 * has ended.
 */
const settledUntil = `case when s.ended or s.round < i.round then i.last_row else coalesce(
  (select min(c.first_row) - 1 from import_chunks c where c.import = i.number and c.round = s.round and c.state <> 'created'),
  i.position) end`;

/** The imports of pigeonhole `$1` that have rows to check, as an SQL table expression. */
const unseenRows = `imports i
  left join registrant_passes p on p.import = i.number
  cross join lateral (select coalesce(p.round, 0) as round, coalesce(p.after_row, 0) as after_row,
    coalesce(p.stage, 'rows') as stage, i.state in ('done', 'cancelled') as ended) s
  cross join lateral (select case when s.stage = 'late' then i.last_row else ${settledUntil} end as until) u
  where i.ref = $1 and i.state <> 'staging' and s.stage <> 'done'
    and (u.until > s.after_row or s.round < i.round or s.ended)`;

/**
 * Whether a code is known to be its registrant's, as an SQL condition over `r` (registrants) and `i` (imports). What was
 * not plainly created an import knows at its end: a code that was there may be in conflict, then another person's.
 */
export const isThere = `coalesce(${standing} = 'created'
  or (r.outcome in ('confirmed', 'existing') and i.state in ('done', 'cancelled')), false)`;

/** Whether some import of pigeonhole `$1` has rows to check, as an SQL condition. */
export const hasUnseenRows = `exists (select 1 from ${unseenRows})`;

interface PassRow {
  number: number;
  round: number;
  after_row: number;
  stage: 'rows' | 'late';
  until: number;
  /** No row is added after `until`: a later round has started, or the import has ended. */
  closed: boolean;
  last_round: number;
}

/**
 * Returns the next settled rows of a pigeonhole's imports. Each created row is returned once. For other rows only the end
 * of the import decides: they are checked again then.
 * @returns the hashes of their codes, maybe none; undefined when no row has to be checked
 */
export async function nextSettledCodes(tx: Queryable, ref: number): Promise<readonly Buffer[] | undefined> {
  const [pass] = await tx.query<PassRow>(
    `select i.number, s.round, s.after_row, s.stage, u.until, s.ended or s.round < i.round as closed, i.round as last_round
     from ${unseenRows} order by i.number limit 1`,
    [ref],
  );
  if (pass === undefined) return undefined;
  // A window, and no "next 500": that would be sorted out of all that is left where statistics lack.
  const lastRow = Math.min(pass.until, pass.after_row + rowsAtOnce);
  const rows = await tx.query<{ code_hash: Buffer }>(
    `select code_hash from registrants where import = $1 and row_number > $2 and row_number <= $3
       and case when $4 then outcome in ('confirmed', 'existing') else round = $5 end`,
    [pass.number, pass.after_row, lastRow, pass.stage === 'late', pass.round],
  );
  const next = placeBehind(pass, lastRow);
  await tx.query(
    `insert into registrant_passes (import, round, after_row, stage) values ($1, $2, $3, $4)
     on conflict (import) do update set round = excluded.round, after_row = excluded.after_row, stage = excluded.stage`,
    [pass.number, next.round, next.afterRow, next.stage],
  );
  return rows.map(({ code_hash: codeHash }) => codeHash);
}

/** The position after these rows. Pure. @param lastRow the last row that was checked */
function placeBehind(
  { stage, round, until, closed, last_round: lastRound }: PassRow,
  lastRow: number,
): { stage: 'rows' | 'late' | 'done'; round: number; afterRow: number } {
  if (lastRow < until || !closed) return { stage, round, afterRow: lastRow };
  if (stage === 'late') return { stage: 'done', round, afterRow: lastRow };
  return round < lastRound ? { stage, round: round + 1, afterRow: 0 } : { stage: 'late', round, afterRow: 0 };
}

/** Makes pigeonpost check all rows of a pigeonhole's imports again. */
export async function beginPasses(tx: Queryable, ref: number): Promise<void> {
  await tx.query('delete from registrant_passes p using imports i where i.number = p.import and i.ref = $1', [ref]);
}
