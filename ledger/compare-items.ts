import type { Queryable } from './drivers/database.js';
import type { Ledger } from './ledger.js';
import { type HashedForm, hashedForm, shownForm, type Fields, droppedBy, withoutFields } from './item-form.js';
import type { SeenItem } from './seen-item.js';
import { judgedLists, judgeVisibility, type Visibility } from './visibility.js';
import type { PageScope } from './write-changes.js';

type PagePlace = Pick<PageScope, 'ref' | 'list' | 'streamId'>;

/** An item of a page that differs from its stored row, in the form in which it is to be stored. */
export interface DifferingItem extends HashedForm {
  readonly item: SeenItem;
  readonly visibility: Visibility | null;
  /** The reading rules (`readingRules`) under which the item was read. */
  readonly rules: string;
  /** The stored row; undefined: new. */
  readonly known: KnownRow | undefined;
}

export interface KnownRow {
  readonly revision: number;
  readonly lastSequence: number;
  readonly sameContent: boolean;
  readonly sameCopies: boolean;
  /** The reading rules under which it was stored. */
  readonly rules: string;
  readonly deleted: boolean;
  readonly sessionId: number | null;
  readonly saysAnonymous: boolean | null;
}

/** The items of a page that have to be written. */
export interface ItemComparison {
  readonly differingItems: DifferingItem[];
  /** True if a later request has already seen one of the rows, so that the ledger is newer than the page. */
  readonly outdated: boolean;
}

/**
 * SQL condition: a later request has seen the row. An instant in the future is ignored: it was stored while a clock was
 * wrong, and would protect the row until that instant.
 */
export const seenLater = (seenAt: string, requestedAt: string): string =>
  `(${seenAt} > ${requestedAt} and ${seenAt} <= clock_timestamp())`;

/** Replaces a payload whose retention has ended (decision 0029). */
export const expiredPayload = '{}';

/**
 * One of three kinds of rows: one known item that differs, with its stored values (`differs`); the positions of all new
 * items (`new`); or the positions of all items that a later request has seen (`newer`). `ns` are positions on the page,
 * from 1.
 */
type ComparedRow = DifferingRow | { readonly what: 'new' | 'newer'; readonly ns: readonly number[] };

interface DifferingRow extends KnownRow {
  readonly what: 'differs';
  readonly ns: readonly number[];
  /** The stored visibility. */
  readonly shownAs: Visibility | null;
  /** The stored payload, if its content differs and it was stored under other reading rules. */
  readonly otherPayload: string | null;
}

/**
 * Returns the items that differ from the stored ones. Omits an item if a later request has already seen its stored row.
 * The statement sends keys, hashes and a few flags to the store but no payloads, and returns no row for an unchanged
 * item. `lateral` with a limit forces one look-up per key. Otherwise the planner would read the whole list for every
 * page until the table is analyzed, which may be after the first walk.
 */
export async function compareItems(
  ledger: Ledger,
  tx: Queryable,
  place: PagePlace,
  { items, requestedAt, rules }: { items: readonly SeenItem[]; requestedAt: Date; rules: string },
): Promise<ItemComparison> {
  if (items.length === 0) return { differingItems: [], outdated: false };
  const { differingItems: candidates } = await asNewItems(ledger, tx, place, { items, rules });
  const rows = await tx.query<ComparedRow>(
    `with compared as (
       select s.n::int as n, i.key is null as is_new, i.later as newer, not i.later and (i.payload is null or i.stream_id <> $11 or i.content_hash <> s.hash
           or i.copies_hash is distinct from s.copies or i.visibility is distinct from s.visibility
           or i.says_anonymous is distinct from s.says_anonymous or i.consent is distinct from s.consent) as differs,
         i.revision, i.last_sequence, i.content_hash = s.hash as same_content,
         i.copies_hash is not distinct from s.copies as same_copies, i.payload is null as deleted, i.session_id,
         i.says_anonymous, i.rules, i.visibility as shown_as,
         case when i.content_hash <> s.hash and i.rules <> $10 then i.payload end as other_payload
       from unnest($3::text[], $4::bytea[], $5::bytea[], $6::text[], $8::boolean[], $9::text[]) with ordinality
         as s (key, hash, copies, visibility, says_anonymous, consent, n)
       left join lateral (select *, ${seenLater('seen_at', '$7')} as later
         from items where ref = $1 and list = $2 and key = s.key limit 1) i on true)
     select array[n] as ns, 'differs' as what, revision, last_sequence as "lastSequence", same_content as "sameContent",
       same_copies as "sameCopies", deleted, session_id as "sessionId", says_anonymous as "saysAnonymous", rules,
       shown_as as "shownAs", other_payload as "otherPayload"
     from compared where differs
     union all
     select array_agg(n), 'new', null, null, null, null, null, null, null, null, null, null from compared where is_new
     having count(*) > 0
     union all
     select array_agg(n), 'newer', null, null, null, null, null, null, null, null, null, null from compared where newer
     having count(*) > 0`,
    [
      place.ref,
      place.list,
      candidates.map(({ item }) => item.key),
      candidates.map(({ hash }) => hash),
      candidates.map(({ copiesHash }) => copiesHash),
      candidates.map(({ visibility }) => visibility),
      requestedAt,
      candidates.map(({ item }) => item.saysAnonymous),
      candidates.map(({ item }) => item.consent),
      rules,
      place.streamId,
    ],
  );
  const differingByPosition = new Map<number, DifferingItem>();
  for (const row of rows) {
    if (row.what === 'newer') continue;
    for (const n of row.ns) {
      const candidate = candidates[n - 1]!;
      differingByPosition.set(
        n,
        row.what === 'differs' ? { ...candidate, known: knownRow(row, place.list, candidate) } : candidate,
      );
    }
  }
  return {
    differingItems: [...differingByPosition.keys()].toSorted((a, b) => a - b).map((n) => differingByPosition.get(n)!),
    outdated: rows.some(({ what }) => what === 'newer'),
  };
}

