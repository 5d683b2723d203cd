import type { Queryable } from '../drivers/database.js';
import type { Ledger } from '../ledger.js';
import { type HashedForm, hashedForm, shownForm, type Fields, droppedBy, withoutFields } from '../item-form.js';
import type { SeenItem } from '../seen-item.js';
import { isKnownSince, loadJudge, type Visibility } from '../visibility.js';
import type { PageScope } from './write-changes.js';

type PagePlace = Pick<PageScope, 'pigeonholeNumber' | 'list' | 'streamId'>;

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

/** The stored row of an item of the page, without its payload. */
interface StoredRow extends Omit<KnownRow, 'sameContent' | 'sameCopies' | 'differsByRules'> {
  readonly key: string;
  readonly streamId: number;
  readonly contentHash: Buffer;
  readonly copiesHash: Buffer | null;
  readonly visibility: Visibility | null;
  readonly consent: SeenItem['consent'];
  readonly expired: boolean;
  /** True if a later request has seen the row. */
  readonly seenLater: boolean;
  /** The stored payload, if the row was stored under other reading rules. */
  readonly otherPayload: string | null;
}

/**
 * Returns the items that differ from the stored ones. Omits an item if a later request has already seen its stored row.
 * An item stored under other reading rules always differs: a field that the new rules keep may be added to it later, and
 * earlier revisions may have a field that the new rules leave out. Its payload is not restored if it has expired.
 * @param page.settingsSince an item that is new or differs is `named` only if the setting that allows it was read by a
 *   request at or after this instant; otherwise it is `unknown`. The setting may have changed before the page was read.
 */
export async function compareItems(
  ledger: Ledger,
  tx: Queryable,
  place: PagePlace,
  page: ComparedPage,
): Promise<ItemComparison> {
  const { items, rules, settingsSince } = page;
  if (items.length === 0) return { differingItems: [], outdated: false, undecidedIn: [] };
  const { list } = place;
  const judged = items.filter(({ visibility }) => visibility === 'judge').map((item) => ({ ...item, list }));
  const [rows, judge] = await Promise.all([storedRows(tx, place, page), loadJudge(tx, place.pigeonholeNumber, judged)]);
  const undecidedIn: (number | null)[] = [];
  const differingItems = items.flatMap((item) => {
    const row = rows.get(item.key);
    if (row?.seenLater === true) return [];
    const visibility = item.visibility === 'judge' ? judge({ ...item, list }).visibility : item.visibility;
    const hashed = item.hashed ?? hashedForm(ledger.hash, list, item.fields, visibility);
    const candidate = { item, visibility, rules, ...hashed };
    if (row !== undefined && equals(row, place, candidate)) return [];
    const mayBecomeNamed = item.visibility === 'judge' && visibility !== 'anonymous';
    if (!mayBecomeNamed || isKnownSince(judge({ ...item, list }), settingsSince))
      return differing(row, list, candidate);
    undecidedIn.push(item.sessionId);
    if (visibility === 'unknown') return differing(row, list, candidate);
    const undecided = {
      ...candidate,
      visibility: 'unknown',
      ...hashedForm(ledger.hash, list, item.fields, 'unknown'),
    } as const;
    const isAsStored =
      row !== undefined &&
      row.visibility === 'unknown' &&
      row.sessionId === item.sessionId &&
      row.contentHash.equals(undecided.hash) &&
      sameCopies(row, undecided) &&
      row.rules === rules;
    return isAsStored ? [] : differing(row, list, undecided);
  });
  return { differingItems, outdated: [...rows.values()].some(({ seenLater: later }) => later), undecidedIn };
}

/**
 * Returns the stored rows of a page's items by key. `lateral` with a limit forces one look-up per key: otherwise, until
 * the table is analyzed, each page would read the whole list.
 */
async function storedRows(
  tx: Queryable,
  place: PagePlace,
  { items, requestedAt, rules }: ComparedPage,
): Promise<ReadonlyMap<string, StoredRow>> {
  const rows = await tx.query<StoredRow>(
    `select i.* from unnest($3::text[]) as n (key) cross join lateral (
       select key, stream_id as "streamId", revision, last_sequence as "lastSequence", content_hash as "contentHash",
         copies_hash as "copiesHash", rules, payload is null as deleted, expired, session_id as "sessionId", visibility,
         says_anonymous as "saysAnonymous", consent, origin, ${seenLater('seen_at', '$4')} as "seenLater",
         case when rules <> $5 then payload end as "otherPayload"
       from items where pigeonhole_number = $1 and list = $2 and key = n.key limit 1) i`,
    [place.pigeonholeNumber, place.list, items.map(({ key }) => key), requestedAt, rules],
  );
  return new Map(rows.map((row) => [row.key, row]));
}

type Candidate = Omit<DifferingItem, 'known'>;

function equals(row: StoredRow, { streamId }: PagePlace, candidate: Candidate): boolean {
  const { item, visibility, hash, rules } = candidate;
  return (
    !row.deleted &&
    row.streamId === streamId &&
    row.contentHash.equals(hash) &&
    sameCopies(row, candidate) &&
    row.visibility === visibility &&
    row.saysAnonymous === item.saysAnonymous &&
    row.consent === item.consent &&
    (row.rules === rules || row.expired)
  );
}

function sameCopies({ copiesHash: stored }: StoredRow, { copiesHash: seen }: Candidate): boolean {
  return stored === null || seen === null ? stored === seen : stored.equals(seen);
}

function differing(row: StoredRow | undefined, list: string, candidate: Candidate): DifferingItem[] {
  if (row === undefined) return [{ ...candidate, known: undefined }];
  const sameHash = row.contentHash.equals(candidate.hash);
  const differsByRules = !sameHash && differsByRulesAlone(row, list, candidate);
  // an item that moves to another session has changed, even if none of its fields shows it
  const sameContent = row.sessionId === candidate.item.sessionId && (sameHash || differsByRules);
  const { key: _, ...rest } = row;
  return [{ ...candidate, known: { ...rest, sameContent, sameCopies: sameCopies(row, candidate), differsByRules } }];
}

/**
 * Returns true if the stored item and the one just read are equal in all fields that both reading rules keep, so that
 * only the rules make a difference. Also true if the stored payload has expired.
 */
function differsByRulesAlone(row: StoredRow, list: string, candidate: Candidate): boolean {
  if (row.otherPayload === null) return false;
  if (row.otherPayload === expiredPayload) return true; // nothing is left to compare with
  const dropped = new Set([...droppedBy(row.rules), ...droppedBy(candidate.rules)]);
  const before = withoutFields(JSON.parse(row.otherPayload) as Fields, dropped);
  const now = withoutFields(candidate.item.fields, dropped);
  return shownForm(list, before, row.visibility).content === shownForm(list, now, candidate.visibility).content;
}
