import type { Queryable } from './drivers/database.js';
import type { Ledger } from './ledger.js';
import { type HashedForm, hashedForm, shownForm, type Fields, droppedBy, withoutFields } from './item-form.js';
import type { SeenItem } from './seen-item.js';
import { isKnownSince, loadJudge, type Visibility } from './visibility.js';
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
  /** True if the content differs only because it was stored under other reading rules. */
  readonly differsByRules: boolean;
  /** The reading rules under which it was stored. */
  readonly rules: string;
  readonly deleted: boolean;
  readonly sessionId: number | null;
  readonly saysAnonymous: boolean | null;
  readonly origin: Buffer | null;
}

/** The items of a page that have to be written. */
interface ItemComparison {
  readonly differingItems: DifferingItem[];
  /** True if a later request has already seen one of the rows, so that the ledger is newer than the page. */
  readonly outdated: boolean;
  /** Sessions of differing items whose person may be visible, but whose deciding setting was not read since. */
  readonly undecidedIn: readonly (number | null)[];
}

/**
 * SQL condition: a later request has seen the row. An instant in the future is ignored: it was stored while a clock was
 * wrong, and would protect the row until that instant.
 */
export const seenLater = (seenAt: string, requestedAt: string): string =>
  `(${seenAt} > ${requestedAt} and ${seenAt} <= clock_timestamp())`;

/** Replaces a payload whose retention has ended (decision 0029). */
export const expiredPayload = '{}';

interface ComparedPage {
  readonly items: readonly SeenItem[];
  readonly requestedAt: Date;
  /** `readingRules` under which the items were read. */
  readonly rules: string;
  readonly settingsSince: Date;
}

/** An item of the page that is new, differs from its stored row, or whose stored row a later request has seen. */
interface ComparedRow extends Omit<KnownRow, 'differsByRules'> {
  /** The item's position on the page, from 1. */
  readonly n: number;
  readonly what: 'new' | 'differs' | 'newer';
  /** Null if the item is new. */
  readonly contentHash: Buffer | null;
  /** The stored visibility. */
  readonly shownAs: Visibility | null;
  /** The stored payload, if its content differs and it was stored under other reading rules. */
  readonly otherPayload: string | null;
}

/**
 * Returns the items that differ from the stored ones. Omits an item if a later request has already seen its stored row.
 * An item stored under other reading rules always differs: a field that the new rules keep may be added to it later, and
 * earlier revisions may have a field that the new rules leave out. Its payload is not restored if it has expired.
 * The statement sends keys, hashes and flags but no payloads. It returns no row for an unchanged item. `lateral` with a
 * limit forces one look-up per key: otherwise, until the table is analyzed, each page would read the whole list.
 * @param page.settingsSince an item that is new or differs is `named` only if the setting that allows it was read by a
 *   request at or after this instant; otherwise it is `unknown`. The setting may have changed before the page was read.
 */
export async function compareItems(
  ledger: Ledger,
  tx: Queryable,
  place: PagePlace,
  { items, requestedAt, rules, settingsSince }: ComparedPage,
): Promise<ItemComparison> {
  if (items.length === 0) return { differingItems: [], outdated: false, undecidedIn: [] };
  const judge = await loadJudge(
    tx,
    place.ref,
    items.filter(({ visibility }) => visibility === 'judge').map((item) => ({ ...item, list: place.list })),
  );
  const candidates = items.map((item): DifferingItem => {
    const visibility = item.visibility === 'judge' ? judge({ ...item, list: place.list }).visibility : item.visibility;
    const hashed = item.hashed ?? hashedForm(ledger.hash, place.list, item.fields, visibility);
    return { item, visibility, rules, ...hashed, known: undefined };
  });
  const rows = await tx.query<ComparedRow>(
    `select s.n::int as n, case when i.key is null then 'new' when i.later then 'newer' else 'differs' end as what,
       i.revision, i.last_sequence as "lastSequence", i.content_hash = s.hash as "sameContent",
       i.content_hash as "contentHash",
       i.copies_hash is not distinct from s.copies as "sameCopies", i.payload is null as deleted,
       i.session_id as "sessionId", i.says_anonymous as "saysAnonymous", i.origin, i.rules, i.visibility as "shownAs",
       case when i.content_hash <> s.hash and i.rules <> $10 then i.payload end as "otherPayload"
     from unnest($3::text[], $4::bytea[], $5::bytea[], $6::text[], $8::boolean[], $9::text[]) with ordinality
         as s (key, hash, copies, visibility, says_anonymous, consent, n)
       left join lateral (select *, ${seenLater('seen_at', '$7')} as later
         from items where ref = $1 and list = $2 and key = s.key limit 1) i on true
     where i.key is null or i.later or i.payload is null or i.stream_id <> $11 or i.content_hash <> s.hash
       or i.copies_hash is distinct from s.copies or i.visibility is distinct from s.visibility
       or i.says_anonymous is distinct from s.says_anonymous or i.consent is distinct from s.consent
       or (i.rules <> $10 and not i.expired)
     order by s.n`,
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
  const differing = rows.filter(({ what }) => what !== 'newer');
  const undecidedIn: (number | null)[] = [];
  const differingItems = differing.flatMap((row) => {
    const candidate = candidates[row.n - 1]!;
    const { item, visibility } = candidate;
    const mayBecomeNamed = item.visibility === 'judge' && visibility !== 'anonymous';
    if (!mayBecomeNamed || isKnownSince(judge({ ...item, list: place.list }), settingsSince)) {
      return withKnown(row, place.list, candidate);
    }
    undecidedIn.push(item.sessionId);
    if (visibility === 'unknown') return withKnown(row, place.list, candidate);
    const undecided = hashedForm(ledger.hash, place.list, item.fields, 'unknown');
    const sameContent = row.contentHash?.equals(undecided.hash) === true;
    const isAsStored = row.shownAs === 'unknown' && sameContent && row.sameCopies && row.rules === rules;
    if (isAsStored && row.sessionId === item.sessionId) return [];
    return withKnown({ ...row, sameContent }, place.list, { ...candidate, visibility: 'unknown', ...undecided });
  });
  return { differingItems, outdated: rows.length > differing.length, undecidedIn };
}

function withKnown(row: ComparedRow, list: string, candidate: DifferingItem): DifferingItem {
  return row.what === 'new' ? candidate : { ...candidate, known: knownRow(row, list, candidate) };
}

function knownRow(row: ComparedRow, list: string, differing: Omit<DifferingItem, 'known'>): KnownRow {
  const differsByRules = !row.sameContent && differsByRulesAlone(row, list, differing);
  // an item that moves to another session has changed, even if none of its fields shows it
  const sameContent = row.sessionId === differing.item.sessionId && (row.sameContent || differsByRules);
  return { ...row, sameContent, differsByRules };
}

/**
 * Returns true if the stored item and the one just read are equal in all fields that both reading rules keep, so that
 * only the rules make a difference. Also true if the stored payload has expired.
 */
function differsByRulesAlone(row: ComparedRow, list: string, differing: Omit<DifferingItem, 'known'>): boolean {
  if (row.otherPayload === null) return false;
  if (row.otherPayload === expiredPayload) return true; // nothing is left to compare with
  const dropped = new Set([...droppedBy(row.rules), ...droppedBy(differing.rules)]);
  const before = withoutFields(JSON.parse(row.otherPayload) as Fields, dropped);
  const now = withoutFields(differing.item.fields, dropped);
  return shownForm(list, before, row.shownAs).content === shownForm(list, now, differing.visibility).content;
}
