import type { Config } from '../config/config.js';
import { nearestWord } from '../config/nearest-word.js';
import { type ListName, listNames } from '../base/lists.js';
import { type SeenFields, fieldNames, seenFields } from '../ledger/seen-fields.js';
import { expressionsIn, type PlacedExpression } from '../sinks/mapping/expression-schema.js';
import { fieldKey } from '../sinks/mapping/mapping-functions.js';
import { mentionedFields, type Mention, type ViewPart } from '../sinks/mapping/mentioned-fields.js';
import type { Ledger } from '../ledger/ledger.js';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { openDatabase } from '../ledger/drivers/open-database.js';
import { StoreError } from '../ledger/drivers/store-error.js';

/** Fields seen in stored items, by list and pigeonhole. */
export type SeenByList = ReadonlyMap<string, readonly SeenFields[]>;

/** Returns the lists whose fields the expressions of all sinks read, which `fieldNotes` needs. Empty without expressions. */
export function mentionedLists(config: Pick<Config, 'sinks'>): ListName[] {
  const lists = allExpressions(config).flatMap((placed) =>
    mentionedFields(placed.expression).flatMap((mention) => sourcesOf(mention, placed)),
  );
  return listNames.filter((list) => lists.includes(list));
}

/**
 * Returns a sentence for each field that an expression reads and that no stored item has in at least one of the sink's
 * pigeonholes. Events name the same profile field differently, and a mapping that finds no value fails silently. Lists
 * without stored items are left out. Pure.
 */
export function fieldNotes(config: Pick<Config, 'syncs' | 'sinks'>, seen: SeenByList): string[] {
  return allExpressions(config).flatMap((placed) =>
    mentionedFields(placed.expression).flatMap((mention) => noteOf(placed, mention, config, seen)),
  );
}

interface SinkExpression extends PlacedExpression {
  readonly sink: string;
}

function allExpressions(config: Pick<Config, 'sinks'>): SinkExpression[] {
  return Object.keys(config.sinks).flatMap((sink) => expressionsOf(config, sink));
}

function expressionsOf({ sinks }: Pick<Config, 'sinks'>, sink: string): SinkExpression[] {
  return expressionsIn(sinks[sink]?.settings).map((placed) => ({ ...placed, sink }));
}

const listOfPart: Readonly<Partial<Record<ViewPart, string>>> = {
  attendee: 'attendees',
  session: 'sessions',
  pigeonhole: 'pigeonholes',
};

/** Returns the lists whose items may have a mentioned field. */
function sourcesOf(mention: Mention, { from }: PlacedExpression): string[] {
  if (mention.of === 'field') return [...new Set(['attendees', ...(from === undefined ? [] : [from])])];
  const list = mention.of === 'item' || mention.of === 'previous' ? from : listOfPart[mention.of];
  return list === undefined || mention.path.length === 0 ? [] : [list];
}

/** A field that an expression reads and that no stored item has. */
interface Unseen {
  /** The field as the expression names it. */
  readonly reads: string;
  /** Lists whose items may have it. */
  readonly lists: readonly string[];
  /** Pigeonholes in which it was not seen. */
  readonly places: readonly string[];
  /** The existing fields: the one that was probably intended, otherwise all. */
  readonly seen: string;
  /** Whether an existing field has nearly the same name. */
  readonly isMisspelled: boolean;
}

function unseenOf(
  placed: SinkExpression,
  mention: Mention,
  config: Pick<Config, 'syncs'>,
  seen: SeenByList,
): Unseen | null {
  const lists = sourcesOf(mention, placed);
  const places = lists.flatMap((list) => seen.get(list) ?? []).filter(isSentTo(config, placed.sink));
  const names = [...new Set(places.map(placeName))];
  const lacking = names.filter((name) => {
    const fields = places.filter((place) => placeName(place) === name).flatMap((place) => place.fields);
    return !hasField(fields, mention);
  });
  if (lacking.length === 0) return null;
  const fields = places.filter((place) => lacking.includes(placeName(place))).flatMap((place) => place.fields);
  const reads = mention.of === 'field' ? `$field(${mention.names.map(quoted).join(', ')})` : written(mention);
  const { words, isNear } = alike(mention, fields);
  return { reads, lists, places: lacking, seen: words, isMisspelled: isNear };
}