/**
 * Converts items to the form in which they are compared and stored. Does not read the stored rows, so every item counts
 * as new.
 */
export async function asNewItems(
  ledger: Ledger,
  tx: Queryable,
  place: PagePlace,
  { items, rules }: { items: readonly SeenItem[]; rules: string },
): Promise<ItemComparison> {
  if (items.length === 0) return { differingItems: [], outdated: false };
  const judge = await loadJudge(tx, place, items);
  const newItems = items.map((item) => {
    const visibility = judge(item);
    const { form, hash, copiesHash } = item.hashed ?? hashedForm(ledger.hash, place.list, item.fields, visibility);
    return { item, visibility, rules, form, hash, copiesHash, known: undefined };
  });
  return { differingItems: newItems, outdated: false };
}

function knownRow(row: DifferingRow, list: string, differing: Omit<DifferingItem, 'known'>): KnownRow {
  const { revision, lastSequence, sameCopies, rules, deleted, sessionId, saysAnonymous } = row;
  // an item that moves to another session has changed, even if none of its fields shows it
  const sameContent =
    sessionId === differing.item.sessionId && (row.sameContent || differsByRulesAlone(row, list, differing));
  return { revision, lastSequence, sameContent, sameCopies, rules, deleted, sessionId, saysAnonymous };
}

/**
 * Returns true if the stored item and the one just read are equal in all fields that both reading rules keep, so that
 * only the rules make a difference. Also true if the stored payload has expired.
 */
function differsByRulesAlone(row: DifferingRow, list: string, differing: Omit<DifferingItem, 'known'>): boolean {
  if (row.otherPayload === null) return false;
  if (row.otherPayload === expiredPayload) return true; // nothing is left to compare with
  const dropped = new Set([...droppedBy(row.rules), ...droppedBy(differing.rules)]);
  const before = withoutFields(JSON.parse(row.otherPayload) as Fields, dropped);
  const now = withoutFields(differing.item.fields, dropped);
  return shownForm(list, before, row.shownAs).content === shownForm(list, now, differing.visibility).content;
}

type Judge = (item: SeenItem) => Visibility | null;

/** Reads the facts that decide the visibility of a page's items, in the transaction that writes the page. */
async function loadJudge(tx: Queryable, place: PagePlace, items: readonly SeenItem[]): Promise<Judge> {
  const own: Judge = (item) => (item.visibility === 'judge' ? 'unknown' : item.visibility);
  if (!judgedLists.has(place.list)) return own;
  const sessions = await sessionSettings(tx, place.ref, distinct(items.map((item) => item.sessionId)));
  const flags =
    place.list === 'questions'
      ? await questionFlags(
          tx,
          place.ref,
          items.map((item) => item.key),
        )
      : null;
  return (item) =>
    item.visibility !== 'judge'
      ? item.visibility
      : judgeVisibility(place.list, {
          anonymousResponses: sessions.get(item.sessionId),
          questionIsAnonymous: flags?.get(`${item.key} ${item.sessionId}`),
        });
}

/** Returns the known values of `anonymousResponses`, by session id. */
export async function sessionSettings(
  tx: Queryable,
  ref: number,
  sessionIds: readonly (number | null)[],
): Promise<Map<number | null, boolean>> {
  const keys = sessionIds.filter((id) => id !== null).map(String);
  if (keys.length === 0) return new Map();
  const rows = await tx.query<{ key: string; says_anonymous: boolean }>(
    `select i.key, i.says_anonymous from unnest($2::text[]) as n (key)
       cross join lateral (select * from items where ref = $1 and list = 'sessions' and key = n.key limit 1) i
     where i.says_anonymous is not null and i.payload is not null`,
    [ref, keys],
  );
  return new Map(rows.map((row) => [Number(row.key), row.says_anonymous]));
}

/**
 * Returns, for each question, the anonymity flag of the `qna-questions` item with the same key. The map's keys are
 * `<question> <session>`, so that an item from another session is not used.
 */
export async function questionFlags(
  tx: Queryable,
  ref: number,
  questionKeys: readonly string[],
): Promise<Map<string, boolean>> {
  if (questionKeys.length === 0) return new Map();
  const rows = await tx.query<{ key: string; session_id: number | null; says_anonymous: boolean }>(
    `select i.key, i.session_id, i.says_anonymous from unnest($2::text[]) as n (key)
       cross join lateral (select * from items where ref = $1 and list = 'qna-questions' and key = n.key limit 1) i
     where i.says_anonymous is not null and i.payload is not null`,
    [ref, questionKeys],
  );
  return new Map(rows.map((row) => [`${row.key} ${row.session_id}`, row.says_anonymous]));
}

function distinct<T>(values: readonly T[]): T[] {
  return [...new Set(values)];
}
