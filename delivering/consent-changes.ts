import { chunksOf } from '../base/grouping.js';
import { listsOfPeople } from '../base/lists.js';
import { listSet } from '../ledger/sql-expressions.js';
import type { Queryable } from '../ledger/drivers/database.js';
import { refreshShown } from '../ledger/deliveries.js';
import { engagementList } from '../base/lists.js';
import { type Consent, consentStates } from '../ledger/seen-item.js';
import type { Candidate, CandidateRow } from './candidates.js';
import { waitsForAPerson } from './dead-letters.js';

/** Attendees whose record a batch has checked. */
export interface CheckedPeople {
  /**
   * Attendees by key. `mayShow` is false while their record waits for an earlier revision: the sink may then hide their
   * identity, but not show it.
   */
  readonly people: ReadonlyMap<string, { readonly mayShow: boolean }>;
  /**
   * Also includes all attendees whose record changed after sequence `after`, up to `until`. Set for sinks that do not
   * receive attendee records.
   */
  readonly between: { readonly after: number; readonly until: number } | null;
}

/**
 * Returns the people whose own record is in this batch. If their consent has changed, the sink has to correct their
 * items. `mayShow` is false while their record waits for an earlier revision: the sink may then hide their identity,
 * but not show it.
 */
export function peopleAmong(blocked: readonly CandidateRow[], judged: readonly Candidate[]): CheckedPeople['people'] {
  const records = [
    ...judged.map((row) => ({ row, mayShow: true })),
    ...blocked.map((row) => ({ row, mayShow: false })),
  ];
  return new Map(
    records.filter(({ row }) => row.list === 'attendees').map(({ row, mayShow }) => [row.key, { mayShow }]),
  );
}

/**
 * Makes interactions of these people (the items that they created) due again if the sink holds them in another form
 * than pigeonpost would send now. Either they lack the identity although it may be shown (the sink may have ignored the
 * item then), or they contain it although it must be hidden. The second case includes items whose last change the sink
 * has rejected, since it may still hold an earlier one. Skips items whose last change is not settled, because that
 * change will be sent anyway. The caller holds the lane's lock.
 * @param accepts consent states whose records the sink accepts; only a sink that accepts all of them receives the
 * identity of people without a record
 */
export async function refreshInteractions(
  tx: Queryable,
  lane: LaneName,
  accepts: ReadonlySet<Consent>,
  checked: CheckedPeople,
): Promise<void> {
  await refreshItems(tx, lane, accepts, checked, null);
}

/**
 * For sinks that receive every revision: makes the last engagement counts of these people due again if they were
 * withheld because of a consent that the sink accepts now. Without this, counts that do not change after the consent
 * would never arrive. A change of the consent is a revision of the other records of a person (attendees and
 * registrants), so these need no release. The caller holds the lane's lock.
 */
export async function releaseEngagement(
  tx: Queryable,
  lane: LaneName,
  accepts: ReadonlySet<Consent>,
  checked: CheckedPeople,
): Promise<void> {
  await refreshItems(tx, lane, accepts, checked, engagementList);
}

type LaneName = { readonly sinkId: number; readonly pigeonholeNumber: number };

/** @param withheldList only items of this list that were withheld and may be sent now; null: see `refreshInteractions` */
async function refreshItems(
  tx: Queryable,
  lane: LaneName,
  accepts: ReadonlySet<Consent>,
  { people, between }: CheckedPeople,
  withheldList: string | null,
): Promise<void> {
  const checked = new Map([...people].map(([id, { mayShow }]) => [id, mayShow]));
  if (between !== null)
    for (const id of await changedBetween(tx, lane.pigeonholeNumber, between)) checked.set(id, true);
  // A statement handles only some of the people, because each may have many items.
  const rules = {
    accepts: [...accepts],
    acceptsUnknown: consentStates.every((state) => accepts.has(state)),
    except: waitsForAPerson,
    withheldList,
  };
  for (const some of chunksOf([...checked], peopleAtOnce)) await refreshShown(tx, lane, some, rules);
}

/** Number of people whose interactions one statement reads. */
const peopleAtOnce = 200;

/**
 * Returns the attendees whose record changed in a range of sequences. The range is bounded by the number of changes
 * that a batch reads (`newChanges`).
 */
async function changedBetween(
  tx: Queryable,
  pigeonholeNumber: number,
  { after, until }: NonNullable<CheckedPeople['between']>,
): Promise<string[]> {
  const rows = await tx.query<{ key: string }>(
    `select distinct key from changes
     where pigeonhole_number = $1 and list = 'attendees' and sequence > $2 and sequence <= $3`,
    [pigeonholeNumber, after, until],
  );
  return rows.map(({ key }) => key);
}

/** Withdrawals within this time are counted together, so that many small groups are noticed as well. */
const countedForMs = 60 * 60_000;

/**
 * Returns the number of further people whose removal a sink may receive in a pigeonhole before an operator has to
 * confirm. As with deletions, removals are held only if they exceed two limits: a number of people, and a share of the
 * people sent to the sink. A registrant's record counts like an attendee's: a sink may receive only one of the two.
 */
export async function withdrawalsLeft(
  tx: Queryable,
  { sinkId, pigeonholeNumber }: LaneName,
  above: { readonly share: number; readonly items: number },
): Promise<number> {
  const [row] = await tx.query<{ sent: number; withdrawn: number }>(
    `select
       (select count(distinct (list, key))::int from deliveries
        where sink_id = $1 and pigeonhole_number = $2 and list in ${listSet(listsOfPeople)} and identity) as sent,
       (select count(*)::int from deliveries d join changes c on c.pigeonhole_number = d.pigeonhole_number
         and c.sequence = d.sequence
        where d.sink_id = $1 and d.pigeonhole_number = $2 and d.list in ${listSet(listsOfPeople)}
          and d.identity = false and c.kind <> 'deleted'
          and d.updated_at > now() - $3 * interval '1 millisecond') as withdrawn`,
    [sinkId, pigeonholeNumber, countedForMs],
  );
  return Math.max(above.items, Math.floor(above.share * row!.sent)) - row!.withdrawn;
}
