import type { Queryable } from '../ledger/drivers/database.js';
import type { Ledger } from '../ledger/ledger.js';
import { listNotWanted } from '../delivering/adopt-configuration.js';
import type { Receipt, ErasureNames } from './erasures.js';

/** Keeps what became of the person at these places: one receipt a place, whose instant is when it last changed. */
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

/** What a lane had answered is not the last word: it has to take back more than it was asked for then. */
export async function awaitAgain(
  tx: Queryable,
  { erasure, ref }: { readonly erasure: number; readonly ref: number },
): Promise<void> {
  await tx.query(
    `update erasure_receipts r set outcome = 'waiting', at = clock_timestamp()
     where r.erasure = $1 and r.outcome <> 'waiting' and r.place in (
       select 'sink:' || s.name || ' ' || p.workspace || '/' || p.pigeonhole_id
       from erasing e join sinks s on s.id = e.sink_id join pigeonholes p on p.ref = e.ref
       where e.erasure = $1 and e.ref = $2)`,
    [erasure, ref],
  );
}

/** The ledger holds nothing of the person any more: what named them goes, too, and so does a reason, which is free text. */
export async function noteCleared(ledger: Ledger, erasure: number): Promise<void> {
  await ledger.db.query(
    'update erasures set cleared_at = coalesce(cleared_at, clock_timestamp()), names = null, reason = null where number = $1',
    [erasure],
  );
}

/**
 * Every place has answered. What sinks had been told is forgotten; that nothing is taken in again stays. The tombstones
 * lose the HMAC by which the erasure found them: `forgotten` has the same one, so a reader of the database could join
 * what one person did by name with what they did anonymously (decision 0029).
 */
export async function endErasure(ledger: Ledger, erasure: number): Promise<void> {
  await ledger.db.transaction(async (tx) => {
    const ended = await tx.query(
      'update erasures set ended_at = clock_timestamp() where number = $1 and ended_at is null returning number',
      [erasure],
    );
    if (ended.length === 0) return;
    await tx.query(`delete from erasing e where e.erasure = $1 and not ${isLeft('e')}`, [erasure]);
    await tx.query(
      `update items set subject = null
       where erased and subject = any(array(select subject from forgotten where erasure = $1))`,
      [erasure],
    );
  });
}

/**
 * Whether the change that takes something back waits for a person, as an SQL condition: it was refused, or its sink is
 * sent it no more. Such rows of `erasing` outlast their erasure: redriven, or with the sink or the list there again, the
 * removal is sent after all.
 * @param erasing the row's name
 */
export const isLeft = (erasing: string): string =>
  `not exists (select 1 from deliveries left_d where left_d.sink_id = ${erasing}.sink_id and left_d.ref = ${erasing}.ref
     and left_d.sequence = ${erasing}.sequence and left_d.replay = 0
     and left_d.state <> 'dead' and not (left_d.state = 'withheld' and left_d.reason = '${listNotWanted}'))`;

/**
 * Erasures that had ended, and of which a sink is now sent what was left to a person, go on until it has answered.
 * @returns how many
 */
export async function reopenErasures(ledger: Ledger): Promise<number> {
  const rows = await ledger.db.query(
    `with moved as (
       select distinct e.erasure, 'sink:' || s.name || ' ' || p.workspace || '/' || p.pigeonhole_id as place
       from erasing e join erasures r on r.number = e.erasure and r.ended_at is not null
         join sinks s on s.id = e.sink_id join pigeonholes p on p.ref = e.ref
       where not ${isLeft('e')}
     ), again as (
       update erasure_receipts r set outcome = 'waiting', todo = null, at = clock_timestamp()
       from moved m where r.erasure = m.erasure and r.place = m.place
     ) update erasures set ended_at = null where number in (select erasure from moved) returning number`,
  );
  return rows.length;
}

/** Somebody who was forgotten may come back, by the service or by an import. @returns whether they were forgotten by this erasure */
export async function liftErasure(ledger: Ledger, erasure: number): Promise<boolean> {
  return await ledger.db.transaction(async (tx) => {
    const people = await tx.query<{ workspace: string }>(
      'delete from forgotten where erasure = $1 returning workspace',
      [erasure],
    );
    // Pages that are known by their digest would not be looked at.
    await tx.query(
      `update pages g set digest = null from streams s join pigeonholes p on p.ref = s.ref
       where g.stream_id = s.id and p.workspace = any($1::text[])`,
      [[...new Set(people.map(({ workspace }) => workspace))]],
    );
    const codes = await tx.query('delete from forgotten_codes where erasure = $1 returning code_hash', [erasure]);
    return people.length + codes.length > 0;
  });
}

interface ErasureRequest {
  /** A UUID, made by whoever asks, so that asking twice is one erasure. */
  readonly id: string;
  readonly names: ErasureNames & { readonly asked: string };
  readonly by: string | null;
  readonly reason: string | null;
  /** So many others have an e-mail address of theirs. */
  readonly sharing: number;
}

/** Pure. */
function othersReceipt(count: number): Receipt {
  const who = count === 1 ? 'one other has' : `${count} others have`;
  const todo = `${who} an e-mail address of this person and are kept: where it is the same person, forget them by that address`;
  return { place: 'others', count, outcome: 'by-hand', detail: 'same-address', todo };
}

/** What an erasure has ended with may be here again, from an import or a restored table: the one asked for now finds it. */
const whereEnded = (table: string): string =>
  `where exists (select 1 from erasures e where e.number = ${table}.erasure and e.ended_at is not null)`;

/**
 * Notes that a person is to be forgotten. From the commit on nothing of them is taken in any more: no item of theirs, no
 * row of an import under their codes. A second request under the same id changes nothing.
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
       on conflict (workspace, subject) do update set erasure = excluded.erasure ${whereEnded('forgotten')}`,
      [row.number, people.map(({ workspace }) => workspace), people.map(({ subject }) => subject)],
    );
    const codes = names.places.flatMap(({ ref, codes: own }) =>
      own.map((code) => ({ ref, codeHash: ledger.hash.attendeeCode(code) })),
    );
    await tx.query(
      `insert into forgotten_codes (erasure, ref, code_hash)
       select distinct $1::int4, n.* from unnest($2::int4[], $3::bytea[]) as n
       on conflict (ref, code_hash) do update set erasure = excluded.erasure ${whereEnded('forgotten_codes')}`,
      [row.number, codes.map(({ ref }) => ref), codes.map(({ codeHash }) => codeHash)],
    );
  });
}
