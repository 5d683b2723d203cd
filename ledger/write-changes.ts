import type { Queryable } from './drivers/database.js';
import type { SqlValue } from './drivers/sql-values.js';
import { withoutIdentity } from './identity.js';
import type { Ledger } from './ledger.js';
import { droppedBy, withoutFields, storedForm, type Fields } from './item-form.js';
import { effective } from './visibility.js';
import { idOfChange, encodeNewItems, insertNewItems } from './new-items.js';
import type { DifferingItem } from './compare-items.js';
import { canonicalJson } from './canonical-json.js';

/** The list of a pigeonhole that a transaction writes. The transaction holds the lock on the pigeonhole's row. */
export interface PageScope {
  readonly ref: number;
  readonly workspace: string;
  readonly pigeonholeId: number;
  readonly list: string;
  readonly streamId: number;
  /** The next sequence number to assign. Increases with each change that the transaction writes. */
  nextSequence: number;
  /**
   * True if people were forgotten in this workspace or pigeonhole; their items are then not stored. Absent if the items
   * were not read from the service.
   */
  readonly hasForgottenPeople?: boolean;
}

/** A page that is being written, and the transaction that holds the lock on its pigeonhole. */
export interface PageWrite {
  readonly ledger: Ledger;
  readonly tx: Queryable;
  readonly scope: PageScope;
}

/** A response from the service. */
export interface Source {
  /** Instant of the request. */
  readonly requestedAt: Date;
  readonly requestId: string | null;
  /** The read that found the item, as `pigeonpost why` shows it, e.g. `sweep, page 4` or `filtered answer`. */
  readonly readAs: string;
}

/** The number of changes written. */
export interface WrittenChanges {
  readonly created: number;
  readonly updated: number;
}

interface Change {
  readonly differing: DifferingItem;
  readonly kind: 'created' | 'updated';
  readonly revision: number;
  readonly sequence: number;
  readonly id: string;
}

/**
 * Writes the items that differ, and a change for each item whose content differs. An item's payload is stored once: a
 * change gets its own snapshot only when the item's payload is about to be replaced (decision 0003).
 * @param source the response that contains the items; null if there is none. The rows then keep their `seen_at`
 */
export async function writeChanges(
  page: PageWrite,
  differingItems: readonly DifferingItem[],
  source: Source | null,
): Promise<WrittenChanges> {
  const { ledger, tx, scope } = page;
  if (isAllNew(differingItems)) {
    const [first] = differingItems;
    if (first !== undefined) {
      await insertNewItems(tx, scope, encodeNewItems(ledger, scope, differingItems, first.rules), source);
    }
    return { created: differingItems.length, updated: 0 };
  }
  const seenAt = source?.requestedAt ?? null;
  const changes = differingItems.filter(isChange).map((each) => toChange(scope, each));
  const sameContent = differingItems.filter((each) => !isChange(each));
  const hidden = differingItems.filter(({ known, visibility }) => known !== undefined && visibility === 'anonymous');
  const underOtherRules = differingItems.filter(hasOtherRules);
  if (sameContent.length > 0) {
    await keepSnapshots(
      tx,
      scope,
      sameContent.filter((each) => each.known?.sameCopies === false || hasOtherRules(each)),
    );
    await updateWithoutChange(page, sameContent, seenAt);
  }
  if (changes.length > 0) {
    // No statement needs the result of another, so all are sent together. The store executes them in this order. The
    // changes are sent before the items because they are prepared faster, and the store writes them while the items
    // are prepared.
    await Promise.all([
      keepSnapshots(
        tx,
        scope,
        changes.map((change) => change.differing),
      ),
      insertChanges(tx, scope, changes, source),
      storeItems(page, changes, seenAt),
      tx.query('update pigeonholes set next_sequence = $2 where ref = $1', [scope.ref, scope.nextSequence]),
    ]);
  }
  if (hidden.length > 0) await rewriteSnapshots(tx, scope, keysOf(hidden), withoutIdentity);
  if (underOtherRules.length > 0) {
    const dropped = new Set(underOtherRules.flatMap(({ rules }) => droppedBy(rules)));
    await rewriteSnapshots(tx, scope, keysOf(underOtherRules), (fields) => withoutFields(fields, dropped));
  }
  const created = changes.filter(({ kind }) => kind === 'created').length;
  return { created, updated: changes.length - created };
}

/** Whether all items are new and were read under the same rules, so that there is no stored row to read or snapshot. */
export function isAllNew(differingItems: readonly DifferingItem[]): boolean {
  return differingItems.every(({ known, rules }) => known === undefined && rules === differingItems[0]!.rules);
}

function isChange({ known }: DifferingItem): boolean {
  return known === undefined || known.deleted || !known.sameContent;
}

function hasOtherRules({ known, rules }: DifferingItem): boolean {
  return known !== undefined && known.rules !== rules;
}

