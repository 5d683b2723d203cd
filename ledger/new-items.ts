import type { Queryable } from './drivers/database.js';
import { columnOf, type SqlValue } from './drivers/sql-values.js';
import type { Ledger } from './ledger.js';
import { lastOfEachKey, type SeenItem } from './seen-item.js';
import { effective } from './visibility.js';
import type { DifferingItem } from './compare-items.js';
import { type HashedForm, storedForm } from './item-form.js';
import type { PageScope, Source } from './write-changes.js';
import { changeId } from './keyed-hash.js';

/** The list and the pigeonhole of items. */
type ItemsPlace = Pick<PageScope, 'workspace' | 'pigeonholeId' | 'list'>;

/**
 * Items that the ledger has never stored, and their first changes, encoded as parameters for the insert statements.
 * Their sequences are not included, because these are assigned under the pigeonhole's lock. The rest can be encoded
 * before the lock is taken.
 */
export interface NewItems {
  readonly count: number;
  /** The reading rules under which all the items were read. */
  readonly rules: string;
  readonly ids: SqlValue;
  readonly keys: SqlValue;
  readonly sessionIds: SqlValue;
  /** The visibility that sinks see (`effective`). */
  readonly shown: SqlValue;
  /** Values for the columns that only the table `items` has, in the order of the statement. */
  readonly columns: readonly SqlValue[];
}

/**
 * Encodes the items of a page as new items. The caller does this while the store is still writing the previous page.
 * @returns undefined if the visibility of an item depends on rows in the ledger
 */
export function prepareNewItems(
  ledger: Pick<Ledger, 'hash'>,
  place: ItemsPlace,
  items: readonly SeenItem[],
  rules: string,
): NewItems | undefined {
  const newItems: (HashedForm & Pick<DifferingItem, 'item' | 'visibility'>)[] = [];
  for (const item of lastOfEachKey(items)) {
    if (item.hashed === undefined || item.visibility === 'judge') return undefined;
    newItems.push({ item, visibility: item.visibility, ...item.hashed });
  }
  const stored = newItems.map((each) => storedForm(ledger, place, each));
  return {
    count: newItems.length,
    rules,
    ids: columnOf('uuid', newItems, ({ item, hash }) =>
      idOfChange(place, { key: item.key, revision: 1, kind: 'created', hash }),
    ),
    keys: columnOf('text', newItems, ({ item }) => item.key),
    sessionIds: columnOf('int8', newItems, ({ item }) => item.sessionId),
    shown: columnOf('text', newItems, ({ visibility }) => (visibility === null ? null : effective(visibility))),
    columns: [
      columnOf('bytea', newItems, ({ hash }) => hash),
      columnOf('bytea', newItems, ({ copiesHash }) => copiesHash),
      columnOf('json', stored, ({ payload }) => payload),
      columnOf('text', newItems, ({ visibility }) => visibility),
      columnOf('int8', stored, ({ attendeeId }) => attendeeId),
      columnOf('bytea', stored, ({ subject }) => subject),
      columnOf('boolean', newItems, ({ item }) => item.saysAnonymous),
      columnOf('text', newItems, ({ item }) => item.consent),
      columnOf('bytea', newItems, ({ item }) => item.origin ?? null),
    ],
  };
}

const insertChanges = `insert into changes (ref, list, request_id, read_as, revision, kind, found_at, sequence, id, key,
    session_id, visibility)
  select $1, $2, $3, $4, 1, 'created', clock_timestamp(), $5::int8 + n.nth - 1, n.id, n.key, n.session_id, n.visibility
  from unnest($6::uuid[], $7::text[], $8::int8[], $9::text[]) with ordinality
    as n (id, key, session_id, visibility, nth)`;

const insertItems = `insert into items (ref, list, stream_id, seen_at, rules, revision, last_sequence, key, session_id,
    content_hash, copies_hash, payload, visibility, attendee_id, subject, says_anonymous, consent, origin)
  select $1, $2, $3, $4, $5, 1, $6::int8 + n.nth - 1, n.key, n.session_id,
    n.content_hash, n.copies_hash, n.payload, n.visibility, n.attendee_id, n.subject, n.says_anonymous, n.consent,
    n.origin
  from unnest($7::text[], $8::int8[], $9::bytea[], $10::bytea[], $11::json[], $12::text[], $13::int8[], $14::bytea[],
    $15::boolean[], $16::text[], $17::bytea[]) with ordinality
    as n (key, session_id, content_hash, copies_hash, payload, visibility, attendee_id, subject, says_anonymous,
      consent, origin, nth)`;

/**
 * Inserts new items, each with its change, in their order. The statements are sent together, because none needs the
 * result of another; the server still runs them in this order. A plain insert takes four fifths of the time of an
 * upsert, and is safe because the pigeonhole's lock keeps other writers away from these items.
 * @throws {StoreError} kind `constraint` if the ledger already has one of the items
 */
export async function insertNewItems(tx: Queryable, scope: PageScope, items: NewItems, source: Source): Promise<void> {
  const first = scope.nextSequence;
  scope.nextSequence += items.count;
  const { keys, sessionIds } = items;
  const from = [source.requestId, source.readAs];
  await Promise.all([
    tx.query(insertChanges, [scope.ref, scope.list, ...from, first, items.ids, keys, sessionIds, items.shown]),
    tx.query(insertItems, [
      scope.ref,
      scope.list,
      scope.streamId,
      source.requestedAt,
      items.rules,
      first,
      keys,
      sessionIds,
      ...items.columns,
    ]),
    tx.query('update pigeonholes set next_sequence = $2 where ref = $1', [scope.ref, scope.nextSequence]),
  ]);
}

interface NamedChange {
  readonly key: string;
  readonly revision: number;
  readonly kind: 'created' | 'updated' | 'deleted';
  /** Keyed hash of the content; for a deletion, of the deleted content. */
  readonly hash: Buffer;
}

/**
 * Derives the id of a change from everything that distinguishes it, so that reading the change again gives the same id.
 */
export function idOfChange(
  { workspace, pigeonholeId, list }: Pick<PageScope, 'workspace' | 'pigeonholeId' | 'list'>,
  { key, revision, kind, hash }: NamedChange,
): string {
  return changeId(`${workspace}\n${pigeonholeId}\n${list}\n${key}\n${revision}\n${kind}\n${hash.toString('hex')}`);
}