function noteOf(placed: SinkExpression, mention: Mention, config: Pick<Config, 'syncs'>, known: SeenByList): string[] {
  const unseen = unseenOf(placed, mention, config, known);
  if (unseen === null) return [];
  const { reads, lists, places, seen } = unseen;
  const { place } = placed.expression;
  const where =
    place === undefined ? `${placed.sink}.${placed.key}` : `${place.key.replace(/^sinks\./, '')} (line ${place.line})`;
  return [`${where} reads ${reads}, never seen on ${lists.join(' or ')} of ${formatPlaces(places)}; seen: ${seen}`];
}

/**
 * Returns the first field that these expressions of a sink read and no stored item has, as `reads item.email; fields
 * seen: "Email"`; null if there is none.
 * @param which `misspelled`: only a field whose name is nearly that of an existing one
 */
export function unseenFields(
  config: Pick<Config, 'syncs' | 'sinks'>,
  {
    sink,
    keys,
    which,
  }: { readonly sink: string; readonly keys: readonly string[]; readonly which: 'all' | 'misspelled' },
  seen: SeenByList,
): string | null {
  const first = expressionsOf(config, sink)
    .filter(({ key }) => keys.includes(key))
    .flatMap((placed) =>
      mentionedFields(placed.expression).flatMap((mention) => unseenOf(placed, mention, config, seen) ?? []),
    )
    .find(({ isMisspelled }) => which !== 'misspelled' || isMisspelled);
  return first === undefined ? null : `reads ${first.reads}; fields seen: ${first.seen}`;
}

/** Whether a sync of the sink reads the pigeonhole: all of its workspace, or only those that the sync names. */
function isSentTo(config: Pick<Config, 'syncs'>, sink: string): (place: SeenFields) => boolean {
  const syncs = Object.values(config.syncs).filter(({ sinks }) => sinks.includes(sink));
  return ({ workspace, pigeonholeId }) =>
    syncs.some(
      (sync) =>
        sync.workspace === workspace &&
        (pigeonholeId === 0 || !('ids' in sync.pigeonholes) || sync.pigeonholes.ids.includes(pigeonholeId)),
    );
}

function hasField(fields: SeenFields['fields'], mention: Mention): boolean {
  if (mention.of === 'field') {
    const keys = new Set(mention.names.map(fieldKey));
    return fields.some(({ field, member }) => member === null && keys.has(fieldKey(field)));
  }
  const [name, member] = mention.path;
  const own = fields.filter(({ field }) => field === name);
  if (own.length === 0 || member === undefined) return own.length > 0;
  // The members of other values, such as lists or JSON texts that JSONata searches, are not known, so they may exist.
  const isObject = own.some(({ types }) => types['object'] !== undefined);
  return !isObject || own.some((field) => field.member === member);
}

const maxNames = 8;

/** Returns the field that was probably intended, otherwise the existing fields. */
function alike(mention: Mention, fields: SeenFields['fields']): { words: string; isNear: boolean } {
  const [name, member] = mention.of === 'field' ? [mention.names[0], undefined] : mention.path;
  const below = member !== undefined && fields.some(({ field }) => field === name);
  const wanted = (below ? member : name) ?? '';
  const there = fields.flatMap((field) => {
    if (below) return field.field === name && field.member !== null ? [field.member] : [];
    return field.member === null ? [field.field] : [];
  });
  const all = [...new Set(there)].toSorted();
  const near = all.filter((each) => fieldKey(each) === fieldKey(wanted));
  const nearest = nearestWord(wanted, all);
  const contain = all.filter((each) => isPartOf(fieldKey(each), fieldKey(wanted)));
  const meant = near.length > 0 ? near : nearest === undefined ? contain : [nearest];
  const told = (meant.length > 0 ? meant : all).slice(0, maxNames).map(quoted);
  const rest = meant.length > 0 ? 0 : all.length - told.length;
  const words = `${told.length === 0 ? 'no fields' : told.join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`;
  return { words, isNear: near.length > 0 || nearest !== undefined };
}

