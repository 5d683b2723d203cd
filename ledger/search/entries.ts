import { searchedLists, searchedTexts } from '../../base/item-titles.js';
import { beginningsOf, wordsIn } from '../../base/search-words.js';
import type { Queryable } from '../drivers/database.js';
import type { Fields } from '../item-form.js';
import type { Ledger } from '../ledger.js';
import { lockPlace } from '../lock-order.js';

/*
 * The index of a search (decision 0113). It follows the change log of each pigeonhole like a sink does, so that reading
 * pays nothing for it. What removes a stored text also removes its entry, in the same transaction (`dropEntries`).
 */

/** Number of sequences whose changes one step reads. Most of them are votes, which have no entry. */
const sequencesAtOnce = 2000;
/** Maximum number of entries that one transaction writes, because it holds the lock on the pigeonhole. */
const entriesAtOnce = 200;

interface Followed {
  readonly pigeonholeNumber: number;
  readonly position: number;
}

interface Budget {
  /** Null: every workspace. */
  readonly workspace: string | null;
  readonly budgetMs: number;
  /** `waits`: leaves out a pigeonhole whose lists were not all read once, so that the first read has the machine. */
  readonly firstRead: 'waits' | 'counts';
  readonly signal?: AbortSignal | undefined;
}

/**
 * Adds what was read since the last call to the index, for a limited time. Safe to run twice, also concurrently.
 * @returns the number of changes that are not in the index yet
 */
export async function followChanges(ledger: Ledger, { budgetMs, signal, ...asked }: Budget): Promise<number> {
  const until = performance.now() + budgetMs;
  const isOver = (): boolean => performance.now() > until || signal?.aborted === true;
  for (const place of await placesBehind(ledger, asked)) {
    let position: number | null = place.position;
    while (position !== null && !isOver())
      position = await followSome(ledger, { pigeonholeNumber: place.pigeonholeNumber, position });
    if (isOver()) break;
  }
  const [left] = await ledger.db.query<{ changes: number }>(
    `select coalesce(sum(p.next_sequence - 1 - coalesce(s.position, 0)), 0)::int8 as changes
     from pigeonholes p left join search_positions s on s.pigeonhole_number = p.pigeonhole_number
     where $1::text is null or p.workspace = $1`,
    [asked.workspace],
  );
  return left!.changes;
}

/** Returns the pigeonholes with changes that are not in the index, those with the fewest first. */
async function placesBehind(
  { db }: Pick<Ledger, 'db'>,
  { workspace, firstRead }: Pick<Budget, 'workspace' | 'firstRead'>,
): Promise<Followed[]> {
  return await db.query<Followed>(
    `select p.pigeonhole_number as "pigeonholeNumber", coalesce(s.position, 0) as position
     from pigeonholes p left join search_positions s on s.pigeonhole_number = p.pigeonhole_number
     where ($1::text is null or p.workspace = $1) and p.next_sequence - 1 > coalesce(s.position, 0)
       and ($2 or not exists (select 1 from streams t
         where t.pigeonhole_number = p.pigeonhole_number and t.wanted and t.gone_at is null and t.sweeps = 0))
     order by p.next_sequence - coalesce(s.position, 0), p.pigeonhole_number`,
    [workspace, firstRead === 'counts'],
  );
}

interface ReadItem {
  readonly list: string;
  readonly key: string;
  readonly sequence: number;
  /** Null: deleted, erased or expired. */
  readonly payload: string | null;
  readonly rules: string;
}

/** Continues after a position. @returns the next position; null: nothing is left, or another process continues */
async function followSome(ledger: Ledger, { pigeonholeNumber, position }: Followed): Promise<number | null> {
  const [place] = await ledger.db.query<{ head: number }>(
    'select next_sequence - 1 as head from pigeonholes where pigeonhole_number = $1',
    [pigeonholeNumber],
  );
  const { head } = place!;
  const reached = Math.min(head, position + sequencesAtOnce);
  // Only the last change of an item counts, because the item has the content after it.
  const items = await ledger.db.query<ReadItem>(
    `select c.list, c.key, c.sequence, case when not i.expired and not i.erased then i.payload end as payload, i.rules
     from changes c cross join lateral (select * from items
       where pigeonhole_number = $1 and list = c.list and key = c.key and last_sequence = c.sequence limit 1) i
     where c.pigeonhole_number = $1 and c.sequence > $2 and c.sequence <= $3 and c.list = any($4::text[]) order by c.sequence`,
    [pigeonholeNumber, position, reached, searchedLists],
  );
  let from = position;
  for (let at = 0; at === 0 || at < items.length; at += entriesAtOnce) {
    const slice = items.slice(at, at + entriesAtOnce);
    const isEnd = at + entriesAtOnce >= items.length;
    const to = isEnd ? reached : slice.at(-1)!.sequence;
    if (!(await storeEntries(ledger, pigeonholeNumber, slice, { from, to }))) return null;
    from = to;
  }
  return reached === head ? null : reached;
}

