import type { Queryable } from '../../ledger/drivers/database.js';
import { byItem, listSet } from '../../ledger/sql-expressions.js';
import { ownRecords } from '../../ledger/visibility.js';
import { reasonOf } from '../../sinks/all-reasons.js';
import type { Change } from '../../sinks/change.js';
import type { Planned, ReadBack, Sink, Subject } from '../../sinks/sink.js';
import {
  candidateColumns,
  candidateJoins,
  type CandidateRow,
  neverTried,
  type ShownChange,
  toCandidates,
} from '../candidates.js';
import { readSubjects } from '../plan-changes.js';
import type { SubjectsLane } from '../related-items.js';
import type { ExpectedEntry } from './judge-held.js';
import type { EntryName, LaneName, PassPosition } from './parity-store.js';

/** A change that a sink received, and how. */
interface Received {
  readonly sequence: number;
  readonly replay: number;
  readonly identity: boolean;
  readonly configuration: number;
  /** True if the item, its person, its session or its pigeonhole was stored again after the delivery. */
  readonly relatedChanged: boolean;
  /** True if it was delivered so recently that the destination may not show it yet. */
  readonly isRecent: boolean;
}

/** An entry of a slice. */
interface SliceEntry extends EntryName {
  readonly revision: number;
  /** Not compared now: a delivery or a repair of the item is not settled. */
  readonly isOpen: boolean;
  /** The change that the sink received last; null: it received none. */
  readonly received: Received | null;
  /** In a log: the revision must not be there, because the person was erased. */
  readonly isErased: boolean;
  /** The removal of the person's data became a dead letter: compared only if an operator has to remove it by hand. */
  readonly isDead: boolean;
}

/** The next entries of a pass. */
export interface Slice {
  readonly entries: readonly SliceEntry[];
  /** The position after each entry. */
  readonly positions: readonly PassPosition[];
  /** True if nothing follows. */
  readonly isLast: boolean;
}

interface SliceScope extends LaneName {
  /** Whether the plans of the sink need other items than the change. */
  readonly needsContext: boolean;
  readonly lists: readonly string[];
  readonly limit: number;
}

interface ReceivedRow extends EntryName {
  readonly revision: number;
  readonly isOpen: boolean;
  readonly isErased: boolean;
  readonly isDead: boolean;
  readonly sequence: number | null;
  readonly replay: number | null;
  readonly identity: boolean | null;
  readonly configuration: number | null;
  readonly relatedChanged: boolean | null;
  readonly isRecent: boolean | null;
}

/**
 * SQL expression: delivery `d` is so recent that the destination may still show an earlier state. Indexes for searches,
 * read replicas and records of learning are behind by seconds to minutes.
 */
const isRecent = `(d.state = 'delivered' and d.updated_at > now() - interval '5 minutes')`;

/** SQL condition: item `i` of lane $1, $2 has a delivery in one of these states. */
function hasDelivery(states: string): string {
  return `exists (select 1 from deliveries o where ${byItem('o', '$1', '$2')} and o.list = i.list and o.key = i.key
    and o.state in (${states}))`;
}

const inProgress = `'waiting', 'sending', 'retry'`;

/** SQL condition: delivery `d` of item `i` removes a person's own record, because the person withdrew consent. */
function isWithdrawal(d: string): string {
  return `(i.list in ${listSet(ownRecords)} and i.payload is not null and ${d}.identity is false and ${d}.reason not like 'consent-%')`;
}

/**
 * SQL condition: the removal of item `i`, whose person was erased or withdrew consent, became a dead letter. What the
 * destination should hold is known all the same.
 */
const isDead = `(i.erased and ${hasDelivery(`'dead'`)} or exists (select 1 from deliveries o where ${byItem('o', '$1', '$2')}
    and o.list = i.list and o.key = i.key and o.state = 'dead' and o.sequence = i.last_sequence and ${isWithdrawal('o')}))`;

/** SQL condition: an audit does not compare item `i` of lane $1, $2 now, because its state at the destination may change. */
function isOpen(states: string): string {
  return `(${hasDelivery(states)}
  or exists (select 1 from erasing e where e.sink_id = $1 and e.pigeonhole_number = $2 and e.list = i.list and e.key = i.key)
  or exists (select 1 from parity_findings f where f.sink_id = $1 and f.pigeonhole_number = $2 and f.list = i.list
    and f.key = i.key and f.repair is not null))`;
}

/** SQL condition: a sink that receives only the latest revision is not asked about item `i` now. */
const isItemOpen = `(${hasDelivery(inProgress)} or (not ${isDead} and ${isOpen(`'dead'`)}))`;

/** SQL condition: a log is not asked about a revision of item `i` now. */
const isRevisionOpen = isOpen(`${inProgress}, 'dead'`);