/** Minimum length of a name to count as a part of another; shorter names occur in many others by chance. */
const shortestPart = 3;

function isPartOf(one: string, other: string): boolean {
  return Math.min(one.length, other.length) >= shortestPart && (one.includes(other) || other.includes(one));
}

function placeName({ workspace, pigeonholeId }: SeenFields): string {
  return pigeonholeId === 0 ? `workspace ${workspace}` : `pigeonhole ${workspace}/${pigeonholeId}`;
}

function formatPlaces([first, ...others]: readonly string[]): string {
  return others.length === 0 ? first! : `${first} and ${others.length} more`;
}

function written({ of, path }: Exclude<Mention, { of: 'field' }>): string {
  const names = path.slice(0, 2).map((name) => (/^\w+$/.test(name) ? name : `\`${printable(name)}\``));
  return [of, ...names].join('.');
}

function quoted(name: string): string {
  return JSON.stringify(printable(name));
}

/** Replaces control characters: the service supplies the names of fields, and they could move the terminal's cursor. */
function printable(name: string): string {
  return name.replaceAll(/\p{C}/gu, '\ufffd');
}

/** Number of items of each pigeonhole whose fields and nested objects are read first. */
const sample = 200;

/** Restricts the search to a workspace or a pigeonhole; null: all. */
interface SeenPlace {
  readonly workspace: string | null;
  readonly pigeonholeId: number | null;
}

/**
 * Returns the fields of stored items in the lists that the mappings of these sinks read. A sample of each list is read
 * first. If the sample lacks a field that a mapping reads, the field names of all stored items are read as well, so
 * that a field that few people have is not taken for a typo.
 * @param placeOf the workspace or pigeonhole in which to read a list; by default all
 */
export async function fieldsSeen(
  ledger: Pick<Ledger, 'db'>,
  config: Pick<Config, 'syncs' | 'sinks'>,
  placeOf: (list: string) => SeenPlace = () => ({ workspace: null, pigeonholeId: null }),
): Promise<SeenByList> {
  const seen = new Map<string, readonly SeenFields[]>();
  for (const list of mentionedLists(config)) {
    seen.set(list, await seenFields(ledger, { list, ...placeOf(list), sample }));
  }
  if (fieldNotes(config, seen).length === 0) return seen;
  for (const [list, places] of seen) {
    const names = await fieldNames(ledger, { list, ...placeOf(list) });
    seen.set(
      list,
      places.map((place) => withNames(place, names.get(`${place.workspace}/${place.pigeonholeId}`) ?? [])),
    );
  }
  return seen;
}

function withNames(place: SeenFields, names: readonly string[]): SeenFields {
  const known = new Set(place.fields.map(({ field }) => field));
  const added = names
    .filter((name) => !known.has(name))
    .map((field) => ({ field, member: null, types: {}, filled: 0, values: null }));
  return { ...place, fields: [...place.fields, ...added] };
}

/**
 * Returns the notes about the fields that mappings read, for a command that reads the ledger while no process runs.
 * Neither creates nor migrates a store.
 * @returns undefined if there is no ledger, or it cannot be read: a process uses it, or it belongs to another version
 */
export async function storedFieldNotes(config: Config): Promise<string[] | undefined> {
  const { store } = config;
  if (mentionedLists(config).length === 0) return [];
  if (store.kind === 'embedded' && !existsSync(join(store.folder, 'postgres'))) return undefined;
  try {
    const db = await openDatabase(store.kind === 'embedded' ? store : { kind: 'postgres', url: store.url.reveal() });
    try {
      return fieldNotes(config, await fieldsSeen({ db }, config));
    } finally {
      await db.close();
    }
  } catch (error) {
    if (error instanceof StoreError) return undefined;
    throw error;
  }
}
