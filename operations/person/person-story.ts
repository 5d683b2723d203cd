import type { ItemName } from '../../base/item-titles.js';
import { interactionLists, questionLists } from '../../base/lists.js';
import type { Fields } from '../../ledger/item-form.js';
import type { Ledger } from '../../ledger/ledger.js';
import { shownItem } from '../../ledger/shown-items.js';
import { importRowsOfPerson } from '../../people/export-person.js';
import { addressesIn, findPerson, type PersonPlace } from '../../people/find-person.js';
import { consentOf } from '../../reading/to-items.js';
import { nameItems } from '../name-items.js';
import { instantMs } from '../../base/instant.js';

/*
 * The story of one attendee: who they are, what they did under their name, and what each sink has of that. Nothing of what
 * they did anonymously is part of it, because nobody may see whose it is.
 */

export interface PersonAsked {
  readonly workspace: string;
  readonly pigeonholeId: number;
  readonly pigeonholeNumber: number;
  readonly attendeeId: number;
  /** Other pigeonholes of the person are found in this workspace only; null: in all. */
  readonly within: string | null;
}

/** Something that the person did. */
interface Deed {
  readonly list: string;
  readonly key: string;
  readonly revision: number;
  readonly deleted: boolean;
  readonly sessionId: number | null;
  /** Instant of the deed, as the service says; null: not known. */
  readonly at: string | null;
  /** Last change that pigeonpost recorded. */
  readonly changedAt: string;
  readonly name: ItemName;
}

/** A number of the person's items by what became of their latest revision at a sink. */
interface HeldItems {
  readonly sink: string;
  readonly list: string;
  readonly state: string;
  readonly reason: string | null;
  readonly identity: boolean | null;
  readonly items: number;
}

interface ConsentState {
  readonly consent: string;
  /** Instant at which pigeonpost found it. */
  readonly foundAt: string;
  /** Instant of the person's decision, as the service says; null: not known. */
  readonly obtainedAt: string | null;
}

export interface PersonStory {
  /** Name of the person; null: their record has none, or is no longer stored. */
  readonly name: string | null;
  readonly event: string | null;
  /** Their record; null: deleted in the service, or expired. */
  readonly profile: Fields | null;
  readonly deleted: boolean;
  readonly revision: number;
  readonly codes: readonly string[];
  readonly addresses: readonly string[];
  /** Oldest first: the state of each stored revision in which it changed. */
  readonly consent: readonly ConsentState[];
  /** The same code or address in other pigeonholes. */
  readonly elsewhere: readonly {
    readonly workspace: string;
    readonly pigeonholeId: number;
    readonly attendeeId: number;
    readonly event: string | null;
  }[];
  /** Newest first. */
  readonly deeds: readonly Deed[];
  readonly moreDeeds: boolean;
  readonly held: readonly HeldItems[];
  readonly importRows: Awaited<ReturnType<typeof importRowsOfPerson>>;
}

/** Maximum number of items that a story tells. */
const maxDeeds = 500;
/** Maximum number of codes and addresses by which it looks for the person in other pigeonholes. */
const maxNames = 20;
/** Maximum number of other pigeonholes that it names. */
const maxElsewhere = 50;

/**
 * Tells the story of an attendee; undefined if the ledger has none with this id in the pigeonhole, or no longer since an
 * erasure.
 */
