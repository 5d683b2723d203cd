import type { Ledger } from '../ledger/ledger.js';
import { codeStatus } from '../ledger/code-status.js';

/** The codes that imports claimed in a pigeonhole, counted by state. */
export interface RegistrantCounts {
  /** Created or already there: these people can sign in. */
  readonly present: number;
  /** Already there with other data than in the file. */
  readonly conflict: number;
  /** Refused by the service. */
  readonly rejected: number;
  /** It is unknown whether they exist. */
  readonly unknown: number;
  /** Still to be sent. */
  readonly waiting: number;
  /** Their import ended before they were sent. */
  readonly givenUp: number;
  /** Number of the newest import; null: none. */
  readonly newestImport: number | null;
  /** Numbers of the imports that have not ended. */
  readonly openImports: readonly number[];
}

/** Counts the registrants of one pigeonhole in one pass. */
export async function countRegistrants(ledger: Pick<Ledger, 'db'>, ref: number): Promise<RegistrantCounts> {
  const [rows, imports] = await Promise.all([
    ledger.db.query<{ status: string; n: number }>(
      `select status, count(*)::int as n from (
         select ${codeStatus} as status from registrants r join imports i on i.number = r.import where r.ref = $1) as s
       group by status`,
      [ref],
    ),
    ledger.db.query<{ number: number; open: boolean }>(
      `select number, state in ('staging', 'running') as open from imports where ref = $1 order by number`,
      [ref],
    ),
  ]);
  const sum = (...states: readonly string[]): number =>
    rows.reduce((total, row) => (states.includes(row.status) ? total + row.n : total), 0);
  return {
    present: sum('created', 'confirmed', 'existing'),
    conflict: sum('conflict'),
    rejected: sum('rejected'),
    unknown: sum('unknown'),
    waiting: sum('waiting'),
    givenUp: sum('given-up'),
    newestImport: imports.at(-1)?.number ?? null,
    openImports: imports.filter(({ open }) => open).map(({ number }) => number),
  };
}