function toChange(scope: PageScope, differing: DifferingItem): Change {
  const kind = differing.known === undefined || differing.known.deleted ? 'created' : 'updated';
  const revision = (differing.known?.revision ?? 0) + 1;
  const sequence = scope.nextSequence;
  scope.nextSequence += 1;
  const id = idOfChange(scope, { key: differing.item.key, revision, kind, hash: differing.hash });
  return { differing, kind, revision, sequence, id };
}

/**
 * For each row of `n (key, sequence)`: copies the payload of the item with this key in list `$2` into the change with
 * this sequence, as its snapshot. Looks each change up by primary key and upserts it, because for `update … from` the
 * planner may read all changes of the pigeonhole (decision 0038).
 */
export const keepSnapshotSql = `insert into changes (ref, sequence, id, list, key, revision, kind, found_at, snapshot)
  select c.ref, c.sequence, c.id, c.list, c.key, c.revision, c.kind, c.found_at, i.payload
  from unnest($3::text[], $4::int8[]) as n (key, sequence)
    cross join lateral (select case when expired then null else payload end as payload from items
      where ref = $1 and list = $2 and key = n.key limit 1) i
    cross join lateral (select * from changes where ref = $1 and sequence = n.sequence limit 1) c
  where c.kind <> 'deleted' and c.snapshot is null
  on conflict (ref, sequence) do update set snapshot = excluded.snapshot`;

/**
 * Copies an item's payload into its last change before the payload is replaced, because a change that was sent may have
 * to be sent again, byte for byte. This includes items that get no new change because only texts copied from other
 * items differ.
 */
async function keepSnapshots(tx: Queryable, scope: PageScope, differingItems: readonly DifferingItem[]): Promise<void> {
  const replaced = differingItems.filter(({ known }) => known !== undefined && !known.deleted);
  if (replaced.length === 0) return;
  await tx.query(keepSnapshotSql, [
    scope.ref,
    scope.list,
    keysOf(replaced),
    replaced.map(({ known }) => known!.lastSequence),
  ]);
}

/**
 * Upserts items. While the table has no statistics, an `update … from` would read the whole list to update a few rows.
 */
const upsertItems = `insert into items (ref, list, stream_id, seen_at, key, session_id, revision, content_hash,
    copies_hash, payload, rules, visibility, attendee_id, subject, says_anonymous, consent, last_sequence)
  select $1, $2, $3, coalesce($4, clock_timestamp()), n.* from unnest($5::text[], $6::int8[], $7::int4[], $8::bytea[],
    $9::bytea[], $10::json[], $11::text[], $12::text[], $13::int8[], $14::bytea[], $15::boolean[], $16::text[],
    $17::int8[]) as n
  on conflict (ref, list, key) do update set stream_id = excluded.stream_id, seen_at = coalesce($4, items.seen_at),
    session_id = excluded.session_id, revision = excluded.revision, content_hash = excluded.content_hash,
    copies_hash = excluded.copies_hash, payload = excluded.payload, rules = excluded.rules,
    visibility = excluded.visibility, attendee_id = excluded.attendee_id, subject = excluded.subject,
    says_anonymous = excluded.says_anonymous, consent = excluded.consent, last_sequence = excluded.last_sequence,
    erased = false, expired = false`;

async function storeItems(
  { ledger, tx, scope }: PageWrite,
  changes: readonly Change[],
  seenAt: Date | null,
): Promise<void> {
  const columns = changedColumns(ledger, scope, changes);
  await tx.query(upsertItems, [scope.ref, scope.list, scope.streamId, seenAt, ...columns]);
}

function changedColumns(ledger: Ledger, scope: PageScope, changes: readonly Change[]): (readonly SqlValue[])[] {
  const stored = changes.map(({ differing }) => storedForm(ledger, scope, differing));
  return [
    changes.map(({ differing }) => differing.item.key),
    changes.map(({ differing }) => differing.item.sessionId),
    changes.map(({ revision }) => revision),
    changes.map(({ differing }) => differing.hash),
    changes.map(({ differing }) => differing.copiesHash),
    stored.map(({ payload }) => payload),
    changes.map(({ differing }) => differing.rules),
    changes.map(({ differing }) => differing.visibility),
    stored.map(({ attendeeId }) => attendeeId),
    stored.map(({ subject }) => subject),
    changes.map(({ differing }) => differing.item.saysAnonymous),
    changes.map(({ differing }) => differing.item.consent),
    changes.map(({ sequence }) => sequence),
  ];
}

