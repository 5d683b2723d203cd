import type { Queryable } from '../drivers/database.js';
import type { Ledger } from '../ledger.js';
import { type Fields, type ItemForm, itemForm } from '../item-form.js';
import type { SeenItem } from '../seen-item.js';
import { effective, judgedLists, judgeVisibility, type Visibility } from '../visibility.js';
import type { PageScope } from './write-changes.js';

/** An item of a page that differs from its stored row, in the form in which it is to be stored. */
export interface PlacedItem {
  readonly item: SeenItem;
  readonly visibility: Visibility | null;
  /** What is compared and delivered: without the person unless named. */
  readonly form: ItemForm;
  readonly hash: Buffer;
  readonly copiesHash: Buffer | null;
  /** The stored row; undefined: new. */
  readonly known: KnownRow | undefined;
}

export interface KnownRow {
  readonly revision: number;
  readonly lastSequence: number;
  readonly sameContent: boolean;
  readonly deleted: boolean;
  readonly sessionId: number | null;
  readonly saysAnonymous: boolean | null;
}

interface ComparedRow {
  n: number;
  revision: number | null;
  last_sequence: number | null;
  same_content: boolean | null;
  deleted: boolean | null;
  session_id: number | null;
  says_anonymous: boolean | null;
}

/**
 * The items that differ from what is stored. Sends keys and hashes alone: what is unchanged costs no row. Leaves out
 * rows that a later request has already seen differently.
 */
export async function placeItems(
  ledger: Ledger,
  tx: Queryable,
  scope: PageScope,
  items: readonly SeenItem[],
  requestedAt: Date,
): Promise<PlacedItem[]> {
  if (items.length === 0) return [];
  const judge = await loadJudge(tx, scope, items);
  const candidates = items.map((item) => {
    const visibility = judge(item);
    return { item, visibility, ...hashedForm(ledger, scope.list, item.fields, visibility) };
  });
  const rows = await tx.query<ComparedRow>(
    `select s.n::int as n, i.revision, i.last_sequence, i.content_hash = s.hash as same_content,
       i.payload is null as deleted, i.session_id, i.says_anonymous
     from unnest($3::text[], $4::bytea[], $5::bytea[], $6::text[]) with ordinality as s (key, hash, copies, visibility, n)
     left join items i on i.ref = $1 and i.list = $2 and i.key = s.key
     where i.key is null
       or (i.seen_at <= $7 and (i.payload is null or i.content_hash <> s.hash
         or i.copies_hash is distinct from s.copies or i.visibility is distinct from s.visibility))`,
    [
      scope.ref,
      scope.list,
      candidates.map(({ item }) => item.key),
      candidates.map(({ hash }) => hash),
      candidates.map(({ copiesHash }) => copiesHash),
      candidates.map(({ visibility }) => visibility),
      requestedAt,
    ],
  );
  return rows.toSorted((a, b) => a.n - b.n).map((row) => ({ ...candidates[row.n - 1]!, known: knownRow(row) }));
}

/** The form in which an item of that visibility is compared and delivered, with its hashes. */
export function hashedForm(
  ledger: Ledger,
  list: string,
  fields: Fields,
  visibility: Visibility | null,
): { form: ItemForm; hash: Buffer; copiesHash: Buffer | null } {
  const form = itemForm(list, fields, visibility === null || effective(visibility) === 'named' ? 'with' : 'without');
  const copiesHash = form.copies === null ? null : ledger.hash.content(form.copies);
  return { form, hash: ledger.hash.content(form.content), copiesHash };
}

function knownRow(row: ComparedRow): KnownRow | undefined {
  if (row.revision === null) return undefined;
  return {
    revision: row.revision,
    lastSequence: row.last_sequence!,
    sameContent: row.same_content!,
    deleted: row.deleted!,
    sessionId: row.session_id,
    saysAnonymous: row.says_anonymous,
  };
}

type Judge = (item: SeenItem) => Visibility | null;

/** Reads what the visibility of a page's items depends on, under the same lock as the page itself. */
async function loadJudge(tx: Queryable, scope: PageScope, items: readonly SeenItem[]): Promise<Judge> {
  const own: Judge = (item) => (item.visibility === 'judge' ? 'unknown' : item.visibility);
  if (!judgedLists.has(scope.list)) return own;
  const sessions = await sessionSettings(tx, scope.ref, distinct(items.map((item) => item.sessionId)));
  const flags = scope.list === 'questions' ? await questionFlags(tx, scope.ref, items.map((item) => item.key)) : null;
  return (item) =>
    item.visibility !== 'judge'
      ? item.visibility
      : judgeVisibility(scope.list, {
          anonymousResponses: sessions.get(item.sessionId),
          questionIsAnonymous: flags?.get(`${item.key} ${item.sessionId}`),
        });
}

/** `anonymousResponses` of the sessions that are known and say so. */
export async function sessionSettings(
  tx: Queryable,
  ref: number,
  sessionIds: readonly (number | null)[],
): Promise<Map<number | null, boolean>> {
  const rows = await tx.query<{ key: string; says_anonymous: boolean }>(
    `select key, says_anonymous from items
     where ref = $1 and list = 'sessions' and key = any($2::text[]) and says_anonymous is not null and payload is not null`,
    [ref, sessionIds.filter((id) => id !== null).map(String)],
  );
  return new Map(rows.map((row) => [Number(row.key), row.says_anonymous]));
}

/** The flag of each question's twin, by `<question> <session>`: a twin of another session says nothing. */
export async function questionFlags(
  tx: Queryable,
  ref: number,
  questionKeys: readonly string[],
): Promise<Map<string, boolean>> {
  const rows = await tx.query<{ key: string; session_id: number | null; says_anonymous: boolean }>(
    `select key, session_id, says_anonymous from items
     where ref = $1 and list = 'qna-questions' and key = any($2::text[]) and says_anonymous is not null and payload is not null`,
    [ref, questionKeys],
  );
  return new Map(rows.map((row) => [`${row.key} ${row.session_id}`, row.says_anonymous]));
}

function distinct<T>(values: readonly T[]): T[] {
  return [...new Set(values)];
}
