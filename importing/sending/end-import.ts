import type { Queryable } from '../../ledger/drivers/database.js';
import { raiseAsked } from '../../ledger/pigeonholes-asked.js';
import type { Ledger } from '../../ledger/ledger.js';
import {
  cancelWaitingRows,
  claimFreeCodes,
  claimHeldCodes,
  confirmRefusedRows,
  type HashedRow,
  lockHolders,
  markConflicts,
  markUnansweredUnknown,
  removeWaitingRows,
} from '../../ledger/imports/rows.js';
import { dropUnsettledChunks } from '../../ledger/imports/chunks.js';
import { addToRound, closeImport, type ImportLease, lockLeasedImport } from '../../ledger/imports/imports.js';
import { endPausesOf } from '../../ledger/pauses.js';

/** Waiting rows reviewed per transaction. */
const reviewRows = 1000;

/**
 * Reviews the rows that wait because another import held their codes. If that import settled a code, the row receives
 * its outcome. If that import abandoned the code, this import claims it and sends the row in a new round. Call it when
 * all other rows of the import are settled.
 * @returns the number of claimed rows and of rows that still wait
 * @throws {LedgerError} kind `stale`
 */
export async function reviewWaiting(ledger: Ledger, lease: ImportLease): Promise<{ claimed: number; waiting: number }> {
  let claimed = 0;
  let waiting = 0;
  let round: number | undefined;
  for (let after: number | null = -1; after !== null;) {
    const from: number = after;
    const result = await ledger.db.transaction(async (tx) => {
      const codes = await tx.query<{ codeHash: Buffer }>(
        `select code_hash as "codeHash" from import_rows
         where import = $1 and outcome = 'waiting' and row_number > $2 order by row_number limit ${reviewRows}`,
        [lease.number, from],
      );
      const locked = await lockHolders(
        tx,
        lease,
        codes.map(({ codeHash }) => codeHash),
      );
      const sending = await lockLeasedImport(tx, lease);
      // Read under the lock, so that no row of a person who was erased since is claimed.
      const page = await tx.query<HashedRow>(
        `select row_number as "row", code_hash as "codeHash", data_hash as "dataHash", profile, names::text as names from import_rows
         where import = $1 and outcome = 'waiting' and row_number > $2 order by row_number limit ${reviewRows}`,
        [lease.number, from],
      );
      if (page.length === 0) return { claimed: 0, waiting: 0, last: null };
      const rows = page.toSorted((a, b) => Buffer.compare(a.codeHash, b.codeHash));
      const next = round ?? sending + 1;
      const claimer = { pigeonholeNumber: lease.pigeonholeNumber, number: lease.number, round: next };
      // No import holds these codes any longer, because the one that did was abandoned during staging.
      const free = await claimFreeCodes(tx, claimer, rows);
      const rest = rows.filter(({ row }) => !free.has(row));
      const changed = rest.length === 0 ? 0 : (await claimHeldCodes(tx, claimer, rest, locked)).claimed;
      await removeWaitingRows(tx, lease.number, [...free]);
      const taken = free.size + changed;
      if (taken > 0) {
        round = next;
        await addToRound(tx, lease.number, next, taken);
      }
      const [left] = await tx.query<{ waiting: number }>(
        `select count(*) as waiting from import_rows where import = $1 and outcome = 'waiting' and row_number = any($2::int4[])`,
        [lease.number, page.map(({ row }) => row)],
      );
      return { claimed: taken, waiting: left!.waiting, last: page.at(-1)!.row };
    });
    claimed += result.claimed;
    waiting += result.waiting;
    after = result.last;
  }
  return { claimed, waiting };
}

/**
 * Ends an import that has no request left to send. If a request got no answer and the service later refused all its
 * rows without a reason, this assumes that the request created them.
 * @throws {LedgerError} kind `stale`
 */
export async function endImport(ledger: Ledger, lease: ImportLease): Promise<void> {
  await end(ledger, lease, 'done', (tx) => confirmRefusedRows(tx, lease.number));
}

/**
 * Ends a cancelled import. Created rows stay; rows that may have been created become `unknown`; the other rows were not
 * sent.
 * @throws {LedgerError} kind `stale`
 */
export async function endCancelledImport(ledger: Ledger, lease: ImportLease): Promise<void> {
  await end(ledger, lease, 'cancelled', async (tx) => {
    await markUnansweredUnknown(tx, lease.number);
    await dropUnsettledChunks(tx, lease.number);
  });
}

async function end(
  ledger: Ledger,
  lease: ImportLease,
  state: 'done' | 'cancelled',
  settleRest: (tx: Queryable) => Promise<void>,
): Promise<void> {
  await ledger.db.transaction(async (tx) => {
    await closeImport(tx, lease, state);
    await raiseAsked(tx, [lease.pigeonholeNumber]); // the list of registrants is computed again
    await settleRest(tx);
    await cancelWaitingRows(tx, lease.number);
    await endPausesOf(tx, 'import', lease.id);
  });
}

const pageAttendees = 1000;

/**
 * Compares each row whose code existed before the import with the attendee who signed in with that code. If the
 * attendee has another value in a field of the row, the row becomes `conflict`. The service does not show registrants
 * who have not signed in, so their rows stay `existing`. Safe to run twice.
 */
export async function reviewExisting(ledger: Ledger, lease: ImportLease): Promise<void> {
  const [any] = await ledger.db.query(`select 1 from registrants where import = $1 and outcome = 'existing' limit 1`, [
    lease.number,
  ]);
  if (any === undefined) return;
  for (let after = ''; ;) {
    const page = await ledger.db.query<{ key: string; payload: string }>(
      `select key, payload from items where pigeonhole_number = $1 and list = 'attendees' and key > $2
         and payload is not null
       order by key limit ${pageAttendees}`,
      [lease.pigeonholeNumber, after],
    );
    if (page.length === 0) return;
    after = page.at(-1)!.key;
    const attendees = page.map(({ payload }) => JSON.parse(payload) as Fields);
    await markDiffering(ledger, lease, attendees);
  }
}

type Fields = Readonly<Record<string, unknown>>;

async function markDiffering(ledger: Ledger, lease: ImportLease, attendees: readonly Fields[]): Promise<void> {
  const byHash = new Map<string, Fields>();
  for (const attendee of attendees) {
    const code = attendee['attendeeCode'];
    if (typeof code === 'string' && code !== '') byHash.set(ledger.hash.attendeeCode(code).toString('hex'), attendee);
  }
  const rows = await ledger.db.query<{ codeHash: Buffer; profile: string }>(
    `select code_hash as "codeHash", profile from registrants
     where pigeonhole_number = $1 and code_hash = any($2::bytea[]) and import = $3 and outcome = 'existing'`,
    [lease.pigeonholeNumber, [...byHash.keys()].map((hex) => Buffer.from(hex, 'hex')), lease.number],
  );
  const conflicts = rows.flatMap(({ codeHash, profile }) => {
    const field = differingField(JSON.parse(profile) as Fields, byHash.get(codeHash.toString('hex'))!);
    return field === undefined ? [] : [{ codeHash, field }];
  });
  if (conflicts.length > 0) await markConflicts(ledger.db, lease, conflicts);
}

/**
 * Returns the first field of the row for which the attendee has another value. A field that the attendee lacks is
 * ignored.
 */
function differingField(sent: Fields, stored: Fields): string | undefined {
  return Object.keys(sent).find(
    (name) => name !== 'attendeeCode' && typeof stored[name] === 'string' && stored[name] !== sent[name],
  );
}
