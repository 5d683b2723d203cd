import type { Queryable } from '../ledger/drivers/database.js';
import type { Consent } from '../ledger/seen-item.js';
import { type EffectiveVisibility, judgedLists, loadJudge, ownRecords, type Visibility } from '../ledger/visibility.js';
import { byItem, listSet } from '../ledger/sql-expressions.js';

/** A change that may be sent now, with the facts on which the decision depends, read from current rows. */
export interface Candidate {
  readonly sequence: number;
  readonly id: string;
  readonly list: string;
  readonly key: string;
  readonly revision: number;
  readonly kind: 'created' | 'updated' | 'deleted';
  readonly sessionId: number | null;
  readonly foundAt: Date;
  /** Canonical JSON of the item at this revision; null if the item is deleted or the ledger no longer has the data. */
  readonly payload: string | null;
  /** True if the item has no later change. */
  readonly latest: boolean;
  /**
   * The visibility when the change was found, or the visibility now if it is stricter; null for lists without
   * visibility.
   */
  readonly visibility: EffectiveVisibility | null;
  /** Consent of the item's attendee; null if there is none, or if their record has not been read yet. */
  readonly consent: Consent | null;
  /**
   * True for a person's own record if this sink received it or may have received it, and still holds data about the
   * person.
   */
  readonly sentBefore: boolean;
  /**
   * Set if the item's person was erased. `received`: this sink received the item, or may have, and must receive its
   * removal; `not-received`: it did not.
   */
  readonly erased: 'received' | 'not-received' | null;
  /** Whether an earlier attempt contained the person's identity; null if there was no earlier attempt. */
  readonly sentWithIdentity: boolean | null;
  readonly attempts: number;
  /**
   * True if an attempt failed and other changes of the lane were delivered since. The failure is then not the sink's
   * fault.
   */
  readonly othersPassedSince: boolean;
  /**
   * True if the change was a dead letter and is sent again, because an operator redrove it or the sink's settings
   * changed. If it is refused again, it becomes a dead letter immediately (decision 0078).
   */
  readonly redriven: boolean;
  /** The number of the replay that emits the change again; 0 for the change's own delivery. */
  readonly replay: number;
  /** The replay's id as receivers see it; null if there is none. */
  readonly replayId: string | null;
  /**
   * True if the change is sent again because an audit found a difference: everything is planned again, and a removal that
   * was delivered before is sent again.
   */
  readonly repair: boolean;
}

/** A change that the sink receives, and whether it may see the person's identity. */
export interface ShownChange extends Candidate {
  readonly identity: boolean;
}

/** A row that a statement with `candidateColumns` returns, before `toCandidates` judges its visibility. */
export interface CandidateRow extends Omit<Candidate, 'visibility'> {
  /** The visibility when the change was found. */
  readonly foundVisibility: EffectiveVisibility | null;
  readonly itemVisibility: Visibility | null;
  readonly itemSessionId: number | null;
  readonly itemOrigin: Buffer | null;
  /** True if an earlier change of the item is not settled. */
  readonly blocked: boolean;
}

/**
 * Returns SQL that reads a value from the last delivery of a person's own record before this change that meets a
 * condition. The statement repeats the condition of the partial index `deliveries_told_settled`, because the
 * planner uses the index only then.
 * @param what the value to read
 * @param where the condition
 */
function ofRecordsBefore(what: string, where: string): string {
  return `case when c.list in ${listSet(ownRecords)} and c.previous_sequence is not null then coalesce((
    select ${what} from deliveries t
    where ${byItem('t', '$1', 'c.pigeonhole_number')} and t.list = c.list and t.key = c.key and t.sequence < c.sequence
      and t.list in ${listSet(ownRecords)} and t.identity is not null and t.state <> 'sending'
      and (${where})
    order by t.sequence desc, t.replay desc limit 1), false) else false end`;
}

/**
 * SQL condition that selects the deliveries which show whether the sink holds the person's data: those sent with the
 * identity, and completed removals. A removal is complete if it was delivered, or if the sink found nothing to remove.
 * A failed or superseded removal is ignored, because it removed nothing.
 */
const sentOrRemoved = `t.identity
  or (t.identity is false and (t.state = 'delivered' or (t.state = 'withheld' and t.reason not like 'consent-%')))`;

/**
 * SQL expression for the consent of an item's person: `i` is the item, `a` the attendee's record. Registrants who have
 * not signed in have no attendee record, so their own row is used.
 */
export const consentBehind = `case when i.list = 'attendees' or (i.list = 'registrants' and i.attendee_id is null)
  then i.consent else a.consent end`;

