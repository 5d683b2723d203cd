import { groupBy } from '../base/group-by.js';
import type { Queryable } from '../ledger/drivers/database.js';
import { knownDelivery, byItem, byOrder } from '../ledger/addressed-indexes.js';
import type { Candidate, CandidateRow } from './candidates.js';
import type { LaneLease } from '../ledger/lanes.js';

/*
 * The states of a delivery, and the statements that move it from one to the next while a lane is being delivered.
 *
 * ```
 * a change after the watermark ─► waiting      an earlier change of its item is not settled
 *                              ├► withheld     consent, the selection, or a list that the sink no longer receives
 *                              ├► superseded   the sink receives only the latest revision, and there is a later one
 *                              ├► dead         an operator has to confirm it
 *                              └► sending ─► delivered, withheld, dead
 *                                        └► retry, waiting ─► sending
 * ```
 *
 * Five files change states for other reasons: `dead-letters.ts` (an operator redrives), `adopt-configuration.ts` (a
 * sink or its selection changed), `refresh-interactions.ts` (consent changed what an item may show),
 * `people/erase-items.ts` (a person is erased), and `people/retention.ts` (retention has ended). A batch of new changes
 * is one row (`ledger/batches-in-flight.ts`) until its outcomes are known.
 */

export type Decision =
  | { readonly kind: 'send'; readonly identity: boolean }
  | { readonly kind: 'withhold'; readonly reason: string }
  | { readonly kind: 'supersede' }
  /** Becomes a dead letter: an operator has to check it before it is sent. */
  | { readonly kind: 'park'; readonly cause: string; readonly detail: string };

/** A candidate and what the lane decided on it. */
export interface Decided {
  readonly candidate: Candidate;
  readonly decision: Decision;
}

/** The columns of a delivery that a decision sets. */
interface DecidedRow {
  readonly candidate: Pick<Candidate, 'sequence' | 'replay' | 'list' | 'key' | 'revision' | 'attempts'>;
  readonly state: 'waiting' | 'sending' | 'withheld' | 'superseded' | 'dead';
  readonly reason: string | null;
  readonly detail?: string;
  readonly identity: boolean | null;
}

export function toDecidedRow({ candidate, decision }: Decided): DecidedRow {
  switch (decision.kind) {
    case 'send':
      return { candidate, state: 'sending', reason: null, identity: decision.identity };
    case 'withhold':
      return { candidate, state: 'withheld', reason: decision.reason, identity: null };
    case 'supersede':
      return { candidate, state: 'superseded', reason: null, identity: null };
    case 'park':
      return { candidate, state: 'dead', reason: decision.cause, detail: decision.detail, identity: null };
  }
}

/** Inserts the deliveries of changes that the lane had not decided on before. */
export async function insertDecided(
  tx: Queryable,
  lease: LaneLease,
  configuration: number,
  rows: readonly DecidedRow[],
): Promise<void> {
  if (rows.length === 0) return;
  await tx.query(
    `insert into deliveries (sink_id, ref, configuration, sequence, replay, list, key, revision, state, reason, identity, detail)
     select $1, $2, $3, n.* from unnest($4::int8[], $5::int4[], $6::text[], $7::text[], $8::int4[], $9::text[],
       $10::text[], $11::boolean[], $12::text[]) as n`,
    [
      lease.sinkId,
      lease.ref,
      configuration,
      rows.map(({ candidate }) => candidate.sequence),
      rows.map(({ candidate }) => candidate.replay),
      rows.map(({ candidate }) => candidate.list),
      rows.map(({ candidate }) => candidate.key),
      rows.map(({ candidate }) => candidate.revision),
      rows.map(({ state }) => state),
      rows.map(({ reason }) => reason),
      rows.map(({ identity }) => identity),
      rows.map(({ detail }) => detail ?? null),
    ],
  );
}

/** Writes new decisions on deliveries that were open. Keeps the last identity and detail if the decision sets none. */
export async function updateDecided(
  tx: Queryable,
  lease: LaneLease,
  configuration: number,
  rows: readonly DecidedRow[],
): Promise<void> {
  if (rows.length === 0) return;
  await tx.query(
    `insert into deliveries (sink_id, ref, sequence, replay, list, key, revision, configuration, state, reason, identity,
       detail, updated_at)
     select d.sink_id, d.ref, d.sequence, d.replay, d.list, d.key, d.revision, $3, n.state, n.reason,
       coalesce(n.identity, d.identity), coalesce(n.detail, d.detail), clock_timestamp()
     from unnest($4::int8[], $5::int4[], $6::text[], $7::text[], $8::boolean[], $9::text[])
       as n (sequence, replay, state, reason, identity, detail) ${knownDelivery}
     on conflict (sink_id, ref, sequence, replay) do update set state = excluded.state, reason = excluded.reason,
       identity = excluded.identity, detail = excluded.detail, configuration = excluded.configuration, due_at = null,
       updated_at = excluded.updated_at`,
    [
      lease.sinkId,
      lease.ref,
      configuration,
      rows.map(({ candidate }) => candidate.sequence),
      rows.map(({ candidate }) => candidate.replay),
      rows.map(({ state }) => state),
      rows.map(({ reason }) => reason),
      rows.map(({ identity }) => identity),
      rows.map(({ detail }) => detail ?? null),
    ],
  );
}

