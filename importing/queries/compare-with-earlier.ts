import type { Ledger } from '../../ledger/ledger.js';
import { hashRows } from './hash-rows.js';
import { standing } from '../../ledger/registrant-standing.js';
import type { SendableRow } from './staged-row.js';

/**
 * What an import would do with a row, as the ledger stands:
 * - `new` it would be sent
 * - `sameCreated` an earlier import created it, or found it there, with this very data: nothing is sent
 * - `otherData` the code is there with other data: to be changed in the dashboard
 * - `sameRejected` the service has refused this very row before: nothing is sent
 * - `claimedElsewhere` an import that is running has it
 */
export type Earlier = 'new' | 'sameCreated' | 'otherData' | 'sameRejected' | 'claimedElsewhere';

/** For each row, in their order. Reads only; at most some thousands at a time. */
export async function compareWithEarlier(
  ledger: Ledger,
  ref: number,
  rows: readonly SendableRow[],
): Promise<Earlier[]> {
  const hashed = hashRows(ledger.hash, rows);
  const found = await ledger.db.query<{ n: number; same: boolean; standing: string }>(
    `select n.n::int4 as n, r.data_hash = n.data_hash as same, ${standing} as standing
     from unnest($2::bytea[], $3::bytea[]) with ordinality as n (code_hash, data_hash, n)
       join registrants r on r.ref = $1 and r.code_hash = n.code_hash join imports i on i.number = r.import`,
    [ref, hashed.map(({ codeHash }) => codeHash), hashed.map(({ dataHash }) => dataHash)],
  );
  const earlier = rows.map((): Earlier => 'new');
  for (const { n, same, standing: stands } of found) earlier[n - 1] = meaningOf(stands, same);
  return earlier;
}

function meaningOf(stands: string, same: boolean): Earlier {
  switch (stands) {
    case 'created':
    case 'confirmed':
    case 'existing':
      return same ? 'sameCreated' : 'otherData';
    case 'conflict':
      return 'otherData';
    case 'rejected':
      return same ? 'sameRejected' : 'new';
    case 'waiting':
      return 'claimedElsewhere';
    default: // given up, or its outcome never got known: it would be sent
      return 'new';
  }
}
