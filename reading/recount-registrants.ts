import type { Queryable } from '../ledger/drivers/database.js';
import type { Ledger } from '../ledger/ledger.js';
import {
  type DroppedFields,
  listRules,
  registrantKey,
  registrantRules,
  registrantsList,
  toRegistrantItem,
} from '../ledger/registrant-item.js';
import { beginPasses, hasUnseenRows, isThere, nextSettledCodes } from '../ledger/registrant-passes.js';
import type { Recount } from './recount-engagement.js';
import { lockPlace } from '../ledger/lock-order.js';
import { linkedAttendees, addSignIns } from '../ledger/sign-ins.js';
import { isExpiring } from '../people/retention.js';
import { storeDerived, type StoredRow } from './store-derived.js';
import { wakeSinks } from '../ledger/sinks.js';
import type { PageScope } from '../ledger/write-changes.js';

/** After this many changes of other lists, the position moves past them. */
const farBehind = 1000;

/**
 * Updates the list of registrants from the next changes of attendees, or else from the next rows that an import has
 * settled, and stores the differences with changes in one transaction. Safe to run twice, also concurrently: the
 * pigeonhole's row is locked, and the items are computed from the rows stored at that moment.
 *
 * Waits until the list of attendees was read completely once. Otherwise registrants who attended would be reported as
 * absent and with unknown consent.
 * @param sinkIds sinks that want the list
 */
export async function recountRegistrants(
  ledger: Ledger,
  ref: number,
  { sinkIds, drop }: { readonly sinkIds: readonly number[]; readonly drop: DroppedFields },
): Promise<Recount> {
  const rules = registrantRules(drop);
  if (!(await hasWork(ledger, ref, rules))) return { more: false, woken: [] };
  return await ledger.db.transaction(async (tx) => {
    const place = await lockPlace(tx, ref);
    if (place === undefined) return { more: false, woken: [] };
    await followRules(tx, ref, rules);
    const scope: PageScope = {
      ref,
      workspace: place.workspace,
      pigeonholeId: place.pigeonhole_id,
      list: registrantsList,
      streamId: 0, // of no stream: nobody reads it
      nextSequence: place.next_sequence,
    };
    // Attendees first, so that a settled import row is reported together with its sign-in.
    const codes = (await addSignIns(ledger, tx, scope)) ?? (await nextSettledCodes(tx, ref)) ?? [];
    const changed = await storeRegistrants(ledger, tx, scope, codes, rules);
    return { more: true, woken: changed ? await wakeSinks(tx, sinkIds) : [] };
  });
}

/** Whether there is anything to update. Runs in every cycle, so it locks and writes nothing. */
async function hasWork(ledger: Ledger, ref: number, rules: string): Promise<boolean> {
  const [row] = await ledger.db.query<{ work: boolean }>(
    `select coalesce(l.rules <> $2 or g.next_sequence - l.position > ${farBehind}
         or exists (select 1 from changes c where c.ref = g.ref and c.sequence > l.position and c.list = 'attendees')
         or ${hasUnseenRows}, true) as work
     from pigeonholes g left join registrant_lists l on l.ref = g.ref
     where g.ref = $1 and not ${isExpiring('$1')} and exists (select 1 from imports where ref = $1 and state <> 'staging')
       and exists (select 1 from streams where ref = $1 and list = 'attendees' and polled_at is not null)`,
    [ref, listRules(rules)],
  );
  return row?.work ?? false;
}

/** Starts a pass over all registrants if the rules have changed. */
async function followRules(tx: Queryable, ref: number, rules: string): Promise<void> {
  const changed = await tx.query<{ ref: number }>(
    `insert into registrant_lists (ref, rules) values ($1, $2)
     on conflict (ref) do update set rules = excluded.rules where registrant_lists.rules <> excluded.rules returning ref`,
    [ref, listRules(rules)],
  );
  if (changed.length > 0) await beginPasses(tx, ref);
}

interface RegistrantRow {
  code_hash: Buffer;
  profile: string;
}

/** Computes and stores these registrants. @returns whether anything changed */
async function storeRegistrants(
  ledger: Ledger,
  tx: Queryable,
  scope: PageScope,
  codes: readonly Buffer[],
  rules: string,
): Promise<boolean> {
  if (codes.length === 0) return false;
  const { ref } = scope;
  const there = await tx.query<RegistrantRow>(
    `select r.code_hash, r.profile from unnest($2::bytea[]) as n (code_hash)
       cross join lateral (select * from registrants where ref = $1 and code_hash = n.code_hash limit 1) r
       join imports i on i.number = r.import
     where ${isThere}
       and not exists (select 1 from forgotten_codes f where f.ref = r.ref and f.code_hash = r.code_hash)`,
    [ref, codes],
  );
  const attendees = await linkedAttendees(
    tx,
    ref,
    there.map((row) => row.code_hash),
  );
  const items = there.map(({ code_hash: codeHash, profile }) =>
    toRegistrantItem(ledger.hash, ref, { codeHash, profile }, attendees.get(codeHash.toString('hex')) ?? [], rules),
  );
  const stored = await tx.query<StoredRow>(
    `select i.key, i.seen_at, clock_timestamp() as now, i.payload is null as gone from unnest($3::text[]) as n (key)
       cross join lateral (select * from items where ref = $1 and list = $2 and key = n.key limit 1) i`,
    [ref, scope.list, codes.map((codeHash) => registrantKey(ledger.hash, ref, codeHash))],
  );
  return await storeDerived(ledger, tx, scope, { items, stored, rules });
}
