import { consentBehind } from '../../delivering/candidates.js';
import { acceptsPerson } from '../../delivering/decide-delivery.js';
import type { Fields } from '../../ledger/item-form.js';
import type { Ledger } from '../../ledger/ledger.js';
import type { Consent } from '../../ledger/seen-item.js';
import { judgedLists, loadJudge, personRuleOf, type Visibility, withoutIdentity } from '../../ledger/visibility.js';

/** An item as an export shows it. */
export interface ExportedItem {
  readonly key: string;
  readonly sessionId: number | null;
  readonly revision: number;
  /** `withheld`: the item is a person's own record, and the export does not accept their consent. */
  readonly state: 'present' | 'expired' | 'withheld';
  /** Whether the author of an interaction is shown. Null for lists without authors. */
  readonly author: 'named' | 'anonymous' | null;
  /** Consent of the person behind the item, if the person is shown or the item is their own record. */
  readonly consent: Consent | null;
  readonly lastChangedAt: Date;
  /** Null unless the item is present and personal data is exported. */
  readonly data: Fields | null;
  /** The record of the attendee behind the item, if they are shown. */
  readonly attendee: Fields | null;
}

interface ItemRow extends Pick<ExportedItem, 'key' | 'sessionId' | 'revision' | 'consent' | 'lastChangedAt'> {
  readonly visibility: Visibility | null;
  readonly origin: Buffer | null;
  readonly expired: boolean;
  readonly payload: string | null;
  readonly attendee: string | null;
}

/** The people and data that an export shows. */
export interface ExportTerms {
  /** Whether the data of the items is exported, and not only their keys and states. */
  readonly personal: boolean;
  /** Consent states whose people are shown. */
  readonly accepts: ReadonlySet<Consent>;
}

/**
 * Rows of a batch. A batch is one statement on the primary key, short enough for a store that serves a live event
 * meanwhile.
 */
const batchRows = 500;

/**
 * Yields the stored items of a list in batches, by key. Deleted and erased items are left out. Authors are shown as
 * deliveries to sinks show them: named now and when the item was stored, with a consent that is accepted. An own record
 * of a person whose consent is not accepted has no data. Keys are ids of the service or keyed hashes, so their order says
 * nothing about authors that is not shown.
 */
export async function* exportedItems(
  ledger: Ledger,
  { pigeonholeNumber, list }: { readonly pigeonholeNumber: number; readonly list: string },
  terms: ExportTerms,
): AsyncGenerator<readonly ExportedItem[], void, undefined> {
  for (let after: string | null = null; ;) {
    const rows: ItemRow[] = await ledger.db.query<ItemRow>(
      `select i.key, i.session_id as "sessionId", i.revision, i.visibility, i.origin, i.expired,
         i.seen_at as "lastChangedAt", ${consentBehind} as consent,
         case when $4::boolean and not i.expired then i.payload end as payload,
         case when $4::boolean and not a.expired then a.payload end as attendee
       from items i
         left join lateral (select * from items where pigeonhole_number = i.pigeonhole_number and list = 'attendees'
           and key = i.attendee_id::text and payload is not null and i.list <> 'attendees' limit 1) a on true
       where i.pigeonhole_number = $1 and i.list = $2 and i.payload is not null and ($3::text is null or i.key > $3)
       order by i.key limit ${batchRows}`,
      [pigeonholeNumber, list, after, terms.personal],
    );
    if (rows.length > 0) yield await shown(ledger, { pigeonholeNumber, list }, rows, terms);
    if (rows.length < batchRows) return;
    after = rows.at(-1)!.key;
  }
}

async function shown(
  ledger: Ledger,
  { pigeonholeNumber, list }: { readonly pigeonholeNumber: number; readonly list: string },
  rows: readonly ItemRow[],
  { accepts }: ExportTerms,
): Promise<ExportedItem[]> {
  const rule = personRuleOf(list);
  const interactions = rows.map(({ key, sessionId, origin }) => ({ list, key, sessionId, origin }));
  // The setting of a session may have changed after the row was written (`toCandidates`).
  const judge = await loadJudge(ledger.db, pigeonholeNumber, interactions);
  return rows.map((row, index) => {
    const { key, sessionId, revision, lastChangedAt, visibility, consent, expired } = row;
    const isAccepted = acceptsPerson(consent, accepts);
    const isNamed =
      visibility === 'named' && (!judgedLists.has(list) || judge(interactions[index]!).visibility === 'named');
    const isOwn = rule === 'own-record';
    const isShown = isAccepted && (isOwn || isNamed);
    const isWithheld = isOwn && !isAccepted;
    const data = row.payload === null || isWithheld ? null : (JSON.parse(row.payload) as Fields);
    return {
      key,
      sessionId,
      revision,
      state: isWithheld ? 'withheld' : expired ? 'expired' : 'present',
      author: rule === 'none' || isOwn ? null : isShown ? 'named' : 'anonymous',
      consent: isOwn || isShown ? consent : null,
      lastChangedAt,
      data: data === null || rule === 'none' || isShown ? data : withoutIdentity(data),
      attendee: row.attendee === null || !isShown ? null : (JSON.parse(row.attendee) as Fields),
    };
  });
}
