import { unlinkTombstones } from '../ledger/items/remove-items.js';
import { forgetDigestsOf } from '../ledger/pages.js';
import type { Queryable } from '../ledger/drivers/database.js';
import type { Ledger } from '../ledger/ledger.js';
import type { OperatorTexts } from '../ledger/operator-texts.js';
import type { Receipt, ErasureNames } from './erasures.js';
import { dropHolders, isLeft } from './held-items.js';

/** Stores receipts, one per place. `at` is the time at which the receipt last changed. */
export async function keepReceipts(tx: Queryable, erasure: number, receipts: readonly Receipt[]): Promise<void> {
  if (receipts.length === 0) return;
  await tx.query(
    `insert into erasure_receipts as r (erasure, place, count, outcome, detail, todo)
     select $1, n.* from unnest($2::text[], $3::int4[], $4::text[], $5::text[], $6::text[]) as n
     on conflict (erasure, place) do update set count = excluded.count, outcome = excluded.outcome,
       detail = excluded.detail, todo = excluded.todo, at = clock_timestamp()
     where (r.count, r.outcome, r.detail, r.todo)
       is distinct from (excluded.count, excluded.outcome, excluded.detail, excluded.todo)`,
    [
      erasure,
      receipts.map(({ place }) => place),
      receipts.map(({ count }) => count),
      receipts.map(({ outcome }) => outcome),
      receipts.map(({ detail }) => detail),
      receipts.map(({ todo }) => todo),
    ],
  );
}

/**
 * Sets the receipts of a pigeonhole's lanes to `waiting`, because the lanes have more to remove than when they
 * answered.
 */
export async function reopenLaneReceipts(
  tx: Queryable,
  { erasure, pigeonholeNumber }: { readonly erasure: number; readonly pigeonholeNumber: number },
): Promise<void> {
  await tx.query(
    `update erasure_receipts r set outcome = 'waiting', at = clock_timestamp()
     where r.erasure = $1 and r.outcome <> 'waiting' and r.place in (
       select 'sink:' || s.name || ' ' || p.workspace || '/' || p.pigeonhole_id
       from erasing e join sinks s on s.id = e.sink_id join pigeonholes p on p.pigeonhole_number = e.pigeonhole_number
       where e.erasure = $1 and e.pigeonhole_number = $2)`,
    [erasure, pigeonholeNumber],
  );
}

/**
 * Records that the ledger holds no data of the person any more. Deletes the person's names, and the reason for the
 * request, which is free text.
 */
export async function noteCleared(ledger: Ledger, erasure: number): Promise<void> {
  await ledger.db.query(
    'update erasures set cleared_at = coalesce(cleared_at, clock_timestamp()), names = null, reason = null where number = $1',
    [erasure],
  );
}

/** The reasons that operators gave for erasures. */
export const erasureReasons: OperatorTexts = {
  read: 'select distinct reason as text from erasures where reason is not null',
  erase: 'update erasures set reason = null where reason = any($1::text[])',
};

/**
 * Ends an erasure after every place has answered. Deletes the list of items that the sinks held. The person stays
 * forgotten: the table `forgotten` keeps the hashes of the person's ids. Deletes the same hashes (`subject`) from the
 * tombstones, because a reader of the database could otherwise find out that an anonymous and a named tombstone belong
 * to one person (decision 0029).
 */
export async function endErasure(ledger: Ledger, erasure: number): Promise<void> {
  await ledger.db.transaction(async (tx) => {
    const ended = await tx.query(
      'update erasures set ended_at = clock_timestamp() where number = $1 and ended_at is null returning number',
      [erasure],
    );
    if (ended.length === 0) return;
    await dropHolders(tx, erasure);
    await unlinkTombstones(tx, erasure);
  });
}

/**
 * Reopens ended erasures whose remaining removals are being sent after all. They end again when the sinks have
 * answered.
 * @returns the number of reopened erasures
 */
