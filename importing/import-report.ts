import type { Ledger } from '../ledger/ledger.js';
import type { ReportRow, RowOutcome } from './row-states.js';

/** A stored row. `profile` is as sent, or as read if the row is invalid; keys in canonical order. */
export interface StoredReportRow extends ReportRow {
  /** Problems of an invalid row, as staged. */
  readonly problems: readonly unknown[];
}

const pageRows = 1000;

/**
 * Yields the rows of an import in the order of the file, at most 1,000 at a time. Of a running import, it reports what
 * is known so far.
 */
export async function* importReport(
  ledger: Ledger,
  number: number,
  only: readonly RowOutcome[] | null = null,
): AsyncGenerator<StoredReportRow[], void, undefined> {
  const [row] = await ledger.db.query<{ last_row: number }>('select last_row from imports where number = $1', [number]);
  // By windows of row numbers: without statistics, a limit would make the store sort all remaining rows.
  for (let after = 0; after < (row?.last_row ?? 0); after += pageRows) {
    const page = await readPage(ledger, number, after);
    const rows = only === null ? page : page.filter(({ outcome }) => only.includes(outcome));
    if (rows.length > 0) yield rows;
  }
}

interface Row {
  row_number: number;
  profile: string;
  outcome: RowOutcome;
  field: string | null;
  message: string | null;
  request_id: string | null;
  problems: string | null;
}

async function readPage(ledger: Ledger, number: number, after: number): Promise<StoredReportRow[]> {
  const rows = await ledger.db.query<Row>(
    `select * from (
       (select r.row_number, r.profile::text as profile, case when r.outcome is not null then r.outcome
            when c.state = 'created' and c.last_row >= r.row_number then 'created'
            when i.state in ('done', 'cancelled') then 'cancelled' else 'waiting' end as outcome,
          r.field, r.message, coalesce(r.request_id, case when c.last_row >= r.row_number then c.request_id end) as request_id,
          null::text as problems
        from registrants r join imports i on i.number = r.import
          left join lateral (select c.state, c.last_row, c.request_id from import_chunks c
            where c.import = r.import and c.round = r.round and c.first_row <= r.row_number
            order by c.first_row desc limit 1) c on true
        where r.import = $1 and r.row_number > $2 and r.row_number <= $2 + ${pageRows})
       union all
       (select w.row_number, w.profile::text, w.outcome, w.field, w.message, w.request_id, w.problems::text
        from import_rows w where w.import = $1 and w.row_number > $2 and w.row_number <= $2 + ${pageRows})
     ) as rows order by row_number`,
    [number, after],
  );
  return rows.map((row) => ({
    row: row.row_number,
    profile: JSON.parse(row.profile) as Record<string, string>,
    outcome: row.outcome,
    field: row.field,
    message: row.message,
    requestId: row.request_id,
    problems: row.problems === null ? [] : (JSON.parse(row.problems) as unknown[]),
  }));
}