/**
 * Returns an SQL expression: data that a plan uses was stored again after delivery `d` of item `i`, without a change of the
 * item, such as copied texts. For a sink whose plans need other items, also those.
 */
function relatedChanged(needsContext: boolean): string {
  if (!needsContext) return 'i.seen_at > d.updated_at';
  return `greatest(i.seen_at,
    (select a.seen_at from items a where a.pigeonhole_number = $2 and a.list = 'attendees' and a.key = i.attendee_id::text),
    (select s.seen_at from items s where s.pigeonhole_number = $2 and s.list = 'sessions' and s.key = i.session_id::text),
    (select w.seen_at from pigeonholes g join pigeonholes r on r.workspace = g.workspace and r.pigeonhole_id = 0
       join items w on w.pigeonhole_number = r.pigeonhole_number and w.list = 'pigeonholes' and w.key = g.pigeonhole_id::text
     where g.pigeonhole_number = $2)) > d.updated_at`;
}

/**
 * SQL query for the last change of item `i` that the sink received: goes back from the item's last change. A removal counts
 * as received if the sink had nothing to do, or leaves it to an operator.
 */
const lastReceived = `with recursive past (sequence, previous, received) as (
    select c.sequence, c.previous_sequence, d.sequence is not null
    from (select * from changes where pigeonhole_number = $2 and sequence = i.last_sequence limit 1) c
      left join lateral (select sequence from deliveries where sink_id = $1 and pigeonhole_number = $2
        and sequence = c.sequence and (state = 'delivered' or (state = 'withheld' and identity is false and i.payload is null)
          or (state in ('withheld', 'dead') and ${isWithdrawal('deliveries')}))
        limit 1) d on true
    union all
    select c.sequence, c.previous_sequence, d.sequence is not null
    from past p
      cross join lateral (select * from changes where pigeonhole_number = $2 and sequence = p.previous limit 1) c
      left join lateral (select sequence from deliveries where sink_id = $1 and pigeonhole_number = $2
        and sequence = c.sequence and state = 'delivered' limit 1) d on true
    where not p.received)
  select sequence from past where received`;

/** SQL query for the delivery of change `p.sequence` that counts: the last replay of it that was delivered, or the last one. */
const lastDelivery = `select replay, identity, configuration, updated_at, state from deliveries where sink_id = $1
  and pigeonhole_number = $2 and sequence = p.sequence and state in ('delivered', 'withheld', 'dead')
  order by state = 'delivered' desc, replay desc limit 1`;

/** @param open SQL condition: the item is not compared now */
function itemColumns(open: string, needsContext: boolean): string {
  return `i.list, i.key, 0 as entry, i.revision, ${open} or i.last_sequence > l.watermark as "isOpen",
    false as "isErased", ${isDead} as "isDead", p.sequence, d.replay, d.identity, d.configuration,
    ${relatedChanged(needsContext)} as "relatedChanged", ${isRecent} as "isRecent"`;
}

const itemJoins = `cross join lateral (select watermark from lanes where sink_id = $1 and pigeonhole_number = $2 limit 1) l
  left join lateral (${lastReceived}) p on true
  left join lateral (${lastDelivery}) d on true`;

/** Returns the next items of a sink that receives only the latest revision, by list and key. */
export async function nextItems(tx: Queryable, scope: SliceScope, after: PassPosition): Promise<Slice> {
  const { sinkId, pigeonholeNumber, needsContext, lists, limit } = scope;
  const rows = await tx.query<ReceivedRow>(
    `select ${itemColumns(isItemOpen, needsContext)}
     from (select * from items where pigeonhole_number = $2 and list = any($3::text[])
         and ($4::text is null or (list, key) > ($4, $5)) order by list, key limit $6) i
       ${itemJoins}
     order by i.list, i.key`,
    [sinkId, pigeonholeNumber, lists, after.list, after.key, limit],
  );
  return {
    entries: rows.map(toEntry),
    positions: rows.map(({ list, key }) => ({ stage: 'items', list, key, sequence: 0 })),
    isLast: rows.length < limit,
  };
}

/** @param open SQL condition: the revision is not compared now */
function revisionColumns(open: string, needsContext: boolean): string {
  return `i.list, i.key, d.sequence as entry, c.revision, ${open} as "isOpen",
    i.erased and c.sequence < i.last_sequence as "isErased", false as "isDead", d.sequence, d.replay, d.identity, d.configuration,
    i.last_sequence = c.sequence and ${relatedChanged(needsContext)} as "relatedChanged", ${isRecent} as "isRecent"`;
}

