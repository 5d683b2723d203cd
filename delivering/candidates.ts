import type { Queryable } from '../ledger/drivers/database.js';
import type { Consent } from '../ledger/seen-item.js';
import { type EffectiveVisibility, judgedLists, judgeVisibility, type Visibility } from '../ledger/visibility.js';
import { byItem } from '../ledger/addressed-indexes.js';
import { questionFlags, sessionSettings } from '../ledger/place-items.js';

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
  /** Of a person's own record: what was sent to this sink last, or may have been, said something of them. */
  readonly toldBefore: boolean;
  /**
   * Its person was erased. `told`: this sink was told of the item, or may have been, and has to be told that it is gone;
   * `untold`: it was not. Null: it was not erased.
   */
  readonly erased: 'told' | 'untold' | null;
  /** An earlier attempt went out with, or without, the person; null: there was none. */
  readonly sentWithIdentity: boolean | null;
  readonly attempts: number;
  /** It has failed before, and others of its lane have passed since: it is not the sink that fails. */
  readonly failedAlone: boolean;
  /** The number of the replay that emits it again; 0: it is delivered by itself. */
  readonly replay: number;
  /** The id under which that replay is known to receivers; null: none. */
  readonly replayId: string | null;
}

export interface CandidateRow {
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
  told_before: boolean;
  erased: 'told' | 'untold' | null;
  identity: boolean | null;
  attempts: number;
  failed_alone: boolean;
  held: boolean;
  replay: number;
  replay_id: string | null;
}

/**
 * What the last delivery of a person's own record (ownRecords) before this change was, of those for which a condition
 * holds. By an index of such deliveries alone (migration 0027), whose condition is repeated here.
 */
function ofRecordsBefore(what: string, where: string): string {
  return `case when c.list in ('attendees', 'engagement', 'registrants') and c.previous_sequence is not null then coalesce((
    select ${what} from deliveries t
    where ${byItem('t', '$1', 'c.ref')} and t.list = c.list and t.key = c.key and t.sequence < c.sequence
      and t.list in ('attendees', 'engagement', 'registrants') and t.identity is not null and t.state <> 'sending'
      and (${where})
    order by t.sequence desc, t.replay desc limit 1), false) else false end`;
}

/**
 * A removal counts once it has passed, or the sink has found nothing to remove: one that failed, or whose place a later
 * change took, took nothing back.
 */
const toldOrTakenBack = `t.identity
  or (t.identity is false and (t.state = 'delivered' or (t.state = 'withheld' and t.reason not like 'consent-%')))`;

/**
 * What the person behind an item has said, as an SQL expression: `i` the item, `a` the attendee's record. A registrant
 * who has not signed in has said nothing: their own row tells so.
 */
export const consentBehind = `case when i.list = 'attendees' or (i.list = 'registrants' and i.attendee_id is null)
  then i.consent else a.consent end`;

/** The columns of a candidate; `c` its change, `i` its item, `a` the attendee's record; `$1` is the sink. */
export const candidateColumns = `c.sequence, c.id, c.list, c.key, c.revision, c.kind, c.session_id, c.found_at,
  c.visibility,
  case when c.kind = 'deleted' then null else coalesce(c.snapshot, case when i.last_sequence = c.sequence and not i.expired then i.payload end)
    end as payload,
  i.last_sequence = c.sequence as latest, i.visibility as item_visibility, i.session_id as item_session_id,
  ${consentBehind} as consent,
  ${ofRecordsBefore('t.identity', toldOrTakenBack)} as told_before,
  case when i.erased then case when exists (select 1 from erasing e
    where e.sink_id = $1 and e.ref = c.ref and e.list = c.list and e.key = c.key) then 'told' else 'untold' end end as erased`;

/** `lateral` with a limit makes each one look-up by the primary key, whatever the planner thinks of the tables. */
export const candidateJoins = `cross join lateral (select * from items where ref = c.ref and list = c.list and key = c.key
    limit 1) i
  left join lateral (select * from items where ref = c.ref and list = 'attendees' and key = i.attendee_id::text
    and payload is not null and i.list <> 'attendees' limit 1) a on true`;