/** @returns false if another process has moved the position meanwhile, and nothing was stored */
async function storeEntries(
  { db, hash }: Pick<Ledger, 'db' | 'hash'>,
  pigeonholeNumber: number,
  items: readonly ReadItem[],
  { from, to }: { readonly from: number; readonly to: number },
): Promise<boolean> {
  const entries = items.map((item) => {
    const fields = item.payload === null ? {} : (JSON.parse(item.payload) as Fields);
    const beginnings = beginningsOf(wordsIn(searchedTexts(item.list, fields)));
    return { ...item, words: [...beginnings].map((text) => hash.beginning(text)) };
  });
  const [filled, empty] = [
    entries.filter(({ words }) => words.length > 0),
    entries.filter((each) => !each.words.length),
  ];
  return await db.transaction(async (tx) => {
    await lockPlace(tx, pigeonholeNumber);
    const moved = await tx.query(
      `insert into search_positions as s (pigeonhole_number, position) values ($1, $3)
       on conflict (pigeonhole_number) do update set position = excluded.position where s.position = $2
       returning position`,
      [pigeonholeNumber, from, to],
    );
    if (moved.length === 0) return false;
    // Under the lock, the item is checked again: what was erased or changed since it was read gets no entry here.
    await tx.query(
      `insert into search_entries (pigeonhole_number, list, key, words)
       select $1, n.list, n.key, n.words::int8[]
       from unnest($2::text[], $3::text[], $4::int8[], $5::text[], $6::text[]) as n (list, key, sequence, rules, words)
         cross join lateral (select 1 from items where pigeonhole_number = $1 and list = n.list and key = n.key
           and last_sequence = n.sequence and rules = n.rules and payload is not null and not expired and not erased limit 1) i
       on conflict (pigeonhole_number, list, key) do update set words = excluded.words`,
      [
        pigeonholeNumber,
        filled.map(({ list }) => list),
        filled.map(({ key }) => key),
        filled.map(({ sequence }) => sequence),
        filled.map(({ rules }) => rules),
        filled.map(({ words }) => `{${words.join(',')}}`),
      ],
    );
    await dropEntries(tx, pigeonholeNumber, empty);
    return true;
  });
}

/** Deletes the entries of items whose texts are no longer stored. The caller has locked the pigeonhole's row. */
export async function dropEntries(
  tx: Queryable,
  pigeonholeNumber: number,
  items: readonly { readonly list: string; readonly key: string }[],
): Promise<void> {
  const searched = items.filter(({ list }) => (searchedLists as readonly string[]).includes(list));
  if (searched.length === 0) return;
  await tx.query(
    `delete from search_entries where ctid = any(array(select e.place from unnest($2::text[], $3::text[]) as n (list, key)
       cross join lateral (select ctid as place from search_entries
         where pigeonhole_number = $1 and list = n.list and key = n.key limit 1) e))`,
    [pigeonholeNumber, searched.map(({ list }) => list), searched.map(({ key }) => key)],
  );
}

/**
 * Makes the index read these items again, because what is stored of them has changed without a change of theirs. Their
 * entries are deleted immediately. The caller has locked the pigeonhole's row.
 */
export async function renewEntries(
  tx: Queryable,
  pigeonholeNumber: number,
  items: readonly { readonly list: string; readonly key: string; readonly sequence: number }[],
): Promise<void> {
  if (items.length === 0) return;
  await dropEntries(tx, pigeonholeNumber, items);
  await tx.query('update search_positions set position = least(position, $2::int8) where pigeonhole_number = $1', [
    pigeonholeNumber,
    Math.min(...items.map(({ sequence }) => sequence)) - 1,
  ]);
}
