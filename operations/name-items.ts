import { hasPublicTitles, type ItemName, nounOf, titleOf } from '../base/item-titles.js';
import { questionLists } from '../base/lists.js';
import type { Fields } from '../ledger/item-form.js';
import type { Ledger } from '../ledger/ledger.js';

/** An item of a pigeonhole; 0: of the workspace itself. */
export interface NamedItem {
  readonly workspace: string;
  readonly pigeonholeId: number;
  readonly list: string;
  readonly key: string;
}

interface NameRow {
  readonly n: number;
  readonly own: string | null;
  readonly person: string | null;
  readonly session: string | null;
  readonly event: string | null;
}

/**
 * Returns what items are called, in the order of the items. The only function that names an item, for the API, and so for
 * the page and the command line.
 * @param options.personal false: without names and texts of people
 */
export async function nameItems(
  { db }: Pick<Ledger, 'db'>,
  items: readonly NamedItem[],
  { personal }: { readonly personal: boolean },
): Promise<ItemName[]> {
  const rows = items.length === 0 ? [] : await readNames(db, items, personal);
  const byNumber = new Map(rows.map((row) => [row.n, row]));
  return items.map(({ list }, at) => {
    const row = byNumber.get(at + 1);
    return {
      noun: nounOf(list),
      title: titleIn(list, row?.own),
      person: titleIn('attendees', row?.person),
      session: list === 'sessions' ? null : titleIn('sessions', row?.session),
      event: titleIn('pigeonholes', row?.event),
    };
  });
}

/** Returns the titles of events, in their order; null: not known, or the lists of a workspace. */
export async function eventTitles(
  ledger: Pick<Ledger, 'db'>,
  places: readonly Pick<NamedItem, 'workspace' | 'pigeonholeId'>[],
): Promise<(string | null)[]> {
  const events = places.map(({ workspace, pigeonholeId }) => ({
    workspace,
    pigeonholeId,
    list: 'pigeonholes',
    key: String(pigeonholeId),
  }));
  return (await nameItems(ledger, events, { personal: false })).map(({ event }) => event);
}

function titleIn(list: string, payload: string | null | undefined): string | null {
  return payload == null ? null : titleOf(list, JSON.parse(payload) as Fields);
}

/**
 * Reads the payloads that hold the titles, each by its key. The activity of an attendee is called by its person. A question
 * that is in both lists is the same one, so that it keeps its name when one of them no longer has it.
 */
async function readNames(db: Ledger['db'], items: readonly NamedItem[], personal: boolean): Promise<NameRow[]> {
  return await db.query<NameRow>(
    `select n.n::int as n, case when $5 or n.list = any($6::text[]) then coalesce(i.payload, twin.payload) end as own,
       case when $5 and i.visibility = 'named' then a.payload end as person, s.payload as session, e.payload as event
     from unnest($1::text[], $2::int8[], $3::text[], $4::text[]) with ordinality as n (workspace, pigeonhole_id, list, key, n)
       join pigeonholes p on p.workspace = n.workspace and p.pigeonhole_id = n.pigeonhole_id
       left join pigeonholes w on w.workspace = n.workspace and w.pigeonhole_id = 0
       left join lateral (select session_id, attendee_id, visibility, case when not expired then payload end as payload
         from items where pigeonhole_number = p.pigeonhole_number and list = n.list and key = n.key limit 1) i on true
       left join lateral (select payload from items
         where pigeonhole_number = p.pigeonhole_number and list = any($7::text[]) and key = n.key and n.list = any($7::text[])
           and payload is not null and not expired limit 1) twin on i.payload is null
       left join lateral (select payload from items
         where pigeonhole_number = p.pigeonhole_number and list = 'attendees' and key = i.attendee_id::text and not expired limit 1) a on true
       left join lateral (select payload from items
         where pigeonhole_number = p.pigeonhole_number and list = 'sessions' and key = i.session_id::text limit 1) s on true
       left join lateral (select payload from items
         where pigeonhole_number = w.pigeonhole_number and list = 'pigeonholes' and key = n.pigeonhole_id::text limit 1) e on true`,
    [
      items.map(({ workspace }) => workspace),
      items.map(({ pigeonholeId }) => pigeonholeId),
      items.map(({ list }) => list),
      items.map(({ key }) => key),
      personal,
      [...new Set(items.map(({ list }) => list))].filter(hasPublicTitles),
      [...questionLists],
    ],
  );
}
