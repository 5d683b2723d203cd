import type { Queryable } from '../drivers/database.js';
import type { Ledger } from '../ledger.js';
import type { Consent } from '../seen-item.js';
import { type EffectiveVisibility, judgedLists, judgeVisibility, type Visibility } from '../visibility.js';
import { type LaneLease, lockLane } from './lanes.js';
import { questionFlags, sessionSettings } from './place-items.js';

/** A change that may be sent now, with what the decision depends on, from current rows. */
export interface Candidate {
  readonly sequence: number;
  readonly id: string;
  readonly list: string;
  readonly key: string;
  readonly revision: number;
  readonly kind: 'created' | 'updated' | 'deleted';
  readonly sessionId: number | null;
  readonly foundAt: Date;
  /** Canonical JSON of the item at this revision; null when deleted. */
  readonly payload: string | null;
  /** No later change of the item exists. */
  readonly latest: boolean;
  /** As judged when the change was found, tightened by what is known now; null: not a matter of this list. */
  readonly visibility: EffectiveVisibility | null;
  /** What the attendee behind it has said; for an attendee's own record, too. Null: that record was not read yet. */
  readonly consent: Consent | null;
  /** An earlier attempt went out with, or without, the person; null: there was none. */
  readonly sentWithIdentity: boolean | null;
  readonly attempts: number;
}

export type Decision =
  | { readonly kind: 'send'; readonly identity: boolean }
  | { readonly kind: 'withhold'; readonly reason: string }
  | { readonly kind: 'supersede' };

export interface BatchRequest {
  readonly lists: readonly string[];
  readonly order: 'item' | 'pigeonhole';
  readonly size: number;
  readonly configuration: number;
  readonly decide: (candidate: Candidate) => Decision;
}

export interface Batch {
  /** To be sent, in sequence, each with whether the person may be shown; already committed as being sent. */
  readonly sending: readonly { readonly candidate: Candidate; readonly identity: boolean }[];
  readonly withheld: number;
  /** There was nothing to look at: the lane is done for now. */
  readonly empty: boolean;
}

interface Row {
  sequence: number;
  id: string;
  list: string;
  key: string;
  revision: number;
  kind: 'created' | 'updated' | 'deleted';
  session_id: number | null;
  found_at: Date;
  payload: string | null;
  latest: boolean;
  visibility: EffectiveVisibility | null;
  item_visibility: Visibility | null;
  item_session_id: number | null;
  consent: Consent | null;
  identity: boolean | null;
  attempts: number;
  held: boolean;
}

/** The columns of a candidate; `c` its change, `i` its item, `a` the attendee's record. */
const candidateColumns = `c.sequence, c.id, c.list, c.key, c.revision, c.kind, c.session_id, c.found_at, c.visibility,
  case when c.kind = 'deleted' then null else coalesce(c.snapshot, case when i.last_sequence = c.sequence then i.payload end)
    end as payload,
  i.last_sequence = c.sequence as latest, i.visibility as item_visibility, i.session_id as item_session_id,
  case when c.list = 'attendees' then i.consent else a.consent end as consent`;
const candidateJoins = `join items i on i.ref = c.ref and i.list = c.list and i.key = c.key
  left join items a on a.ref = c.ref and a.list = 'attendees' and a.key = i.attendee_id::text and a.payload is not null`;

/**
 * Takes the next changes of a lane, decides on each, and commits that: rows that wait for an earlier revision of
 * their item, that are withheld, and that are being sent from now on. The watermark moves with it.
 */
