import { ensurePlaces } from '../ledger/pigeonholes.js';
import type { Database, Queryable } from '../ledger/drivers/database.js';
import { LedgerError } from '../ledger/ledger-error.js';
import type { ErasureNames } from './erasures.js';

/** The forgotten people, as keyed hashes only. A ledger restored from a backup needs this list to forget them again. */
export interface ErasureList {
  /** The ledger's id. The hashes depend on this ledger's keys, so another ledger cannot use the list. */
  readonly ledger: string;
  readonly erasures: readonly ListedErasure[];
}

interface ListedErasure {
  /** A UUID. */
  readonly id: string;
  /** HMAC of the name in the request, in hex like the hashes below. */
  readonly asked: string;
  readonly requestedAt: string;
  readonly people: readonly { readonly workspace: string; readonly subject: string }[];
  readonly codes: readonly { readonly workspace: string; readonly pigeonholeId: number; readonly code: string }[];
}

interface ListedRow extends Omit<ListedErasure, 'people' | 'codes' | 'requestedAt'> {
  requestedAt: Date;
  people: string;
  codes: string;
}

/** Returns the forgotten people by erasure. A lifted erasure is not listed. */
export async function readErasureList(db: Queryable): Promise<ErasureList> {
  const [ledger] = await db.query<{ id: string }>('select id from ledger');
  const rows = await db.query<ListedRow>(
    `select * from (
       select e.id, encode(e.asked_hash, 'hex') as asked, e.requested_at as "requestedAt",
         (select coalesce(json_agg(json_build_object('workspace', f.workspace, 'subject', encode(f.subject, 'hex'))
             order by f.workspace, f.subject), '[]')::text
           from forgotten f where f.erasure = e.number) as people,
         (select coalesce(json_agg(json_build_object('workspace', p.workspace, 'pigeonholeId', p.pigeonhole_id,
             'code', encode(c.code_hash, 'hex')) order by p.pigeonhole_number, c.code_hash), '[]')::text
           from forgotten_codes c join pigeonholes p on p.pigeonhole_number = c.pigeonhole_number
             where c.erasure = e.number) as codes, e.number
       from erasures e) l where l.people <> '[]' or l.codes <> '[]' order by l.number`,
  );
  return {
    ledger: ledger!.id,
    erasures: rows.map(({ id, asked, requestedAt, people, codes }) => ({
      id,
      asked,
      requestedAt: requestedAt.toISOString(),
      people: JSON.parse(people) as ListedErasure['people'],
      codes: JSON.parse(codes) as ListedErasure['codes'],
    })),
  };
}

/** An erasure from the list has no names. Its hashes find all data of the person except import rows without a code. */
const noNames: ErasureNames = { asked: null, places: [] };
const carriedReason = 'carried over from before the restore';

/**
 * Adds the erasures of a list to a restored ledger. The ledger then rejects the same people as before the restore. The
 * next start runs each of these erasures again from the beginning, because the backup may hold data of the people.
 * Erasures that the ledger already knows do not change, so a second run does nothing.
 * @returns the number of erasures that run again
 * @throws {LedgerError} kind `otherLedger` if the list belongs to another ledger
 */
export async function takeOverErasures(db: Database, { ledger, erasures }: ErasureList): Promise<number> {
  return await db.transaction(async (tx) => {
    const [own] = await tx.query<{ id: string }>('select id from ledger');
    if (own?.id !== ledger) {
      throw new LedgerError(
        'otherLedger',
        'the list of erasures belongs to another ledger: use the list that was exported from this one',
      );
    }
    const made = await tx.query<{ number: number }>(
      `insert into erasures (id, asked_hash, requested_at, reason)
       select n.id, decode(n.asked, 'hex'), n.at, $4 from unnest($1::uuid[], $2::text[], $3::timestamptz[]) as n (id, asked, at)
       where not exists (select 1 from erasures e where e.id = n.id)
       on conflict (id) do nothing returning number`,
      [
        erasures.map(({ id }) => id),
        erasures.map(({ asked }) => asked),
        erasures.map(({ requestedAt }) => new Date(requestedAt)),
        carriedReason,
      ],
    );
    const people = erasures.flatMap(({ id, people: all }) => all.map((each) => ({ id, ...each })));
    const kept = await tx.query<{ erasure: number }>(
      `insert into forgotten (erasure, workspace, subject)
       select e.number, n.workspace, decode(n.subject, 'hex')
       from unnest($1::uuid[], $2::text[], $3::text[]) as n (id, workspace, subject) join erasures e on e.id = n.id
       on conflict (workspace, subject) do update set erasure = excluded.erasure
         where forgotten.erasure <> excluded.erasure returning erasure`,
      [people.map(({ id }) => id), people.map(({ workspace }) => workspace), people.map(({ subject }) => subject)],
    );
    const codes = erasures.flatMap(({ id, codes: all }) => all.map((each) => ({ id, ...each })));
    // A pigeonhole that is missing in the backup will be read again. Its row must exist now, because the forgotten
    // codes below refer to it.
    await ensurePlaces(tx, codes);
    const keptCodes = await tx.query<{ erasure: number }>(
      `insert into forgotten_codes (erasure, pigeonhole_number, code_hash)
       select e.number, p.pigeonhole_number, decode(n.code, 'hex')
       from unnest($1::uuid[], $2::text[], $3::int8[], $4::text[]) as n (id, workspace, pigeonhole, code)
         join erasures e on e.id = n.id join pigeonholes p on p.workspace = n.workspace and p.pigeonhole_id = n.pigeonhole
       on conflict (pigeonhole_number, code_hash) do update set erasure = excluded.erasure
         where forgotten_codes.erasure <> excluded.erasure returning erasure`,
      [
        codes.map(({ id }) => id),
        codes.map(({ workspace }) => workspace),
        codes.map(({ pigeonholeId }) => pigeonholeId),
        codes.map(({ code }) => code),
      ],
    );
    const again = [...made.map(({ number }) => number), ...[...kept, ...keptCodes].map(({ erasure }) => erasure)];
    await tx.query(
      `update erasures set ended_at = null, cleared_at = null, names = coalesce(names, $2::json) where number = any($1::int4[])`,
      [[...new Set(again)], JSON.stringify(noNames)],
    );
    return new Set(again).size;
  });
}
