import type { Ledger } from '../../ledger/ledger.js';
import type { ErasureNames, Receipt } from './erasure.js';
import { keepReceipts } from './note-erasure.js';

export interface ErasureRequest {
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
