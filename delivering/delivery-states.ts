import type { Queryable } from '../ledger/drivers/database.js';
import { knownDelivery, byItem } from '../ledger/sql-expressions.js';
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
 * sink or its selection changed), `consent-changes.ts` (consent changed what an item may show),
 * `people/erase-items.ts` (a person is erased), and `people/retention.ts` (retention has ended). A batch of new
 * changes may be a single row (`ledger/batches-in-flight.ts`) until its outcomes are known.
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

/** SQL value of `redriven` after an upsert: a delivery stays redriven until it is settled. */
const redrivenWhileOpen = `case when excluded.state in ('waiting', 'sending', 'retry') then deliveries.redriven end`;

/**
 * Writes decisions: inserts the deliveries of changes on which the lane had not decided before, and updates those that
 * were open. These keep the last identity and detail if the decision sets none.
 */
export async function writeDecided(
  tx: Queryable,
  lease: LaneLease,
  configuration: number,
  rows: readonly DecidedRow[],
): Promise<void> {
  if (rows.length === 0) return;
  await tx.query(
    `insert into deliveries (sink_id, ref, configuration, sequence, replay, list, key, revision, state, reason, identity, detail)
     select $1, $2, $3, n.* from unnest($4::int8[], $5::int4[], $6::text[], $7::text[], $8::int4[], $9::text[],
       $10::text[], $11::boolean[], $12::text[]) as n
     on conflict (sink_id, ref, sequence, replay) do update set state = excluded.state, reason = excluded.reason,
       identity = coalesce(excluded.identity, deliveries.identity), detail = coalesce(excluded.detail, deliveries.detail),
       configuration = excluded.configuration, due_at = null, redriven = ${redrivenWhileOpen}, updated_at = clock_timestamp()`,
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

/**
 * Writes the outcomes of deliveries that are `sending`. If the item was erased while this change was being sent, the
 * delivery ends like the item's other deliveries (`supersedeDeliveries` in people/erase-items.ts): it keeps no text
 * from the destination and is never sent again. Only the last change, the item's removal, keeps its outcome.
 */
export async function writeOutcomes(tx: Queryable, lease: LaneLease, settled: readonly Settled[]): Promise<void> {
  if (settled.length === 0) return;
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
         redriven = ${redrivenWhileOpen}, updated_at = excluded.updated_at`,
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
 * replay. The change then counts once, and is not sent again when the cause is resolved. Dead letters of earlier replays
 * of the change are superseded.
 */
export async function settleReplayed(tx: Queryable, lease: LaneLease, settled: readonly Settled[]): Promise<void> {
  const delivered = settled.filter(({ state, replay }) => state === 'delivered' && replay > 0);
  if (delivered.length === 0) return;
  await tx.query(
    `insert into deliveries (sink_id, ref, sequence, replay, list, key, revision, configuration, state, reason, identity,
         attempts, updated_at)
       select d.sink_id, d.ref, d.sequence, d.replay, d.list, d.key, d.revision, d.configuration,
         case when d.replay = 0 then 'delivered' else 'superseded' end, case when d.replay = 0 then '${byReplay}' end,
         case when d.replay = 0 then r.identity else d.identity end, d.attempts, clock_timestamp()
       from unnest($3::int8[], $4::int4[]) as n (sequence, replay)
         cross join lateral (select * from deliveries where sink_id = $1 and ref = $2 and sequence = n.sequence
           and replay < n.replay offset 0) d
         cross join lateral (select identity from deliveries where sink_id = $1 and ref = $2 and sequence = n.sequence
           and replay = n.replay limit 1) r
       where d.state = 'dead' or (d.state = 'withheld' and d.replay = 0)
       on conflict (sink_id, ref, sequence, replay) do update set state = excluded.state, reason = excluded.reason,
         detail = null, identity = excluded.identity, due_at = null, updated_at = excluded.updated_at`,
    [lease.sinkId, lease.ref, delivered.map(({ sequence }) => sequence), delivered.map(({ replay }) => replay)],
  );
}