export async function beginBatch(ledger: Ledger, lease: LaneLease, request: BatchRequest): Promise<Batch> {
  return await ledger.db.transaction(async (tx) => {
    const lane = await lockLane(tx, lease);
    const open = await dueDeliveries(tx, lease, request);
    const room = request.order === 'pigeonhole' && (await anyOpen(tx, lease)) ? 0 : request.size - open.length;
    const fresh = room > 0 ? await newChanges(tx, lease, request, lane, room) : [];
    const judged = await tighten(tx, lease.ref, [...open, ...fresh.filter((row) => !row.held)]);
    const decided = judged.map((candidate) => ({ candidate, decision: request.decide(candidate) }));
    const openSequences = new Set(open.map((row) => row.sequence));
    await insertRows(tx, lease, request.configuration, [
      ...fresh
        .filter((row) => row.held)
        .map((row) => ({ candidate: row, state: 'waiting' as const, reason: null, identity: null })),
      ...decided.filter(({ candidate }) => !openSequences.has(candidate.sequence)).map(newRow),
    ]);
    await updateRows(
      tx,
      lease,
      request.configuration,
      decided.filter(({ candidate }) => openSequences.has(candidate.sequence)).map(newRow),
    );
    if (room > 0) await moveWatermark(tx, lease, fresh.length < room ? lane.newest : fresh.at(-1)!.sequence);
    return {
      sending: decided
        .flatMap(({ candidate, decision }) =>
          decision.kind === 'send' ? [{ candidate, identity: decision.identity }] : [],
        )
        .toSorted((a, b) => a.candidate.sequence - b.candidate.sequence),
      withheld: decided.filter(({ decision }) => decision.kind === 'withhold').length,
      empty: open.length === 0 && fresh.length === 0,
    };
  });
}

/** Changes that were being sent when an earlier holder of the lane ended. */
export async function inFlight(ledger: Ledger, lease: LaneLease): Promise<(Candidate & { identity: boolean })[]> {
  const rows = await ledger.db.query<Row>(
    `select ${candidateColumns}, d.identity, d.attempts, false as held
     from deliveries d join changes c on c.ref = d.ref and c.sequence = d.sequence ${candidateJoins}
     where d.sink_id = $1 and d.ref = $2 and d.state = 'sending' order by d.sequence`,
    [lease.sinkId, lease.ref],
  );
  const judged = await tighten(ledger.db, lease.ref, rows);
  return judged.map((candidate) => ({ ...candidate, identity: candidate.sentWithIdentity === true }));
}

/** Open deliveries whose time has come and that nothing earlier holds. */
async function dueDeliveries(tx: Queryable, lease: LaneLease, request: BatchRequest): Promise<Row[]> {
  return await tx.query<Row>(
    `select ${candidateColumns}, d.identity, d.attempts, false as held
     from deliveries d join changes c on c.ref = d.ref and c.sequence = d.sequence ${candidateJoins}
     where d.sink_id = $1 and d.ref = $2 and d.state in ('waiting', 'retry') and (d.due_at is null or d.due_at <= now())
       and ($4 = 'pigeonhole' or not exists (select 1 from deliveries e where e.sink_id = d.sink_id and e.ref = d.ref
         and e.list = d.list and e.key = d.key and e.sequence < d.sequence
         and e.state in ('waiting', 'sending', 'retry') and (e.state = 'sending' or e.due_at > now())))
       and ($4 = 'item' or d.sequence < coalesce((select min(e.sequence) from deliveries e where e.sink_id = $1
         and e.ref = $2 and e.state in ('waiting', 'sending', 'retry') and (e.state = 'sending' or e.due_at > now())),
         9223372036854775807))
     order by d.sequence limit $3`,
    [lease.sinkId, lease.ref, request.size, request.order],
  );
}

async function anyOpen(tx: Queryable, lease: LaneLease): Promise<boolean> {
  const rows = await tx.query(
    `select 1 from deliveries where sink_id = $1 and ref = $2 and state in ('waiting', 'sending', 'retry') limit 1`,
    [lease.sinkId, lease.ref],
  );
  return rows.length > 0;
}

async function newChanges(
  tx: Queryable,
  lease: LaneLease,
  request: BatchRequest,
  lane: { watermark: number; historyUntil: number; newest: number },
  limit: number,
): Promise<Row[]> {
  return await tx.query<Row>(
    `select ${candidateColumns}, null::boolean as identity, 0 as attempts,
       exists (select 1 from deliveries d where d.sink_id = $1 and d.ref = c.ref and d.list = c.list and d.key = c.key
         and d.state in ('waiting', 'sending', 'retry')) as held
     from changes c ${candidateJoins}
     where c.ref = $2 and c.sequence > $3 and c.sequence <= $4 and c.list = any($5::text[])
       and (c.sequence > $6 or c.sequence = i.last_sequence)
     order by c.sequence limit $7`,
    [lease.sinkId, lease.ref, lane.watermark, lane.newest, request.lists, lane.historyUntil, limit],
  );
}

