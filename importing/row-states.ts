import type { Queryable } from '../ledger/drivers/database.js';
import { claimable, standing, told } from '../ledger/registrant-standing.js';

/** The outcome of a row. See README.md for the transitions. */
export type RowOutcome =
  /** The service created it and confirmed that. */
  | 'created'
  /** It exists: the answer was lost, and the service refused the second attempt as a duplicate. */
  | 'confirmed'
  /** It existed before the import. */
  | 'existing'
  /** Its code existed with other data: change it in the dashboard. */
  | 'conflict'
  /** The service refused it. */
  | 'rejected'
  /** It may or may not exist; no answer of the service tells. */
  | 'unknown'
  /** It is still to be sent, or a running import holds its code. */
  | 'waiting'
  /** It has a problem in the file and was never sent. */
  | 'invalid'
  /** The import ended before it was sent. */
  | 'cancelled';

export interface ReportRow {
  /** Row number as in a spreadsheet; 1 is the header. */
  readonly row: number;
  /** The values that were, or would have been, sent, by field. */
  readonly profile: Readonly<Record<string, string>>;
  readonly outcome: RowOutcome;
  /** The field of the problem, as the service or the file names it. */
  readonly field: string | null;
  /** The service's message, or the problems of the file. May quote the row, because it is for the owner of the file. */
  readonly message: string | null;
  readonly requestId: string | null;
}

/** A row as stored: with hashes, its profile as canonical JSON. */
export interface HashedRow {
  readonly row: number;
  readonly codeHash: Buffer;
  readonly dataHash: Uint8Array;
  readonly profile: string;
}

/** SQL for the rows in parameters $3 to $6, as a table `n`. */
export const givenRows = `unnest($3::int4[], $4::bytea[], $5::bytea[], $6::json[]) as n (row_number, code_hash, data_hash, profile)`;

export function rowParameters(rows: readonly HashedRow[]): [number[], Uint8Array[], Uint8Array[], string[]] {
  return [
    rows.map(({ row }) => row),
    rows.map(({ codeHash }) => codeHash),
    rows.map(({ dataHash }) => dataHash),
    rows.map(({ profile }) => profile),
  ];
}

/** The import that claims codes, and the round in which it sends them. */
export interface Claimer {
  readonly ref: number;
  readonly number: number;
  readonly round: number;
}

/**
 * Claims unclaimed codes for an import whose row the caller has locked.
 * @returns the numbers of the claimed rows
 */
export async function claimFreeCodes(
  tx: Queryable,
  { ref, number, round }: Claimer,
  rows: readonly HashedRow[],
): Promise<Set<number>> {
  const [claimed] = await tx.query<{ rows: number[] | null }>(
    `with claimed as (
       insert into registrants (ref, code_hash, import, round, row_number, data_hash, profile)
       select $1, n.code_hash, $2, $7, n.row_number, n.data_hash, n.profile from ${givenRows}
       on conflict (ref, code_hash) do nothing returning row_number
     ) select array_agg(row_number) as rows from claimed`,
    [ref, number, ...rowParameters(rows), round],
  );
  return new Set(claimed?.rows ?? []);
}

/**
 * Handles rows whose codes another import holds or held. Abandoned codes, and rejected ones with other data, move to
 * this import; the other rows receive the outcome known to the ledger. The import that loses a row keeps it in its
 * report.
 *
 * The statement decides on one snapshot and claims only rows that have not changed since. Rows that another import has
 * just claimed wait and are reviewed later.
 */
export async function claimHeldCodes(
  tx: Queryable,
  { ref, number, round }: Claimer,
  rows: readonly HashedRow[],
): Promise<{ claimed: number }> {
  const [result] = await tx.query<{ claimed: number }>(
    `with judged as (
       select n.*, r.import as holder, r.round as held_round, r.row_number as held_row, r.profile as held_profile,
         r.data_hash as held_data, r.outcome as held_outcome, r.field, r.message, r.request_id, r.data_hash = n.data_hash as same,
         ${standing} as standing
       from ${givenRows}
         join registrants r on r.ref = $1 and r.code_hash = n.code_hash join imports i on i.number = r.import
     ), moved as (
       update registrants r set import = $2, round = $7, row_number = j.row_number, data_hash = j.data_hash, profile = j.profile,
         outcome = null, field = null, message = null, request_id = null, origin = null, sent = null
       from judged j
       where ${claimable} and j.holder <> $2 and r.ref = $1 and r.code_hash = j.code_hash and r.import = j.holder
         and r.round = j.held_round and r.row_number = j.held_row and r.outcome is not distinct from j.held_outcome
       returning r.code_hash
     ), kept as (
       insert into import_rows (import, row_number, code_hash, data_hash, profile, outcome, field, message, request_id)
       select j.holder, j.held_row, j.code_hash, j.held_data, j.held_profile,
         case standing when 'given-up' then 'cancelled' else standing end, j.field, j.message, j.request_id
       from judged j join moved m on m.code_hash = j.code_hash
       on conflict (import, row_number) do nothing
     ), others as (
       insert into import_rows (import, row_number, code_hash, data_hash, profile, outcome, field, message, request_id)
       select $2, j.row_number, j.code_hash, j.data_hash, j.profile,
         case when j.holder = $2 then 'invalid' else ${told} end,
         case when standing = 'rejected' and same then j.field end,
         case when j.holder = $2 then 'the code stands in another row of this file'
           when standing = 'rejected' and same then j.message end,
         case when standing = 'rejected' and same then j.request_id end
       from judged j where not exists (select 1 from moved m where m.code_hash = j.code_hash)
       on conflict (import, row_number) do update set outcome = excluded.outcome, field = excluded.field,
         message = excluded.message, request_id = excluded.request_id
     ), no_longer_waiting as (
       delete from import_rows w using judged j join moved m on m.code_hash = j.code_hash
       where w.import = $2 and w.row_number = j.row_number and w.outcome = 'waiting'
     ) select count(*) as claimed from moved`,
    [ref, number, ...rowParameters(rows), round],
  );
  return { claimed: result!.claimed };
}