const revisionJoins = `cross join lateral (select * from changes where pigeonhole_number = $2 and sequence = d.sequence limit 1) c
  cross join lateral (select * from items where pigeonhole_number = $2 and list = d.list and key = d.key limit 1) i`;

/** Returns the next revisions that a log received, by sequence. A replay of a revision counts for it. */
export async function nextRevisions(tx: Queryable, scope: SliceScope, after: PassPosition): Promise<Slice> {
  const { sinkId, pigeonholeNumber, needsContext, lists, limit } = scope;
  const rows = await tx.query<ReceivedRow>(
    `select ${revisionColumns(isRevisionOpen, needsContext)}
     from (select distinct on (sequence) * from deliveries where sink_id = $1 and pigeonhole_number = $2 and sequence > $4
         and state = 'delivered' and list = any($3::text[]) order by sequence, replay desc limit $5) d
       ${revisionJoins}
     order by d.sequence`,
    [sinkId, pigeonholeNumber, lists, after.sequence, limit],
  );
  return {
    entries: rows.map(toEntry),
    positions: rows.map(({ entry }) => ({ stage: 'items', list: null, key: null, sequence: entry })),
    isLast: rows.length < limit,
  };
}

/** Returns these entries as a slice returns them, in their order; an entry that is no longer stored is left out. */
export async function theseEntries(
  tx: Queryable,
  { sinkId, pigeonholeNumber, traits }: Pick<AuditedLane, 'sinkId' | 'pigeonholeNumber' | 'traits'>,
  names: readonly EntryName[],
): Promise<SliceEntry[]> {
  const { needsContext, revisions } = traits;
  const rows = await tx.query<ReceivedRow>(
    revisions === 'every'
      ? `select ${revisionColumns('false', needsContext)} from unnest($3::text[], $4::text[], $5::int8[]) with ordinality as n (list, key, entry, n)
         cross join lateral (select * from deliveries where sink_id = $1 and pigeonhole_number = $2 and sequence = n.entry
           and state = 'delivered' order by replay desc limit 1) d
         ${revisionJoins} order by n.n`
      : `select ${itemColumns('false', needsContext)}
         from unnest($3::text[], $4::text[], $5::int8[]) with ordinality as n (list, key, entry, n)
           cross join lateral (select * from items where pigeonhole_number = $2 and list = n.list and key = n.key limit 1) i
           ${itemJoins} order by n.n`,
    [
      sinkId,
      pigeonholeNumber,
      names.map(({ list }) => list),
      names.map(({ key }) => key),
      names.map(({ entry }) => entry),
    ],
  );
  return rows.map(toEntry);
}

function toEntry(row: ReceivedRow): SliceEntry {
  const { list, key, entry, revision, isOpen: open, isErased, isDead: dead } = row;
  const received =
    row.sequence === null || row.replay === null
      ? null
      : {
          sequence: row.sequence,
          replay: row.replay,
          identity: row.identity === true,
          configuration: row.configuration!,
          relatedChanged: row.relatedChanged === true,
          isRecent: row.isRecent === true,
        };
  return { list, key, entry, revision, isOpen: open, isErased, isDead: dead, received };
}

/** Reads these changes as the sink received them, in the order of `received`. */
async function readReceived(
  tx: Queryable,
  { sinkId, pigeonholeNumber }: LaneName,
  received: readonly Pick<Received, 'sequence' | 'replay' | 'identity'>[],
): Promise<ShownChange[]> {
  if (received.length === 0) return [];
  const rows = await tx.query<CandidateRow>(
    `select ${candidateColumns}, ${neverTried}, n.replay, r.id as "replayId", true as repair, false as blocked
     from unnest($3::int8[], $4::int4[]) with ordinality as n (sequence, replay, n)
       cross join lateral (select * from changes where pigeonhole_number = $2 and sequence = n.sequence limit 1) c
       ${candidateJoins}
       left join lateral (select id from replays where number = n.replay limit 1) r on true
     order by n.n`,
    [sinkId, pigeonholeNumber, received.map(({ sequence }) => sequence), received.map(({ replay }) => replay)],
  );
  const candidates = await toCandidates(tx, pigeonholeNumber, rows);
  return candidates.map((candidate, index) => ({ ...candidate, identity: received[index]!.identity }));
}

/** An entry that can be compared, with the change that the sink received. */
export interface ComparableEntry extends ExpectedEntry {
  readonly received: Received;
}

/** The sink of a lane that is audited. */
export interface AuditedLane extends SubjectsLane {
  readonly sink: Sink;
}

/**
 * Returns what the destination should hold of these entries, in their order; null for an entry that says nothing about the
 * destination, because the sink received nothing of it or its plan leaves it alone.
 */