export async function personStory(ledger: Ledger, asked: PersonAsked): Promise<PersonStory | undefined> {
  const { workspace, pigeonholeId, pigeonholeNumber, attendeeId } = asked;
  const key = String(attendeeId);
  const found = await findPerson(ledger, { by: 'id', text: key, workspace });
  const place = found.find((each) => each.pigeonholeNumber === pigeonholeNumber);
  const record = await shownItem(ledger, { pigeonholeNumber, list: 'attendees', key });
  if (place === undefined || record === undefined) return undefined;
  const own: PersonPlace = { ...place, attendeeIds: [attendeeId] };
  const addresses = record.data === null ? [] : [...addressesIn([record.data])];
  const [names, consent, elsewhere, { deeds, more }, held, importRows] = await Promise.all([
    nameItems(ledger, [{ workspace, pigeonholeId, list: 'attendees', key }], { personal: true }),
    consentsOf(ledger, { pigeonholeNumber, key }, record.data),
    placesOf(ledger, { ...asked, codes: place.codes, addresses }),
    deedsOf(ledger, asked),
    heldItems(ledger, asked),
    importRowsOfPerson(ledger, [own]),
  ]);
  return {
    name: names[0]!.title,
    event: names[0]!.event,
    profile: record.data,
    deleted: record.deleted,
    revision: record.revision,
    codes: place.codes,
    addresses,
    consent,
    elsewhere,
    deeds,
    moreDeeds: more,
    held,
    importRows,
  };
}

/** Returns the consent of each stored revision, without those that repeat the one before. */
async function consentsOf(
  { db }: Pick<Ledger, 'db'>,
  { pigeonholeNumber, key }: { readonly pigeonholeNumber: number; readonly key: string },
  current: Fields | null,
): Promise<ConsentState[]> {
  const rows = await db.query<{ foundAt: Date; snapshot: string | null; consent: string | null }>(
    `select found_at as "foundAt", snapshot, null as consent, sequence from changes
     where pigeonhole_number = $1 and list = 'attendees' and key = $2 and snapshot is not null
     union all
     select c.found_at, null, i.consent, c.sequence from items i cross join lateral (
       select found_at, sequence from changes where pigeonhole_number = $1 and sequence = i.last_sequence limit 1) c
     where i.pigeonhole_number = $1 and i.list = 'attendees' and i.key = $2 and i.payload is not null
     order by sequence`,
    [pigeonholeNumber, key],
  );
  const states = rows.flatMap(({ foundAt, snapshot, consent }): ConsentState[] => {
    const fields = snapshot === null ? (current ?? {}) : (JSON.parse(snapshot) as Fields);
    const state = snapshot === null ? consent : consentOf(fields['consent']);
    return state === null ? [] : [{ consent: state, foundAt: foundAt.toISOString(), obtainedAt: decidedAt(fields) }];
  });
  return states.filter(({ consent }, at) => consent !== states[at - 1]?.consent);
}

function decidedAt(fields: Fields): string | null {
  const { obtainedAt } = (fields['consent'] ?? {}) as Fields;
  return instantOf(obtainedAt);
}

/** Returns an instant of the service in ISO 8601; null: it is none. */
function instantOf(value: unknown): string | null {
  const ms = typeof value === 'string' ? instantMs(value) : undefined;
  return ms === undefined ? null : new Date(ms).toISOString();
}

interface Names {
  readonly codes: readonly string[];
  readonly addresses: readonly string[];
}

/** Returns the attendees of other pigeonholes with one of these codes or addresses. */
async function placesOf(
  ledger: Ledger,
  { pigeonholeNumber, attendeeId, within, codes, addresses }: PersonAsked & Names,
): Promise<PersonStory['elsewhere']> {
  const names = [
    ...codes.map((text) => ({ by: 'code' as const, text })),
    ...addresses.map((text) => ({ by: 'email' as const, text })),
  ].slice(0, maxNames);
  const found: PersonPlace[] = [];
  // One at a time: a record can have many addresses, and each search takes a connection to the store.
  for (const name of names) found.push(...(await findPerson(ledger, { ...name, workspace: within })));
  const others = found.flatMap(({ pigeonholeNumber: number, workspace, pigeonholeId, attendeeIds }) =>
    attendeeIds
      .filter((id) => number !== pigeonholeNumber || id !== attendeeId)
      .map((id) => ({ workspace, pigeonholeId, attendeeId: id })),
  );
  const distinct = [...new Map(others.map((each) => [JSON.stringify(each), each])).values()].slice(0, maxElsewhere);
  const named = distinct.map((each) => ({ ...each, list: 'attendees', key: String(each.attendeeId) }));
  const titles = await nameItems(ledger, named, { personal: false });
  return distinct.map((each, at) => ({ ...each, event: titles[at]!.event }));
}