/** An unsettled change of the item holds its later ones. */
const heldByOpen = `exists (select 1 from deliveries d where ${byItem('d', '$1', 'c.ref')} and d.list = c.list
  and d.key = c.key and d.state in ('waiting', 'sending', 'retry'))`;

export interface LaneRange {
  readonly sinkId: number;
  readonly ref: number;
  readonly lists: readonly string[];
  /** Behind this sequence, up to and including `newest`. */
  readonly after: number;
  readonly newest: number;
  /** Up to here only each item's last change counts, and none of an item that is deleted: the sink was not there yet. */
  readonly historyUntil: number;
  /** And of these only what was found since; null: all. */
  readonly historySince: Date | null;
}

/** Changes that are looked at in one statement: those of lists that the sink does not want count as well. */
const mostLookedAt = 20_000;

/** Some of a range, in the order of the changes. */
export interface FoundChanges {
  readonly rows: CandidateRow[];
  /** Everything up to here has been looked at. */
  readonly reached: number;
}

/** The next changes that a lane has not looked at yet. */
export async function newChanges(tx: Queryable, range: LaneRange, limit: number): Promise<FoundChanges> {
  const until = Math.min(range.newest, range.after + mostLookedAt);
  const rows = await tx.query<CandidateRow>(
    `select ${candidateColumns}, null::boolean as identity, 0 as attempts, false as failed_alone,
       case when c.previous_sequence is null then false else ${heldByOpen} end as held, 0 as replay,
       null::uuid as replay_id
     from changes c ${candidateJoins}
     where c.ref = $2 and c.sequence > $3 and c.sequence <= $4 and c.list = any($5::text[])
       and (c.sequence > $6 or (c.sequence = i.last_sequence and i.payload is not null and not i.expired
         and ($7::timestamptz is null or c.found_at >= $7)))
     order by c.sequence limit $8`,
    [range.sinkId, range.ref, range.after, until, range.lists, range.historyUntil, range.historySince, limit],
  );
  return { rows, reached: rows.length < limit ? Math.max(until, range.after) : rows.at(-1)!.sequence };
}

export interface ReplayRange {
  readonly sinkId: number;
  readonly ref: number;
  readonly lists: readonly string[];
  readonly after: number;
  readonly until: number;
  /** Only what was found since; null: all. */
  readonly from: Date | null;
  readonly replay: number;
  readonly replayId: string;
}

/**
 * What a replay emits next: items whose last change stands in the range. One that has changed since goes out by that
 * change, whose revision is a later one.
 */
export async function replayedChanges(tx: Queryable, range: ReplayRange, limit: number): Promise<FoundChanges> {
  const until = Math.min(range.until, range.after + mostLookedAt);
  const rows = await tx.query<CandidateRow>(
    `select ${candidateColumns}, null::boolean as identity, 0 as attempts, false as failed_alone,
       ${heldByOpen} as held, $7::int4 as replay,
       $8::uuid as replay_id
     from changes c ${candidateJoins}
     where c.ref = $2 and c.sequence > $3 and c.sequence <= $4 and c.list = any($5::text[])
       and c.sequence = i.last_sequence and i.payload is not null and not i.expired and ($6::timestamptz is null or c.found_at >= $6)
     order by c.sequence limit $9`,
    [range.sinkId, range.ref, range.after, until, range.lists, range.from, range.replay, range.replayId, limit],
  );
  return { rows, reached: rows.length < limit ? Math.max(until, range.after) : rows.at(-1)!.sequence };
}

/** Judges anonymity from current rows, so that no change goes out named because its item's own row is late to follow. */
export async function toCandidates(tx: Queryable, ref: number, rows: readonly CandidateRow[]): Promise<Candidate[]> {
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
      toldBefore: row.told_before,
      erased: row.erased,
      sentWithIdentity: row.identity,
      attempts: row.attempts,
      failedAlone: row.failed_alone,
      replay: row.replay,
      replayId: row.replay_id,
    };
  });
}