export async function expectEntries(
  tx: Queryable,
  lane: AuditedLane,
  entries: readonly SliceEntry[],
): Promise<(ComparableEntry | null)[]> {
  const known = entries.filter(({ received }) => received !== null);
  const changes = await readReceived(
    tx,
    lane,
    known.map(({ received }) => received!),
  );
  const subjects = await readSubjects(tx, lane, changes);
  const isLog = lane.traits.revisions === 'every';
  const isPlanned = known.map((entry, index) => !isLog || contentOf(entry, changes[index]!) === 'content');
  const plans = await lane.sink.plan(subjects.filter((_, index) => isPlanned[index]));
  const byEntry = new Map<SliceEntry, ComparableEntry | null>();
  for (const [index, entry] of known.entries()) {
    const plan = isPlanned[index] ? plans.shift()! : null;
    const parts = { entry, shown: changes[index]!, subject: subjects[index]!, plan };
    byEntry.set(entry, isLog ? expectRevision(parts) : expectItem(parts));
  }
  return entries.map((entry) => byEntry.get(entry) ?? null);
}

interface EntryParts {
  readonly entry: SliceEntry;
  readonly shown: ShownChange;
  readonly subject: Subject;
  readonly plan: Planned | null;
}

/**
 * What can be said about a revision in a log: its content, only that it must be there, or that it must not. The content
 * that was sent is not known if the ledger has dropped it, or has changed it since: the identity of a person who is anonymous
 * now, or copied texts.
 */
function contentOf({ isErased, received }: SliceEntry, shown: ShownChange): ReadBack['expected'] {
  if (isErased) return 'absence';
  if (shown.kind === 'deleted') return 'content';
  const isHiddenNow = received!.identity && shown.visibility === 'anonymous';
  return shown.payload === null || isHiddenNow || received!.relatedChanged ? 'presence' : 'content';
}

function expectRevision({ entry, shown, subject, plan }: EntryParts): ComparableEntry | null {
  const content = contentOf(entry, shown);
  if (content === 'content' && plan?.kind !== 'send') return null;
  const operation = plan?.kind === 'send' ? plan.operation : null;
  const canSend = shown.payload !== null || shown.kind === 'deleted';
  return expected(entry, { shown, subject }, { expected: content, operation }, canSend);
}

function expectItem({ entry, shown, subject, plan }: EntryParts): ComparableEntry | null {
  if (shown.payload === null && subject.removal === null) return null;
  if (entry.received!.identity && shown.visibility === 'anonymous') return null;
  const kind = subject.removal === null ? 'content' : 'absence';
  if (plan!.kind === 'send') {
    if (entry.isDead) return null;
    return expected(entry, { shown, subject }, { expected: kind, operation: plan!.operation }, true);
  }
  const isByHand =
    plan!.kind === 'unplannable' || (plan!.kind === 'nothing' && reasonOf(plan!.reason)?.help !== undefined);
  if (kind === 'content' || subject.object === null || !isByHand) return null;
  return expected(entry, { shown, subject }, { expected: kind, operation: null }, false);
}

function expected(
  { received, ...entry }: SliceEntry,
  { subject }: Pick<EntryParts, 'shown' | 'subject'>,
  wanted: Pick<ReadBack, 'expected' | 'operation'>,
  canSend: boolean,
): ComparableEntry {
  const { data: _, ...change } = subject.change as Change;
  const { object, removal } = subject;
  return { ...entry, received: received!, canSend, wanted: { ...wanted, change, object, removal } };
}

/** Maximum number of earlier revisions with which an item that differs is compared. */
const maxEarlier = 5;

/**
 * Returns the operations of earlier revisions of an item, newest first, as the sink would send them now. Revisions whose
 * content the ledger no longer has are left out.
 */
export async function earlierOperations(tx: Queryable, lane: AuditedLane, { received }: ComparableEntry) {
  const rows = await tx.query<{ sequence: number }>(
    `with recursive past (sequence, previous, depth) as (
       select null::int8, c.previous_sequence, 0 from changes c where c.pigeonhole_number = $1 and c.sequence = $2
       union all
       select c.sequence, c.previous_sequence, p.depth + 1 from past p
         cross join lateral (select * from changes where pigeonhole_number = $1 and sequence = p.previous limit 1) c
       where p.depth < ${maxEarlier})
     select sequence from past where sequence is not null order by sequence desc`,
    [lane.pigeonholeNumber, received.sequence],
  );
  const shown = await readReceived(
    tx,
    lane,
    rows.map(({ sequence }) => ({ sequence, replay: 0, identity: received.identity })),
  );
  const withContent = shown.filter(({ payload }) => payload !== null);
  const plans = await lane.sink.plan(await readSubjects(tx, lane, withContent));
  return plans.flatMap((plan) => (plan.kind === 'send' ? [plan.operation] : []));
}