/**
 * SQL: the items of the subject `$2`. The fence leaves the planner only the index on subjects. Without statistics, it would
 * take the primary key, and read every item of the event.
 */
const ownItems = '(select * from items where subject = $2 and not erased offset 0) own_items';

interface DeedRow {
  readonly list: string;
  readonly key: string;
  readonly revision: number;
  readonly deleted: boolean;
  readonly sessionId: number | null;
  readonly seenAt: Date;
  readonly payload: string | null;
}

/** Returns what the person did under their name, newest first. A question that is in both lists appears once. */
async function deedsOf(
  ledger: Ledger,
  { workspace, pigeonholeId, pigeonholeNumber, attendeeId }: PersonAsked,
): Promise<{ deeds: Deed[]; more: boolean }> {
  const rows = await ledger.db.query<DeedRow>(
    `select list, key, revision, payload is null as deleted, session_id as "sessionId", seen_at as "seenAt",
       case when not expired then payload end as payload
     from ${ownItems} where pigeonhole_number = $1 and visibility = 'named' and list = any($3::text[])
     order by last_sequence desc limit $4`,
    [pigeonholeNumber, ledger.hash.subject(workspace, attendeeId, 'named'), interactionLists, maxDeeds + 1],
  );
  const flagged = new Set(rows.filter(({ list }) => list === 'qna-questions').map(({ key }) => key));
  const own = rows
    .slice(0, maxDeeds)
    .filter(({ list, key }) => !questionLists.has(list) || list === 'qna-questions' || !flagged.has(key));
  const items = own.map(({ list, key }) => ({ workspace, pigeonholeId, list, key }));
  const names = await nameItems(ledger, items, { personal: true });
  const deeds = own.map(({ payload, seenAt, ...row }, at): Deed => {
    const { createdAt } = payload === null ? {} : (JSON.parse(payload) as Fields);
    return { ...row, at: instantOf(createdAt), changedAt: seenAt.toISOString(), name: names[at]! };
  });
  const instant = ({ at, changedAt }: Deed): number => Date.parse(at ?? changedAt);
  return { deeds: deeds.toSorted((a, b) => instant(b) - instant(a)), more: rows.length > maxDeeds };
}

/**
 * Counts the person's items by what became of their latest revision at each sink that is not archived. `behind` and `passed`
 * mean the same as in the timeline of an item.
 */
async function heldItems(
  { db, hash }: Pick<Ledger, 'db' | 'hash'>,
  { workspace, pigeonholeNumber, attendeeId }: PersonAsked,
): Promise<HeldItems[]> {
  return await db.query<HeldItems>(
    `with own as materialized (
       select list, key, last_sequence from ${ownItems} where pigeonhole_number = $1 and list <> 'attendees')
     select s.name as sink, o.list, coalesce(d.state, case when o.last_sequence > l.watermark then 'behind' else 'passed' end) as state,
       d.reason, d.identity, count(*)::int as items
     from lanes l join sinks s on s.id = l.sink_id and s.archived_at is null
       cross join lateral (select case when l.lists = '' then null else string_to_array(l.lists, ' ') end as names) accepted
       join own o on (accepted.names is null or o.list = any(accepted.names))
         -- a question that is in both lists counts once, in the one with the anonymity flag
         and not (o.list = 'questions' and (accepted.names is null or 'qna-questions' = any(accepted.names))
           and exists (select 1 from own twin where twin.list = 'qna-questions' and twin.key = o.key))
       left join lateral (select state, reason, identity from deliveries
         where sink_id = l.sink_id and pigeonhole_number = $1 and sequence = o.last_sequence
         order by array_position(array['sending', 'waiting', 'retry', 'dead', 'delivered', 'withheld'], state) nulls last,
           replay desc limit 1) d on true
     where l.pigeonhole_number = $1 group by 1, 2, 3, 4, 5 order by 1, 2, 3, 4, 5`,
    [pigeonholeNumber, hash.subject(workspace, attendeeId, 'named')],
  );
}
