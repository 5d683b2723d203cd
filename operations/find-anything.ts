import {
  type ItemName,
  nameInWords,
  placeInWords,
  hasPublicTitles,
  searchedLists,
  searchedTexts,
} from '../base/item-titles.js';
import { questionLists } from '../base/lists.js';
import { matchOf, searchedWords, wordsIn } from '../base/search-words.js';
import type { Config } from '../config/config.js';
import type { Fields } from '../ledger/item-form.js';
import type { Ledger } from '../ledger/ledger.js';
import { followChanges } from '../ledger/search/entries.js';
import { findEntries, type FoundEntry } from '../ledger/search/find-entries.js';
import { findPerson, waysToName } from '../people/find-person.js';
import { itemNamed } from './command-input.js';
import { nameItems, type NamedItem } from './name-items.js';

/** Something that a text finds: an item by list and key, else a sink, a workspace or an import by its name. */
export interface Hit {
  readonly kind: 'item' | 'sink' | 'workspace' | 'import';
  /** Its title or name. */
  readonly title: string;
  /** Its kind and its place, in words. */
  readonly about: string;
  /** Name of a sink or a workspace, number of an import; null for an item. */
  readonly name: string | null;
  /** Set for an item; null otherwise. */
  readonly item: NamedItem | null;
}

export interface Found {
  readonly hits: readonly Hit[];
  /** There are more hits than were returned, or more candidates than were compared. */
  readonly more: boolean;
  /** Number of changes that the search does not know yet; a later search does. */
  readonly unread: number;
}

export interface FindRequest {
  readonly text: string;
  /** Null: every workspace. */
  readonly workspace: string | null;
  /** Names of the sinks that the caller may see. */
  readonly sinks: readonly string[];
  /** Whether people and what they wrote are searched. */
  readonly personal: boolean;
  readonly limit: number;
}

/** Maximum number of items whose words are compared. */
const maxCompared = 400;
/** Maximum time in one request for adding what was read since the last search. */
const followMs = 300;

type Sources = { readonly ledger: Ledger; readonly config: Pick<Config, 'workspaces'> };

/**
 * Finds what a text may mean: `list:key`, an id, an e-mail address or a code of a person, or the beginnings of words in
 * titles, names and questions. The most certain come first.
 */
export async function findAnything({ ledger, config }: Sources, asked: FindRequest): Promise<Found> {
  const text = asked.text.trim();
  const words = searchedWords(text);
  const unread = await followChanges(ledger, { workspace: asked.workspace, budgetMs: followMs, firstRead: 'counts' });
  const [keyed, people, { items, more }, imports] = await Promise.all([
    itemsWithKey(ledger, text, asked),
    asked.personal ? peopleNamed(ledger, text, asked) : [],
    itemsWithWords(ledger, words, asked),
    importsNamed(ledger, words, text, asked),
  ]);
  const found = [...new Map([...keyed, ...people, ...items].map((item) => [JSON.stringify(item), item])).values()];
  const shown = found.slice(0, asked.limit);
  const names = await nameItems(ledger, shown, { personal: asked.personal });
  const hits = [...configured(config, words, asked), ...shown.map((item, at) => itemHit(item, names[at]!)), ...imports];
  return {
    hits: hits.slice(0, asked.limit),
    more: more || hits.length > asked.limit || found.length > shown.length,
    unread,
  };
}

function itemHit(item: NamedItem, name: ItemName): Hit {
  const place = placeInWords(name);
  const event = `${item.workspace}/${item.pigeonholeId}`;
  const where = place === '' ? `in ${item.pigeonholeId === 0 ? item.workspace : event}` : `in ${place}`;
  const title = nameInWords(name);
  const what = name.title === null ? `${item.list}:${item.key}` : name.noun;
  const about = item.list === 'pigeonholes' ? `${name.noun} of ${item.workspace}` : `${what} ${where}`;
  return { kind: 'item', title, about, name: null, item };
}

/** Returns the configured names in which each word begins a part. */
function configured(
  { workspaces }: Sources['config'],
  words: readonly string[],
  { workspace, sinks }: FindRequest,
): Hit[] {
  const own = Object.keys(workspaces).filter((name) => workspace === null || name === workspace);
  const hit = (kind: 'sink' | 'workspace', noun: string) => (name: string) => ({
    kind,
    title: name,
    about: noun,
    name,
    item: null,
  });
  const named = (name: string): boolean => words.length > 0 && matchOf(words, wordsIn([name])).matches;
  return [...sinks.filter(named).map(hit('sink', 'a sink')), ...own.filter(named).map(hit('workspace', 'a workspace'))];
}