export async function reopenErasures(ledger: Ledger): Promise<number> {
  const rows = await ledger.db.query(
    `with moved as (
       select distinct e.erasure, 'sink:' || s.name || ' ' || p.workspace || '/' || p.pigeonhole_id as place
       from erasing e join erasures r on r.number = e.erasure and r.ended_at is not null
         join sinks s on s.id = e.sink_id join pigeonholes p on p.pigeonhole_number = e.pigeonhole_number
       where not ${isLeft('e')}
     ), again as (
       update erasure_receipts r set outcome = 'waiting', todo = null, at = clock_timestamp()
       from moved m where r.erasure = m.erasure and r.place = m.place
     ) update erasures set ended_at = null where number in (select erasure from moved) returning number`,
  );
  return rows.length;
}

/**
 * Lifts an erasure, so that the ledger accepts data of the person from the service and from imports again.
 * @returns whether the erasure had forgotten anyone
 */
export async function liftErasure(ledger: Ledger, erasure: number): Promise<boolean> {
  return await ledger.db.transaction(async (tx) => {
    const people = await tx.query<{ workspace: string }>(
      'delete from forgotten where erasure = $1 returning workspace',
      [erasure],
    );
    // Clears the digests of the workspaces' pages. Otherwise, reading would skip pages that have not changed, and with
    // them the person's items.
    await forgetDigestsOf(tx, [...new Set(people.map(({ workspace }) => workspace))]);
    const codes = await tx.query('delete from forgotten_codes where erasure = $1 returning code_hash', [erasure]);
    return people.length + codes.length > 0;
  });
}

/**
 * Forgets attendees who use a forgotten code. The erasure was requested before the ledger knew their ids, so it is
 * resumed to find the items that were stored under the ids since.
 * @param holders the subjects of these attendees, with the hashes of their codes
 */
export async function forgetHolders(
  tx: Queryable,
  { workspace, pigeonholeNumber }: { readonly workspace: string; readonly pigeonholeNumber: number },
  holders: readonly { readonly codeHash: Buffer; readonly subject: Buffer }[],
): Promise<void> {
  await tx.query(
    `with found as (
       insert into forgotten (erasure, workspace, subject)
       select f.erasure, $1, n.subject from unnest($3::bytea[], $4::bytea[]) as n (code_hash, subject)
         join forgotten_codes f on f.pigeonhole_number = $2 and f.code_hash = n.code_hash
       on conflict (workspace, subject) do nothing returning erasure
     ) update erasures set ended_at = null where number in (select erasure from found)`,
    [workspace, pigeonholeNumber, holders.map(({ codeHash }) => codeHash), holders.map(({ subject }) => subject)],
  );
}

/** Resumes the erasures of these people, because the ledger has found more of their data. */
export async function resumeErasuresOf(
  tx: Queryable,
  workspace: string,
  subjects: readonly Uint8Array[],
): Promise<void> {
  await tx.query(
    `update erasures set ended_at = null
     where number in (select erasure from forgotten where workspace = $1 and subject = any($2::bytea[]))`,
    [workspace, subjects],
  );
}

interface ErasureRequest {
  /** A UUID from the caller, so that a repeated request is one erasure. */
  readonly id: string;
  readonly names: ErasureNames & { readonly asked: string };
  readonly by: string | null;
  readonly reason: string | null;
  /** Number of other people with the same e-mail address. */
  readonly sharing: number;
}

/** Builds the receipt about other people with the same e-mail address. Pure. */
function othersReceipt(count: number): Receipt {
  const who = count === 1 ? 'one other person has' : `${count} other people have`;
  const todo = `${who} the same e-mail address and will not be erased: to erase everyone with the address, forget the person by that address`;
  return { place: 'others', count, outcome: 'by-hand', detail: 'same-address', todo };
}

/**
 * SQL condition: the row belongs to an ended erasure. A new request then takes the row over, because an import or a
 * restored table may have brought the person back.
 */
const ifEnded = (table: string): string =>
  `where exists (select 1 from erasures e where e.number = ${table}.erasure and e.ended_at is not null)`;

/**
 * Records a request to forget a person. After the commit, the ledger accepts no item of the person and no import row
 * with their codes. A second request with the same id changes nothing. If open erasures already erase some of the
 * person's data, the new erasure waits until they have ended: it gets a receipt for each, which is `waiting` until then.
 */