/**
 * For sinks that receive only the latest revision: supersedes the earlier revision of an item if it is withheld, so
 * that the item counts as withheld once. A withheld removal for which the sink had nothing to do (`identity` false)
 * stays, because it records that the sink does not hold the item.
 */
export async function supersedeWithheld(
  tx: Queryable,
  lease: LaneLease,
  added: readonly CandidateRow[],
): Promise<void> {
  const later = added.filter(({ revision, replay }) => revision > 1 && replay === 0);
  if (later.length === 0) return;
  await tx.query(
    `insert into deliveries (sink_id, ref, sequence, replay, list, key, revision, configuration, state, updated_at)
     select d.sink_id, d.ref, d.sequence, d.replay, d.list, d.key, d.revision, d.configuration, 'superseded', clock_timestamp()
     from unnest($3::int8[]) as n (sequence)
       cross join lateral (select previous_sequence from changes where ref = $2 and sequence = n.sequence limit 1) c
       cross join lateral (select * from deliveries where sink_id = $1 and ref = $2 and sequence = c.previous_sequence
         and replay = 0 limit 1) d
     where d.state = 'withheld' and d.identity is distinct from false
     on conflict (sink_id, ref, sequence, replay) do update set state = excluded.state, reason = null,
       updated_at = excluded.updated_at`,
    [lease.sinkId, lease.ref, later.map(({ sequence }) => sequence)],
  );
}

/**
 * The result of one delivery. `waiting`: not sent, due again immediately or after `retryInMs`; `retry`: failed, due
 * again after `retryInMs`; `sending`: outcome unknown, looked up after `retryInMs` or when the lane is taken over;
 * `withheld`: the sink had nothing to do.
 */
export interface Settled {
  readonly sequence: number;
  /** The number of the replay that emitted the change; 0 for the change's own delivery. */
  readonly replay: number;
  readonly state: 'delivered' | 'waiting' | 'retry' | 'sending' | 'withheld' | 'dead';
  readonly reason: string | null;
  readonly detail: string | null;
  readonly attempts: number;
  readonly retryInMs: number | null;
  /** The item's object at the destination, if it changed. Its `value` is null if nothing is left at the destination. */
  readonly object?: ItemObject;
  /** Changed objects of other, related items. */
  readonly siblings?: readonly ItemObject[];
}

/** An item's object at the destination, with the item's list and key. */
export interface ItemObject {
  readonly list: string;
  readonly key: string;
  readonly value: Readonly<Record<string, unknown>> | null;
}

/** Writes the outcomes of deliveries that are `sending`. */
export async function writeOutcomes(tx: Queryable, lease: LaneLease, settled: readonly Settled[]): Promise<void> {
  const plain = groupBy(settled.filter(isPlain), ({ attempts }) => attempts);
  const others = settled.filter((each) => !isPlain(each));
  await Promise.all([
    ...[...plain].map(([attempts, group]) => writeDelivered(tx, lease, attempts, group)),
    others.length > 0 && writeEach(tx, lease, others),
  ]);
}

/** Returns true for a delivery that succeeded without a detail, the common case. */
function isPlain({ state, replay, detail, reason }: Settled): boolean {
  return state === 'delivered' && replay === 0 && detail === null && reason === null;
}

/**
 * Writes deliveries of the common case (`isPlain`). Takes two thirds of the time of `writeEach`,
 * because it finds rows by the index of `sending` deliveries.
 */
async function writeDelivered(
  tx: Queryable,
  { sinkId, ref }: LaneLease,
  attempts: number,
  settled: readonly Settled[],
): Promise<void> {
  const sequences = settled.map(({ sequence }) => sequence);
  await tx.query(
    `update deliveries d set state = 'delivered', reason = null, detail = null, attempts = $3, due_at = null,
       updated_at = clock_timestamp()
     where ${byOrder('d', '$1', '$2')} and d.state = 'sending' and d.sequence >= $4::int8 and d.sequence <= $5::int8
       and d.replay = 0 and d.sequence = any($6::int8[])`,
    [
      sinkId,
      ref,
      attempts,
      sequences.reduce((a, c) => Math.min(a, c)),
      sequences.reduce((a, c) => Math.max(a, c)),
      sequences,
    ],
  );
}