/** Returns the items whose key is the text, in every pigeonhole: `list:key`, or an id in the lists that are searched. */
async function itemsWithKey(
  { db }: Ledger,
  text: string,
  { workspace, limit }: Pick<FindRequest, 'workspace' | 'limit'>,
): Promise<NamedItem[]> {
  const named = itemNamed(text);
  const lists = 'list' in named ? [named.list] : /^[1-9]\d{0,14}$/.test(text) ? searchedLists : [];
  if (lists.length === 0) return [];
  const rows = await db.query<NamedItem>(
    `select p.workspace, p.pigeonhole_id as "pigeonholeId", n.list, i.key
     from pigeonholes p cross join unnest($1::text[]) with ordinality as n (list, n)
       cross join lateral (select key from items
         where pigeonhole_number = p.pigeonhole_number and list = n.list and key = $2 and payload is not null limit 1) i
     where $3::text is null or p.workspace = $3 order by n.n, p.workspace, p.pigeonhole_id limit $4`,
    [lists, 'list' in named ? named.key : text, workspace, limit + 1],
  );
  return 'list' in named ? rows : withoutTwins(rows);
}

/** Returns the attendees whom an e-mail address or a code names. */
async function peopleNamed(ledger: Ledger, text: string, { workspace }: FindRequest): Promise<NamedItem[]> {
  if (text.length > 400) return [];
  const ways = waysToName(text).filter(({ by }) => by !== 'id');
  const places = await Promise.all(ways.map((way) => findPerson(ledger, { ...way, workspace })));
  return places
    .flat()
    .flatMap(({ workspace: own, pigeonholeId, attendeeIds }) =>
      attendeeIds.map((id) => ({ workspace: own, pigeonholeId, list: 'attendees', key: String(id) })),
    );
}

/** Returns the items in which each word begins a word: those with more whole words first, then the newest. */
async function itemsWithWords(
  ledger: Ledger,
  words: readonly string[],
  { workspace, personal, limit }: FindRequest,
): Promise<{ items: NamedItem[]; more: boolean }> {
  if (words.length === 0) return { items: [], more: false };
  const lists = searchedLists.filter((list) => personal || hasPublicTitles(list));
  const entries = await findEntries(ledger, { words, lists, workspace, limit: maxCompared });
  const compared = entries.flatMap((entry) => {
    const texts = searchedTexts(entry.list, JSON.parse(entry.payload) as Fields);
    const { matches, whole } = matchOf(words, wordsIn(texts));
    return matches ? [{ entry, rank: [listRank(entry), -whole, -Number(entry.seenAt)] }] : [];
  });
  const sorted = compared.toSorted((a, b) => firstDifference(a.rank, b.rank)).map(({ entry }) => toItem(entry));
  const items = withoutTwins(sorted);
  return { items, more: entries.length === maxCompared || items.length > limit };
}

/** Events and sessions come first, because they are few. */
function listRank({ list }: FoundEntry): number {
  return hasPublicTitles(list) ? 0 : 1;
}

function firstDifference(a: readonly number[], b: readonly number[]): number {
  return a.map((value, at) => value - b[at]!).find((difference) => difference !== 0) ?? 0;
}

function toItem({ workspace, pigeonholeId, list, key }: FoundEntry): NamedItem {
  return { workspace, pigeonholeId, list, key };
}

/** A question has the same id in both lists of questions: only the one with the anonymity flag is shown. */
function withoutTwins(items: readonly NamedItem[]): NamedItem[] {
  const idOf = ({ workspace, pigeonholeId, key }: NamedItem): string => `${workspace}/${pigeonholeId} ${key}`;
  const flagged = new Set(items.filter(({ list }) => list === 'qna-questions').map(idOf));
  return items.filter(
    (item) => !questionLists.has(item.list) || item.list === 'qna-questions' || !flagged.has(idOf(item)),
  );
}

interface ImportRow {
  readonly number: number;
  readonly id: string;
  readonly file: string;
  readonly workspace: string;
  readonly pigeonholeId: number;
}

/** Maximum number of imports whose file names are compared, the newest first. */
const maxImports = 2000;

async function importsNamed(
  { db }: Ledger,
  words: readonly string[],
  text: string,
  { workspace }: FindRequest,
): Promise<Hit[]> {
  const rows = await db.query<ImportRow>(
    `select i.number, i.id, i.file, p.workspace, p.pigeonhole_id as "pigeonholeId"
     from imports i join pigeonholes p on p.pigeonhole_number = i.pigeonhole_number
     where $1::text is null or p.workspace = $1 order by i.number desc limit ${maxImports}`,
    [workspace],
  );
  const isNamed = ({ file, number, id }: ImportRow): boolean =>
    String(number) === text || id === text || (words.length > 0 && matchOf(words, wordsIn([file])).matches);
  return rows.filter(isNamed).map(({ number, file, workspace: own, pigeonholeId }) => ({
    kind: 'import',
    title: file,
    about: `import ${number} into ${own}/${pigeonholeId}`,
    name: String(number),
    item: null,
  }));
}