async function insertChanges(
  tx: Queryable,
  scope: PageScope,
  changes: readonly Change[],
  source: Source | null,
): Promise<void> {
  await tx.query(
    `insert into changes (ref, list, found_at, request_id, read_as, sequence, id, key, revision, kind, session_id, visibility, previous_sequence)
     select $1, $2, clock_timestamp(), $11, $12, n.* from unnest($3::int8[], $4::uuid[], $5::text[], $6::int4[], $7::text[],
       $8::int8[], $9::text[], $10::int8[]) as n`,
    [
      scope.ref,
      scope.list,
      changes.map(({ sequence }) => sequence),
      changes.map(({ id }) => id),
      changes.map(({ differing }) => differing.item.key),
      changes.map(({ revision }) => revision),
      changes.map(({ kind }) => kind),
      changes.map(({ differing }) => differing.item.sessionId),
      changes.map(({ differing }) => (differing.visibility === null ? null : effective(differing.visibility))),
      changes.map(({ differing }) => differing.known?.lastSequence ?? null),
      source?.requestId ?? null,
      source?.readAs ?? null,
    ],
  );
}

/**
 * Updates rows whose content is unchanged, and writes no change for them. They differ only in their stream, copied
 * texts, visibility, reading rules, or in values that pigeonpost uses for decisions but does not store in the payload
 * (such as a dropped consent field).
 */
async function updateWithoutChange(
  { ledger, tx, scope }: PageWrite,
  differingItems: readonly DifferingItem[],
  seenAt: Date | null,
): Promise<void> {
  const rows = differingItems.map((each) => ({ ...each, stored: storedForm(ledger, scope, each) }));
  await tx.query(
    `insert into items (ref, list, key, session_id, revision, last_sequence, seen_at, stream_id, content_hash,
       copies_hash, payload, rules, visibility, attendee_id, subject, says_anonymous, consent)
     select $1, $2, n.key, i.session_id, i.revision, i.last_sequence, coalesce($3, i.seen_at),
       case when $14 = 0 then i.stream_id else $14 end, n.content_hash, n.copies_hash, n.payload, n.rules,
       n.visibility, n.attendee_id, n.subject, n.says_anonymous, n.consent
     from unnest($4::text[], $5::bytea[], $6::bytea[], $7::json[], $8::text[], $9::text[], $10::int8[], $11::bytea[],
       $12::boolean[], $13::text[]) as n (key, content_hash, copies_hash, payload, rules, visibility, attendee_id,
       subject, says_anonymous, consent)
       cross join lateral (select session_id, revision, last_sequence, seen_at, stream_id from items
         where ref = $1 and list = $2 and key = n.key limit 1) i
     on conflict (ref, list, key) do update set seen_at = excluded.seen_at, content_hash = excluded.content_hash,
       copies_hash = excluded.copies_hash, payload = excluded.payload, rules = excluded.rules,
       visibility = excluded.visibility, attendee_id = excluded.attendee_id, subject = excluded.subject,
       says_anonymous = excluded.says_anonymous, consent = excluded.consent, expired = false,
       stream_id = excluded.stream_id`,
    [
      scope.ref,
      scope.list,
      seenAt,
      rows.map(({ item }) => item.key),
      rows.map(({ hash }) => hash),
      rows.map(({ copiesHash }) => copiesHash),
      rows.map(({ stored }) => stored.payload),
      rows.map(({ rules }) => rules),
      rows.map(({ visibility }) => visibility),
      rows.map(({ stored }) => stored.attendeeId),
      rows.map(({ stored }) => stored.subject),
      rows.map(({ item }) => item.saysAnonymous),
      rows.map(({ item }) => item.consent),
      scope.streamId,
    ],
  );
}

function keysOf(differingItems: readonly DifferingItem[]): string[] {
  return differingItems.map(({ item }) => item.key);
}

/**
 * Rewrites the snapshots of earlier revisions without the data that must no longer be stored: the person's identity if
 * the item is now anonymous, and fields that are now dropped. The ids of the changes do not change.
 */
export async function rewriteSnapshots(
  tx: Queryable,
  where: { ref: number; list: string },
  keys: readonly string[],
  rewrite: (fields: Fields) => Fields,
): Promise<void> {
  const rows = await tx.query<{ sequence: number; snapshot: string }>(
    `select c.sequence, c.snapshot from unnest($3::text[]) as n (key) cross join lateral (select sequence, snapshot
       from changes where ref = $1 and list = $2 and key = n.key and snapshot is not null offset 0) c`,
    [where.ref, where.list, keys],
  );
  if (rows.length === 0) return;
  await tx.query(
    `insert into changes (ref, sequence, id, list, key, revision, kind, found_at, snapshot)
     select c.ref, c.sequence, c.id, c.list, c.key, c.revision, c.kind, c.found_at, n.snapshot
     from unnest($2::int8[], $3::json[]) as n (sequence, snapshot)
       cross join lateral (select * from changes where ref = $1 and sequence = n.sequence limit 1) c
     on conflict (ref, sequence) do update set snapshot = excluded.snapshot`,
    [
      where.ref,
      rows.map(({ sequence }) => sequence),
      rows.map(({ snapshot }) => canonicalJson(rewrite(JSON.parse(snapshot) as Fields))),
    ],
  );
}
