import type { Queryable } from '../../drivers/database.js';

/** Rows that are looked at in one transaction. */
const rowsAtOnce = 500;
/** Behind every row. */
const end = 2_147_483_647;

/**
 * How far the rows of a pass's round are settled for good, as an SQL expression over `i` (imports) and `s`: up to the
 * first that stands in a chunk still to be sent, or else to the last that stands in any; everything, once a later round
 * has begun or the import has ended.
 */
const settledUntil = `case when s.ended or s.round < i.round then ${end} else coalesce(
  (select min(c.first_row) - 1 from import_chunks c where c.import = i.number and c.round = s.round and c.state <> 'created'),
  i.position) end`;

/** The imports of pigeonhole `$1` that have rows to look at, as an SQL table expression. */
const unseenRows = `imports i
  left join registrant_passes p on p.import = i.number
  cross join lateral (select coalesce(p.round, 0) as round, coalesce(p.after_row, 0) as after_row,
    coalesce(p.stage, 'rows') as stage, i.state in ('done', 'cancelled') as ended) s
  cross join lateral (select case when s.stage = 'late' then ${end} else ${settledUntil} end as until) u
  where i.ref = $1 and i.state <> 'staging' and s.stage <> 'done' and u.until > s.after_row`;

/** Whether some import of pigeonhole `$1` has rows to look at, as an SQL condition. */
export const hasUnseenRows = `exists (select 1 from ${unseenRows})`;

interface PassRow {
  number: number;
  last_round: number;
  round: number;
  after_row: number;
  stage: 'rows' | 'late';
  until: number;
}

/**
 * The next settled rows of a pigeonhole's imports, each once: what has settled stays. Only the end of an import may still
 * show that a row is there whose outcome was unknown: such are looked at again then.
 * @returns the hashes of their codes; undefined when there is nothing to look at
 */
export async function nextSettledCodes(tx: Queryable, ref: number): Promise<readonly Buffer[] | undefined> {
  const [pass] = await tx.query<PassRow>(
    `select i.number, i.round as last_round, s.round, s.after_row, s.stage, u.until from ${unseenRows}
     order by i.number limit 1`,
    [ref],
  );
  if (pass === undefined) return undefined;
  const rows = await tx.query<{ code_hash: Buffer; row_number: number }>(
    `select code_hash, row_number from registrants
     where import = $1 and row_number > $2 and row_number <= $3
       and case when $4 then outcome = 'confirmed' and origin is not null else round = $5 end
     order by row_number limit ${rowsAtOnce}`,
    [pass.number, pass.after_row, pass.until, pass.stage === 'late', pass.round],
  );
  const next = placeBehind(pass, rows.length < rowsAtOnce ? null : rows.at(-1)!.row_number);
  await tx.query(
    `insert into registrant_passes (import, round, after_row, stage) values ($1, $2, $3, $4)
     on conflict (import) do update set round = excluded.round, after_row = excluded.after_row, stage = excluded.stage`,
    [pass.number, next.round, next.afterRow, next.stage],
  );
  return rows.map(({ code_hash: codeHash }) => codeHash);
}

/** Where a pass goes on. Pure. @param lastRow the last one that was looked at; null: there are no more up to `until` */
export function placeBehind(
  { stage, round, last_round: lastRound, until }: Pick<PassRow, 'stage' | 'round' | 'last_round' | 'until'>,
  lastRow: number | null,
): { stage: 'rows' | 'late' | 'done'; round: number; afterRow: number } {
  if (lastRow !== null) return { stage, round, afterRow: lastRow };
  if (stage === 'late') return { stage: 'done', round, afterRow: end };
  if (until < end) return { stage, round, afterRow: until };
  if (round < lastRound) return { stage, round: round + 1, afterRow: 0 };
  return { stage: 'late', round, afterRow: 0 };
}

/** Has all rows of a pigeonhole's imports looked at again. */
export async function beginPasses(tx: Queryable, ref: number): Promise<void> {
  await tx.query('delete from registrant_passes p using imports i where i.number = p.import and i.ref = $1', [ref]);
}