export async function requestErasure(
  ledger: Ledger,
  { id, names, by, reason, sharing }: ErasureRequest,
): Promise<void> {
  await ledger.db.transaction(async (tx) => {
    const [row] = await tx.query<{ number: number }>(
      `insert into erasures (id, asked_hash, names, requested_by, reason) select $1, $2, $3, $4, $5
       where not exists (select 1 from erasures where id = $1)
       on conflict (id) do nothing returning number`,
      [id, ledger.hash.asked(names.asked), JSON.stringify(names), by, reason],
    );
    if (row === undefined) return;
    if (sharing > 0) await keepReceipts(tx, row.number, [othersReceipt(sharing)]);
    const people = names.places.flatMap(({ workspace, attendeeIds }) =>
      attendeeIds.flatMap((attendeeId) =>
        (['named', 'anonymous'] as const).map((purpose) => ({
          workspace,
          subject: ledger.hash.subject(workspace, attendeeId, purpose),
        })),
      ),
    );
    await tx.query(
      `insert into forgotten (erasure, workspace, subject)
       select distinct $1::int4, n.* from unnest($2::text[], $3::bytea[]) as n
       on conflict (workspace, subject) do update set erasure = excluded.erasure ${ifEnded('forgotten')}`,
      [row.number, people.map(({ workspace }) => workspace), people.map(({ subject }) => subject)],
    );
    const codes = names.places.flatMap(({ pigeonholeNumber, codes: own }) =>
      own.map((code) => ({ pigeonholeNumber, codeHash: ledger.hash.attendeeCode(code) })),
    );
    await tx.query(
      `insert into forgotten_codes (erasure, pigeonhole_number, code_hash)
       select distinct $1::int4, n.* from unnest($2::int4[], $3::bytea[]) as n
       on conflict (pigeonhole_number, code_hash) do update
         set erasure = excluded.erasure ${ifEnded('forgotten_codes')}`,
      [row.number, codes.map(({ pigeonholeNumber }) => pigeonholeNumber), codes.map(({ codeHash }) => codeHash)],
    );
    const earlier = await tx.query<{ place: string }>(
      `select 'erasure:' || e.id as place from erasures e where e.ended_at is null and e.number <> $1 and (
         exists (select 1 from forgotten f join unnest($2::text[], $3::bytea[]) as n (workspace, subject)
           on f.workspace = n.workspace and f.subject = n.subject where f.erasure = e.number)
         or exists (select 1 from forgotten_codes f join unnest($4::int4[], $5::bytea[])
           as n (pigeonhole_number, code_hash)
           on f.pigeonhole_number = n.pigeonhole_number and f.code_hash = n.code_hash where f.erasure = e.number))`,
      [
        row.number,
        people.map(({ workspace }) => workspace),
        people.map(({ subject }) => subject),
        codes.map(({ pigeonholeNumber }) => pigeonholeNumber),
        codes.map(({ codeHash }) => codeHash),
      ],
    );
    const waiting = { count: 0, outcome: 'waiting', detail: null, todo: null } as const;
    const places = earlier.length > 0 ? ['ledger', ...earlier.map(({ place }) => place)] : [];
    await keepReceipts(
      tx,
      row.number,
      places.map((place) => ({ ...waiting, place })),
    );
  });
}

/**
 * Settles the receipts for earlier erasures of the same person that have ended, each with the number of items that the
 * earlier one erased. After the last one, the ledger's receipt no longer waits either.
 * @returns the number of earlier erasures that are still open
 */
export async function settleEarlier(ledger: Ledger, erasure: number): Promise<number> {
  return await ledger.db.transaction(async (tx) => {
    await tx.query(
      `update erasure_receipts r set outcome = 'erased', at = clock_timestamp(),
         count = coalesce((select count from erasure_receipts where erasure = e.number and place = 'ledger'), 0)
       from erasures e
       where r.erasure = $1 and r.outcome = 'waiting' and r.place = 'erasure:' || e.id and e.ended_at is not null`,
      [erasure],
    );
    const left = await tx.query(
      `select 1 from erasure_receipts where erasure = $1 and outcome = 'waiting' and place like 'erasure:%'`,
      [erasure],
    );
    if (left.length === 0)
      await tx.query(
        `update erasure_receipts set outcome = 'erased', at = clock_timestamp()
         where erasure = $1 and outcome = 'waiting' and place = 'ledger'`,
        [erasure],
      );
    return left.length;
  });
}