/**
 * Writes outcomes of all kinds. If the item was erased while this change was being sent, the delivery ends like the
 * item's other deliveries (`supersedeDeliveries` in people/erase-items.ts): it keeps no text from the destination and
 * is never sent again. Only the last change, the item's removal, keeps its outcome.
 */
async function writeEach(tx: Queryable, lease: LaneLease, settled: readonly Settled[]): Promise<void> {
  await tx.query(
    `insert into deliveries (sink_id, ref, sequence, replay, list, key, revision, configuration, state, reason, detail,
         attempts, due_at, updated_at)
       select d.sink_id, d.ref, d.sequence, d.replay, d.list, d.key, d.revision, d.configuration,
         case when e.erased and n.state in ('waiting', 'retry', 'dead', 'withheld') then 'superseded' else n.state end,
         case when e.erased and n.state in ('waiting', 'retry', 'dead', 'withheld') then null else n.reason end,
         case when not e.erased then n.detail end, n.attempts,
         case when not e.erased or n.state = 'sending'
           then clock_timestamp() + n.retry_in_ms * interval '1 millisecond' end,
         clock_timestamp()
       from unnest($3::int8[], $4::int4[], $5::text[], $6::text[], $7::text[], $8::int4[], $9::float8[])
         as n (sequence, replay, state, reason, detail, attempts, retry_in_ms) ${knownDelivery}
         cross join lateral (select coalesce((select i.erased and d.sequence < i.last_sequence from items i
           where i.ref = d.ref and i.list = d.list and i.key = d.key limit 1), false) as erased) e
       on conflict (sink_id, ref, sequence, replay) do update set state = excluded.state, reason = excluded.reason,
         detail = excluded.detail, attempts = excluded.attempts, due_at = excluded.due_at,
         updated_at = excluded.updated_at`,
    [
      lease.sinkId,
      lease.ref,
      settled.map(({ sequence }) => sequence),
      settled.map(({ replay }) => replay),
      settled.map(({ state }) => state),
      settled.map(({ reason }) => reason),
      settled.map(({ detail }) => detail),
      settled.map(({ attempts }) => attempts),
      settled.map(({ retryInMs }) => retryInMs),
    ],
  );
}

/** Supersedes dead letters of older revisions after a later one was delivered. */
export async function supersedeDead(tx: Queryable, lease: LaneLease, delivered: readonly number[]): Promise<void> {
  if (delivered.length === 0) return;
  await tx.query(
    `insert into deliveries (sink_id, ref, sequence, replay, list, key, revision, configuration, state, updated_at)
         select d.sink_id, d.ref, d.sequence, d.replay, d.list, d.key, d.revision, d.configuration, 'superseded',
           clock_timestamp()
         from unnest($3::int8[]) as p (sequence)
           cross join lateral (select list, key from deliveries where sink_id = $1 and ref = $2 and sequence = p.sequence
             and replay = 0 limit 1) n
           cross join lateral (select * from deliveries d where ${byItem('d', '$1', '$2')} and d.list = n.list
             and d.key = n.key and d.sequence < p.sequence and d.state = 'dead' offset 0) d
         on conflict (sink_id, ref, sequence, replay) do update set state = excluded.state, reason = null,
           updated_at = excluded.updated_at`,
    [lease.sinkId, lease.ref, delivered],
  );
}

/** The reason of a delivery that counts as delivered because a replay delivered its change. */
const byReplay = 'by-replay';

/**
 * Marks withheld and dead deliveries as delivered if a replay delivered their change, and takes `identity` from the
 * replay. The change then counts once, and is not sent again when the cause is resolved.
 */
export async function settleReplayed(tx: Queryable, lease: LaneLease, settled: readonly Settled[]): Promise<void> {
  const delivered = settled.filter(({ state, replay }) => state === 'delivered' && replay > 0);
  if (delivered.length === 0) return;
  await tx.query(
    `insert into deliveries (sink_id, ref, sequence, replay, list, key, revision, configuration, state, reason, identity,
         attempts, updated_at)
       select d.sink_id, d.ref, d.sequence, d.replay, d.list, d.key, d.revision, d.configuration, 'delivered', '${byReplay}',
         r.identity, d.attempts, clock_timestamp()
       from unnest($3::int8[], $4::int4[]) as n (sequence, replay)
         cross join lateral (select * from deliveries where sink_id = $1 and ref = $2 and sequence = n.sequence
           and replay = 0 limit 1) d
         cross join lateral (select identity from deliveries where sink_id = $1 and ref = $2 and sequence = n.sequence
           and replay = n.replay limit 1) r
       where d.state in ('withheld', 'dead')
       on conflict (sink_id, ref, sequence, replay) do update set state = excluded.state, reason = excluded.reason,
         detail = null, identity = excluded.identity, due_at = null, updated_at = excluded.updated_at`,
    [lease.sinkId, lease.ref, delivered.map(({ sequence }) => sequence), delivered.map(({ replay }) => replay)],
  );
}
