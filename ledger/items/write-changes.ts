import { dropContentsOfPeople } from '../attempts.js';
import { storeNextSequence } from '../pigeonholes.js';
import type { DifferingItem } from './compare-items.js';
import type { Queryable } from '../drivers/database.js';
import { withoutIdentity, effective } from '../visibility.js';
import { droppedBy, storedForm, withoutFields } from '../item-form.js';
import type { Ledger } from '../ledger.js';
import { idOfChange } from '../keyed-hash.js';
import { renewEntries } from '../search/entries.js';
import { keepSnapshots, rewriteSnapshots } from './snapshots.js';

/** The list of a pigeonhole that a transaction writes. The transaction holds the lock on the pigeonhole's row. */
export interface PageScope {
  readonly pigeonholeNumber: number;
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

/** An item that is written, with the revision and the sequence that its row gets. */
interface WrittenItem {
  readonly differing: DifferingItem;
  /** Null if the content is unchanged, so that the item gets no change. */
  readonly kind: 'created' | 'updated' | null;
  readonly revision: number;
  readonly sequence: number;
}

/**
 * Writes the items that differ, and a change for each item whose content differs. An item's payload is stored once: a
 * change gets its own snapshot only when the item's payload is about to be replaced (decision 0003). Items whose content
 * is unchanged differ only in their stream, copied texts, visibility, reading rules, or in values that pigeonpost uses
 * for decisions but does not store in the payload (such as a dropped consent field).
 * @param source the response that contains the items; null if there is none. The rows then keep their `seen_at`
 */
export async function writeChanges(
  { ledger, tx, scope }: PageWrite,
  differingItems: readonly DifferingItem[],
  source: Source | null,
): Promise<WrittenChanges> {
  if (differingItems.length === 0) return { created: 0, updated: 0 };
  const items = differingItems.map((each) => toWritten(scope, each));
  const changes = items.filter(({ kind }) => kind !== null);
  // A change that was sent may have to be sent again, byte for byte. This includes changes of items that get no new
  // change because only texts copied from other items differ.
  const replaced = differingItems.filter(
    (each) => each.known?.deleted === false && (isChange(each) || !each.known.sameCopies || each.known.differsByRules),
  );
  const hidden = differingItems.filter(({ known, visibility }) => known !== undefined && visibility === 'anonymous');
  const refusing = differingItems.filter(({ known, item }) => known !== undefined && item.consent === 'refused');
  const underOtherRules = differingItems.filter(hasOtherRules);
  const dropped = new Set(underOtherRules.flatMap(({ rules }) => droppedBy(rules)));
  const seenAt = source?.requestedAt ?? null;
  // No statement needs the result of another, so all are sent together. The store executes them in this order. The
  // changes are sent before the items because they are prepared faster, and the store writes them while the items are
  // prepared.
  await Promise.all([
    keepSnapshots(tx, scope, keysOf(replaced), lastSequencesOf(replaced)),
    insertChanges(tx, scope, changes, source),
    storeItems({ ledger, tx, scope }, items.filter(isNew), { seenAt, conflicts: '' }),
    storeItems(
      { ledger, tx, scope },
      items.filter((each) => !isNew(each)),
      { seenAt, conflicts: replacing },
    ),
    changes.length > 0 && storeNextSequence(tx, scope.pigeonholeNumber, scope.nextSequence),
  ]);
  await rewriteSnapshots(tx, scope, keysOf(hidden), withoutIdentity);
  await dropContentsOfPeople(tx, scope, keysOf(refusing));
  await rewriteSnapshots(tx, scope, keysOf(underOtherRules), (fields) => withoutFields(fields, dropped));
  await renewEntries(
    tx,
    scope.pigeonholeNumber,
    items.flatMap(({ differing, kind, sequence }) =>
      kind === null && hasOtherRules(differing) ? [{ list: scope.list, key: differing.item.key, sequence }] : [],
    ),
  );
  const created = changes.filter(({ kind }) => kind === 'created').length;
  return { created, updated: changes.length - created };
}

function isChange({ known }: DifferingItem): boolean {
  return known === undefined || known.deleted || !known.sameContent;
}

function isNew({ differing: { known } }: WrittenItem): boolean {
  return known === undefined;
}

function hasOtherRules({ known, rules }: DifferingItem): boolean {
  return known !== undefined && known.rules !== rules;
}

function toWritten(scope: PageScope, differing: DifferingItem): WrittenItem {
  const { known } = differing;
  if (known !== undefined && !isChange(differing)) {
    return { differing, kind: null, revision: known.revision, sequence: known.lastSequence };
  }
  const kind = known === undefined || known.deleted ? 'created' : 'updated';
  const sequence = scope.nextSequence;
  scope.nextSequence += 1;
  return { differing, kind, revision: (known?.revision ?? 0) + 1, sequence };
}

async function insertChanges(
  tx: Queryable,
  scope: PageScope,
  changes: readonly WrittenItem[],
  source: Source | null,
): Promise<void> {
  if (changes.length === 0) return;
  await tx.query(
    `insert into changes (pigeonhole_number, list, found_at, request_id, read_as, sequence, id, key, revision, kind,
       session_id, visibility, previous_sequence)
     select $1, $2, clock_timestamp(), $11, $12, n.* from unnest($3::int8[], $4::uuid[], $5::text[], $6::int4[], $7::text[],
       $8::int8[], $9::text[], $10::int8[]) as n`,
    [
      scope.pigeonholeNumber,
      scope.list,
      changes.map(({ sequence }) => sequence),
      changes.map(({ differing: { item, hash }, revision, kind }) =>
        idOfChange(scope, { key: item.key, revision, kind: kind!, hash }),
      ),
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
 * Replaces stored rows. While the table has no statistics, an `update … from` would read the whole list to update a few
 * rows. New items are inserted without it, because PostgreSQL first searches for a conflict of each row (measured: a
 * fifth of the time of the statement).
 */
const replacing = `on conflict (pigeonhole_number, list, key) do update set stream_id = excluded.stream_id,
  seen_at = coalesce($4, items.seen_at), session_id = excluded.session_id, revision = excluded.revision,
  content_hash = excluded.content_hash, copies_hash = excluded.copies_hash, payload = excluded.payload,
  rules = excluded.rules, visibility = excluded.visibility, attendee_id = excluded.attendee_id,
  subject = excluded.subject, says_anonymous = excluded.says_anonymous, consent = excluded.consent,
  last_sequence = excluded.last_sequence, origin = excluded.origin, erased = false, expired = false,
  -- the names of earlier revisions stay, so that an erasure finds them as well
  names = case when excluded.names is null or excluded.names <@ items.names then items.names
    else items.names || excluded.names end`;

/** @param options.conflicts `replacing` for stored items; empty for items that the pigeonhole's lock keeps new */
async function storeItems(
  { ledger, tx, scope }: PageWrite,
  items: readonly WrittenItem[],
  { seenAt, conflicts }: { readonly seenAt: Date | null; readonly conflicts: string },
): Promise<void> {
  if (items.length === 0) return;
  const stored = items.map(({ differing }) => storedForm(ledger, scope, differing));
  await tx.query(
    `insert into items (pigeonhole_number, list, stream_id, seen_at, key, session_id, revision, content_hash,
       copies_hash, payload,
       rules, visibility, attendee_id, subject, says_anonymous, consent, last_sequence, origin, names)
     select $1, $2, $3, coalesce($4, clock_timestamp()), n.key, n.session_id, n.revision, n.content_hash, n.copies_hash, n.payload,
       n.rules, n.visibility, n.attendee_id, n.subject, n.says_anonymous, n.consent, n.last_sequence, n.origin, n.names::bytea[]
     from unnest($5::text[], $6::int8[], $7::int4[],
       $8::bytea[], $9::bytea[], $10::json[], $11::text[], $12::text[], $13::int8[], $14::bytea[], $15::boolean[],
       $16::text[], $17::int8[], $18::bytea[], $19::text[]) as n (key, session_id, revision, content_hash, copies_hash, payload,
       rules, visibility, attendee_id, subject, says_anonymous, consent, last_sequence, origin, names) ${conflicts}`,
    [
      scope.pigeonholeNumber,
      scope.list,
      scope.streamId,
      seenAt,
      items.map(({ differing }) => differing.item.key),
      items.map(({ differing }) => differing.item.sessionId),
      items.map(({ revision }) => revision),
      items.map(({ differing }) => differing.hash),
      items.map(({ differing }) => differing.copiesHash),
      stored.map(({ payload }) => payload),
      items.map(({ differing }) => differing.rules),
      items.map(({ differing }) => differing.visibility),
      stored.map(({ attendeeId }) => attendeeId),
      stored.map(({ subject }) => subject),
      items.map(({ differing }) => differing.item.saysAnonymous),
      items.map(({ differing }) => differing.item.consent),
      items.map(({ sequence }) => sequence),
      items.map(({ differing }) => differing.item.origin ?? null),
      stored.map(({ names }) => names),
    ],
  );
}

function keysOf(differingItems: readonly DifferingItem[]): string[] {
  return differingItems.map(({ item }) => item.key);
}

function lastSequencesOf(stored: readonly DifferingItem[]): number[] {
  return stored.map(({ known }) => known!.lastSequence);
}
