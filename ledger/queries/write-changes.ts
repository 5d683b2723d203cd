import type { Queryable } from '../drivers/database.js';
import { itemForm } from '../item-form.js';
import { changeId } from '../keyed-hash.js';
import type { Ledger } from '../ledger.js';
import { effective } from '../visibility.js';
import type { PlacedItem } from './place-items.js';
import { scrubSnapshots } from './scrub-snapshots.js';

/** The page, or the part of the ledger, that is being written; the pigeonhole's row is locked. */
export interface PageScope {
  readonly ref: number;
  readonly workspace: string;
  readonly pigeonholeId: number;
  readonly list: string;
  readonly streamId: number;
  /** Rises as sequences are given within the transaction. */
  nextSequence: number;
}

export interface Change {
  readonly placed: PlacedItem;
  readonly kind: 'created' | 'updated';
  readonly revision: number;
  readonly sequence: number;
  readonly id: string;
}

/**
 * Writes the items that differ, and a change for each whose content does. An item's payload is stored once: a change
 * gets a snapshot of its own only when a later one takes its place (decision 0003).
 * @param seenAt instant of the page's request; null when no page was read and the rows keep theirs
 */
export async function writeChanges(
  ledger: Ledger,
  tx: Queryable,
  scope: PageScope,
  placed: readonly PlacedItem[],
  seenAt: Date | null,
): Promise<{ changes: Change[] }> {
  const changes = placed.filter(isChange).map((each) => numberChange(scope, each));
  const sameContent = placed.filter((each) => !isChange(each));
  const hidden = placed.filter(({ known, visibility }) => known !== undefined && visibility === 'anonymous');
  if (sameContent.length > 0) await followCopies(ledger, tx, scope, sameContent);
  if (changes.length > 0) {
    await keepSnapshots(tx, scope, changes);
    await upsertItems(ledger, tx, scope, changes, seenAt);
    await insertChanges(tx, scope, changes);
    await tx.query('update pigeonholes set next_sequence = $2 where ref = $1', [scope.ref, scope.nextSequence]);
  }
  if (hidden.length > 0) await scrubSnapshots(tx, scope, hidden.map(({ item }) => item.key));
  return { changes };
}

function isChange({ known }: PlacedItem): boolean {
  return known === undefined || known.deleted || !known.sameContent;
}

function numberChange(scope: PageScope, placed: PlacedItem): Change {
  const kind = placed.known === undefined || placed.known.deleted ? 'created' : 'updated';
  const revision = (placed.known?.revision ?? 0) + 1;
  const sequence = scope.nextSequence;
  scope.nextSequence += 1;
  const { key } = placed.item;
  const parts = [scope.workspace, scope.pigeonholeId, scope.list, key, revision, kind, placed.hash.toString('hex')];
  return { placed, kind, revision, sequence, id: changeId(parts.join('\n')) };
}

/** Before an item's payload is replaced: the change it belongs to takes it over. */
async function keepSnapshots(tx: Queryable, scope: PageScope, changes: readonly Change[]): Promise<void> {
  const replaced = changes.filter(({ placed }) => placed.known !== undefined && !placed.known.deleted);
  if (replaced.length === 0) return;
  await tx.query(
    `update changes c set snapshot = i.payload from items i
     where i.ref = $1 and i.list = $2 and i.key = any($3::text[])
       and c.ref = i.ref and c.sequence = i.last_sequence and c.kind <> 'deleted'`,
    [scope.ref, scope.list, replaced.map(({ placed }) => placed.item.key)],
  );
}