/** Judges anonymity from current rows, so that no change goes out named because its item's own row is late to follow. */
async function tighten(tx: Queryable, ref: number, rows: readonly Row[]): Promise<Candidate[]> {
  const judged = rows.filter((row) => judgedLists.has(row.list));
  const sessions = await sessionSettings(tx, ref, [...new Set(judged.map((row) => row.item_session_id))]);
  const questions = judged.filter((row) => row.list === 'questions').map((row) => row.key);
  const flags = await questionFlags(tx, ref, questions);
  return rows.map((row) => {
    const now = judgedLists.has(row.list)
      ? judgeVisibility(row.list, {
          anonymousResponses: sessions.get(row.item_session_id),
          questionIsAnonymous: flags.get(`${row.key} ${row.item_session_id}`),
        })
      : row.item_visibility;
    const named = row.visibility === 'named' && now === 'named' && row.item_visibility === 'named';
    return {
      sequence: row.sequence,
      id: row.id,
      list: row.list,
      key: row.key,
      revision: row.revision,
      kind: row.kind,
      sessionId: row.session_id,
      foundAt: row.found_at,
      payload: row.payload,
      latest: row.latest,
      visibility: row.visibility === null ? null : named ? 'named' : 'anonymous',
      consent: row.consent,
      sentWithIdentity: row.identity,
      attempts: row.attempts,
    };
  });
}

interface NewRow {
  readonly candidate: Pick<Candidate, 'sequence' | 'list' | 'key' | 'revision'>;
  readonly state: 'waiting' | 'sending' | 'withheld' | 'superseded';
  readonly reason: string | null;
  readonly identity: boolean | null;
}

function newRow({ candidate, decision }: { candidate: Candidate; decision: Decision }): NewRow {
  switch (decision.kind) {
    case 'send':
      return { candidate, state: 'sending', reason: null, identity: decision.identity };
    case 'withhold':
      return { candidate, state: 'withheld', reason: decision.reason, identity: null };
    case 'supersede':
      return { candidate, state: 'superseded', reason: null, identity: null };
  }
}

async function insertRows(
  tx: Queryable,
  lease: LaneLease,
  configuration: number,
  rows: readonly NewRow[],
): Promise<void> {
  if (rows.length === 0) return;
  await tx.query(
    `insert into deliveries (sink_id, ref, configuration, sequence, list, key, revision, state, reason, identity)
     select $1, $2, $3, n.* from unnest($4::int8[], $5::text[], $6::text[], $7::int4[], $8::text[], $9::text[],
       $10::boolean[]) as n`,
    [
      lease.sinkId,
      lease.ref,
      configuration,
      rows.map(({ candidate }) => candidate.sequence),
      rows.map(({ candidate }) => candidate.list),
      rows.map(({ candidate }) => candidate.key),
      rows.map(({ candidate }) => candidate.revision),
      rows.map(({ state }) => state),
      rows.map(({ reason }) => reason),
      rows.map(({ identity }) => identity),
    ],
  );
}

async function updateRows(
  tx: Queryable,
  lease: LaneLease,
  configuration: number,
  rows: readonly NewRow[],
): Promise<void> {
  if (rows.length === 0) return;
  await tx.query(
    `update deliveries d set state = n.state, reason = n.reason, identity = coalesce(n.identity, d.identity),
       configuration = $3, due_at = null, updated_at = clock_timestamp()
     from unnest($4::int8[], $5::text[], $6::text[], $7::boolean[]) as n (sequence, state, reason, identity)
     where d.sink_id = $1 and d.ref = $2 and d.sequence = n.sequence`,
    [
      lease.sinkId,
      lease.ref,
      configuration,
      rows.map(({ candidate }) => candidate.sequence),
      rows.map(({ state }) => state),
      rows.map(({ reason }) => reason),
      rows.map(({ identity }) => identity),
    ],
  );
}

async function moveWatermark(tx: Queryable, lease: LaneLease, watermark: number): Promise<void> {
  await tx.query('update lanes set watermark = greatest(watermark, $3) where sink_id = $1 and ref = $2', [
    lease.sinkId,
    lease.ref,
    watermark,
  ]);
}