/** The columns of a candidate: `c` is its change, `i` its item, `a` the attendee's record, and `$1` the sink. */
export const candidateColumns = `c.sequence, c.id, c.list, c.key, c.revision, c.kind, c.session_id as "sessionId",
  c.found_at as "foundAt", c.visibility as "foundVisibility",
  case when c.kind = 'deleted' then null else coalesce(c.snapshot, case when i.last_sequence = c.sequence and not i.expired then i.payload end)
    end as payload,
  i.last_sequence = c.sequence as latest, i.visibility as "itemVisibility", i.session_id as "itemSessionId",
  i.origin as "itemOrigin",
  ${consentBehind} as consent,
  ${ofRecordsBefore('t.identity', sentOrRemoved)} as "sentBefore",
  case when i.erased then case when exists (select 1 from erasing e
    where e.sink_id = $1 and e.pigeonhole_number = c.pigeonhole_number and e.list = c.list and e.key = c.key)
      then 'received' else 'not-received' end end as erased`;

export const neverTried = `null::boolean as "sentWithIdentity", 0 as attempts, false as "othersPassedSince",
  false as redriven`;

/** The other columns of a candidate that has no delivery yet and that no replay emits. */
export const withoutDelivery = `${neverTried}, 0 as replay, null::uuid as "replayId", false as repair`;

/** `lateral` with a limit forces one primary-key look-up per row, whatever the table statistics. */
export const candidateJoins = `cross join lateral (select * from items where pigeonhole_number = c.pigeonhole_number
  and list = c.list and key = c.key
    limit 1) i
  left join lateral (select * from items where pigeonhole_number = c.pigeonhole_number and list = 'attendees'
    and key = i.attendee_id::text and payload is not null and i.list <> 'attendees' limit 1) a on true`;

/** An unsettled change of an item blocks its later changes. */
export const blockedByOpen = `exists (select 1 from deliveries d where ${byItem('d', '$1', 'c.pigeonhole_number')}
  and d.list = c.list and d.key = c.key and d.state in ('waiting', 'sending', 'retry'))`;

export interface LaneRange {
  readonly sinkId: number;
  readonly pigeonholeNumber: number;
  readonly lists: readonly string[];
  /** Exclusive lower bound; `newest` is the inclusive upper bound. */
  readonly after: number;
  readonly newest: number;
  /**
   * The newest sequence when the sink was added. Changes up to this sequence are sent only if they are still the last
   * change of an existing item.
   */
  readonly historyUntil: number;
  /** Changes up to `historyUntil` are sent only if they were found at or after this time; null: at any time. */
  readonly historySince: Date | null;
}

/** Maximum number of sequences that one statement reads, including changes of lists that the sink does not receive. */
export const maxSequencesPerRead = 20_000;

/** Changes of a range, by sequence. */
export interface FoundChanges {
  readonly rows: CandidateRow[];
  /** The range has been read up to this sequence. */
  readonly reached: number;
}

/** Returns the next changes after a lane's watermark. */
export async function newChanges(tx: Queryable, range: LaneRange, limit: number): Promise<FoundChanges> {
  const until = Math.min(range.newest, range.after + maxSequencesPerRead);
  const rows = await tx.query<CandidateRow>(
    `select ${candidateColumns}, ${withoutDelivery},
       case when c.previous_sequence is null then false else ${blockedByOpen} end as blocked
     from changes c ${candidateJoins}
     where c.pigeonhole_number = $2 and c.sequence > $3 and c.sequence <= $4 and c.list = any($5::text[])
       and (c.sequence > $6 or (c.sequence = i.last_sequence and i.payload is not null and not i.expired
         and ($7::timestamptz is null or c.found_at >= $7)))
     order by c.sequence limit $8`,
    [
      range.sinkId,
      range.pigeonholeNumber,
      range.after,
      until,
      range.lists,
      range.historyUntil,
      range.historySince,
      limit,
    ],
  );
  return { rows, reached: rows.length < limit ? Math.max(until, range.after) : rows.at(-1)!.sequence };
}

/**
 * Converts rows to candidates. Judges anonymity from the current settings too, because the item's own row may not yet
 * reflect a recent change of these settings.
 */
export async function toCandidates(
  tx: Queryable,
  pigeonholeNumber: number,
  rows: readonly CandidateRow[],
): Promise<Candidate[]> {
  const interactions = rows.map(({ list, key, itemSessionId, itemOrigin }) => ({
    list,
    key,
    sessionId: itemSessionId,
    origin: itemOrigin,
  }));
  const judge = await loadJudge(tx, pigeonholeNumber, interactions);
  return rows.map((row, index) => {
    const now = judgedLists.has(row.list) ? judge(interactions[index]!).visibility : row.itemVisibility;
    const named = row.foundVisibility === 'named' && now === 'named' && row.itemVisibility === 'named';
    const visibility = row.foundVisibility === null ? null : named ? 'named' : 'anonymous';
    return { ...row, ...(row.repair ? heldThere(row) : {}), visibility };
  });
}

/**
 * The facts of a repaired item that the audit has found, although earlier deliveries say otherwise: the destination still
 * holds the item, so a removal is sent again.
 */
function heldThere({ erased }: CandidateRow): Pick<Candidate, 'sentBefore' | 'erased'> {
  return { sentBefore: true, erased: erased === null ? null : 'received' };
}