async function upsertItems(
  ledger: Ledger,
  tx: Queryable,
  scope: PageScope,
  changes: readonly Change[],
  seenAt: Date | null,
): Promise<void> {
  const rows = changes.map((change) => ({ ...change, stored: storedForm(ledger, scope, change.placed) }));
  await tx.query(
    `insert into items (ref, list, stream_id, seen_at, key, session_id, revision, content_hash, copies_hash, payload,
       visibility, attendee_id, subject, says_anonymous, consent, last_sequence)
     select $1, $2, $3, coalesce($4, clock_timestamp()), n.* from unnest($5::text[], $6::int8[], $7::int4[], $8::bytea[], $9::bytea[], $10::json[],
       $11::text[], $12::int8[], $13::bytea[], $14::boolean[], $15::text[], $16::int8[]) as n
     on conflict (ref, list, key) do update set stream_id = excluded.stream_id, seen_at = coalesce($4, items.seen_at),
       session_id = excluded.session_id, revision = excluded.revision, content_hash = excluded.content_hash,
       copies_hash = excluded.copies_hash, payload = excluded.payload, visibility = excluded.visibility,
       attendee_id = excluded.attendee_id, subject = excluded.subject, says_anonymous = excluded.says_anonymous,
       consent = excluded.consent, last_sequence = excluded.last_sequence`,
    [
      scope.ref,
      scope.list,
      scope.streamId,
      seenAt,
      rows.map(({ placed }) => placed.item.key),
      rows.map(({ placed }) => placed.item.sessionId),
      rows.map(({ revision }) => revision),
      rows.map(({ placed }) => placed.hash),
      rows.map(({ placed }) => placed.copiesHash),
      rows.map(({ stored }) => stored.payload),
      rows.map(({ placed }) => placed.visibility),
      rows.map(({ stored }) => stored.attendeeId),
      rows.map(({ stored }) => stored.subject),
      rows.map(({ placed }) => placed.item.saysAnonymous),
      rows.map(({ placed }) => placed.item.consent),
      rows.map(({ sequence }) => sequence),
    ],
  );
}

interface StoredForm {
  readonly payload: string;
  readonly attendeeId: number | null;
  readonly subject: Buffer | null;
}

/**
 * What of a person stands in the row. Anonymous: nothing but a subject that joins with nothing. Not yet known: the
 * whole item, since it may still become named without being read again; sending leaves the person out until then.
 */
function storedForm(ledger: Ledger, scope: PageScope, { item, visibility, form }: PlacedItem): StoredForm {
  const { attendeeId } = item;
  const anonymous = visibility === 'anonymous';
  const purpose = anonymous ? 'anonymous' : 'named';
  return {
    payload: visibility === 'unknown' ? itemForm(scope.list, item.fields, 'with').payload : form.payload,
    attendeeId: anonymous ? null : attendeeId,
    subject: attendeeId === null ? null : ledger.hash.subject(scope.workspace, attendeeId, purpose),
  };
}

async function insertChanges(tx: Queryable, scope: PageScope, changes: readonly Change[]): Promise<void> {
  await tx.query(
    `insert into changes (ref, list, found_at, sequence, id, key, revision, kind, session_id, visibility, previous_sequence)
     select $1, $2, clock_timestamp(), n.* from unnest($3::int8[], $4::uuid[], $5::text[], $6::int4[], $7::text[],
       $8::int8[], $9::text[], $10::int8[]) as n`,
    [
      scope.ref,
      scope.list,
      changes.map(({ sequence }) => sequence),
      changes.map(({ id }) => id),
      changes.map(({ placed }) => placed.item.key),
      changes.map(({ revision }) => revision),
      changes.map(({ kind }) => kind),
      changes.map(({ placed }) => placed.item.sessionId),
      changes.map(({ placed }) => (placed.visibility === null ? null : effective(placed.visibility))),
      changes.map(({ placed }) => placed.known?.lastSequence ?? null),
    ],
  );
}

/** Only copied texts, or what is known of the visibility, moved: the row follows, and nothing has changed. */
async function followCopies(
  ledger: Ledger,
  tx: Queryable,
  scope: PageScope,
  placed: readonly PlacedItem[],
): Promise<void> {
  const rows = placed.map((each) => ({ ...each, stored: storedForm(ledger, scope, each) }));
  await tx.query(
    `update items i set copies_hash = n.copies_hash, payload = n.payload, visibility = n.visibility,
       attendee_id = n.attendee_id, subject = n.subject
     from unnest($3::text[], $4::bytea[], $5::json[], $6::text[], $7::int8[], $8::bytea[])
       as n (key, copies_hash, payload, visibility, attendee_id, subject)
     where i.ref = $1 and i.list = $2 and i.key = n.key`,
    [
      scope.ref,
      scope.list,
      rows.map(({ item }) => item.key),
      rows.map(({ copiesHash }) => copiesHash),
      rows.map(({ stored }) => stored.payload),
      rows.map(({ visibility }) => visibility),
      rows.map(({ stored }) => stored.attendeeId),
      rows.map(({ stored }) => stored.subject),
    ],
  );
}
