import jsonata from 'jsonata';
import { instantOf, localTime, utcMidnightMs, type LocalTime } from './event-time.js';
import { FunctionError } from './mapping-error.js';
import { evaluationLimits } from './evaluation-limits.js';
import type { MappingView } from './expression.js';
import type { Fields } from '../sink.js';

/**
 * Functions for expressions, besides JSONata's own. docs/mapping.md describes each. All return nothing for nothing, as
 * JSONata's do, so that a missing field leaves a property unchanged.
 */
type MappingFunction = (view: MappingView, ...given: readonly unknown[]) => unknown;

export const mappingFunctions: Readonly<Record<string, MappingFunction>> = {
  /** Returns the first non-empty value under these names in the attendee's profile, otherwise in the item. */
  field: (view, ...names) => {
    const wanted = names.flat().map((name) => {
      if (typeof name !== 'string') throw new FunctionError('not-a-field-name');
      return name;
    });
    return findField(view.attendee, wanted) ?? findField(view.item, wanted);
  },

  /**
   * Returns an e-mail address in lower case without surrounding spaces; nothing if the text is not an address, so that
   * no vendor refuses the record.
   */
  email: (_, value) => {
    if (isNothing(value) || typeof value !== 'string') return undefined;
    const address = value.trim().toLowerCase();
    return /^[^\s@,;<>"]{1,64}@[^\s@,;<>".]+(?:\.[^\s@,;<>".]+)+$/u.test(address) ? address : undefined;
  },

  /** The first name of a full name; nothing where the name is one word. */
  firstName: (_, value) => (isNothing(value) ? undefined : nameParts(textOf(value)).first),

  /** The last name of a full name, which is never nothing: one word is a last name. */
  lastName: (_, value) => (isNothing(value) ? undefined : nameParts(textOf(value)).last),

  /** The calendar day YYYY-MM-DD on which an instant fell where the event is. */
  eventDate: (view, value) => eventDay(view, value),

  /** The time of day HH:MM at which an instant fell where the event is. */
  eventTime: (view, value) => (isNothing(value) ? undefined : placedTime(view, value).time),

  /** That calendar day as HubSpot takes dates: its midnight in UTC, in ms. Source: HubSpot, "Properties", date. */
  hubspotDate: (view, value) => {
    const day = eventDay(view, value);
    return day === undefined ? undefined : utcMidnightMs(day);
  },

  truncate: (_, value, longest, ending) => {
    if (isNothing(value)) return undefined;
    const text = textOf(value);
    if (typeof longest !== 'number' || !Number.isInteger(longest) || longest < 0)
      throw new FunctionError('not-a-length');
    if (ending !== undefined && typeof ending !== 'string') throw new FunctionError('not-a-text');
    return truncate(text, longest, ending);
  },

  /** The time at which the change was found, not mapped: the same change always maps to the same value. */
  now: (view, picture, timezone) => inWords.evaluate({ atMs: foundAtMs(view), picture, timezone }),
  millis: (view) => foundAtMs(view),

  /** JSONata's own, which would make a text of any length in one step. */
  pad: (_, value, width, character) => {
    if (typeof width === 'number' && Math.abs(width) > evaluationLimits.characters) throw new FunctionError('too-long');
    return padding.evaluate({ value, width, character });
  },
};

const inWords = jsonata('$fromMillis(atMs, picture, timezone)');
const padding = jsonata('$pad(value, width, character)');

/** JSONata's functions that expressions may not use, and why. */
export const withheldFunctions: Readonly<Record<string, string>> = {
  eval: 'it would run the text of an item as an expression',
  random: 'the same item has to give the same value each time',
  shuffle: 'the same item has to give the same value each time',
};

/** A calendar day stays unchanged: `pigeonhole.startDate` is one already. */
function eventDay(view: MappingView, value: unknown): string | undefined {
  if (isNothing(value)) return undefined;
  if (typeof value === 'string' && utcMidnightMs(value.trim()) !== undefined) return value.trim();
  return placedTime(view, value).day;
}

function placedTime({ pigeonhole }: MappingView, value: unknown): LocalTime {
  const atMs = instantOf(value);
  if (atMs === undefined) throw new FunctionError('not-an-instant');
  const zone = pigeonhole?.['timezone'];
  if (typeof zone !== 'string' || zone === '') throw new FunctionError('no-time-zone');
  try {
    return localTime(atMs, zone);
  } catch (error) {
    if (error instanceof RangeError) throw new FunctionError('no-time-zone');
    throw error;
  }
}

function textOf(value: unknown): string {
  if (typeof value !== 'string') throw new FunctionError('not-a-text');
  return value;
}

function foundAtMs({ change }: MappingView): number {
  return Date.parse(change.timestamp);
}

function isNothing(value: unknown): boolean {
  return value === undefined || value === null || (typeof value === 'string' && value.trim() === '');
}

/** First and last name, as most CRMs store them; absent if the name has no such part. */
interface NameParts {
  readonly first?: string;
  readonly last?: string;
}

const suffix = /^(?:jr|sr|ii|iii|iv|ph\.?d|md|mba)\.?$/i;

/**
 * Splits a full name. The last name is the last word, with the particles in lower case before it ("van", "de la") and
 * a suffix after it ("Jr."); "Lovelace, Ada" is read with the last name first. One word is a last name, because CRMs
 * that require one of the two require that one. Splitting is a guess, so the first name keeps the rest.
 */
export function nameParts(fullName: string): NameParts {
  const name = fullName.trim().replaceAll(/\s+/gu, ' ');
  if (name === '') return {};
  const [before, after, ...more] = name.split(',').map((part) => part.trim());
  const isReversed = before !== '' && after !== undefined && after !== '' && more.length === 0 && !suffix.test(after);
  if (isReversed) return { first: after, last: before! };
  const words = name.split(' ');
  let at = words.length - 1;
  while (at > 0 && suffix.test(words[at]!)) at -= 1;
  // In a name that is all lower case, particles cannot be recognized.
  if (/\p{Lu}/u.test(name)) while (at > 1 && /^\p{Ll}/u.test(words[at - 1]!)) at -= 1;
  const last = words.slice(at).join(' ');
  return at === 0 ? { last } : { first: words.slice(0, at).join(' '), last };
}

const characters = new Intl.Segmenter('und', { granularity: 'grapheme' });

/**
 * A text of at most `longest` UTF-16 units, cut between two characters as people see them: an emoji with its skin tone
 * or a letter with its accents stays whole or goes. By UTF-16 units no vendor's count comes out higher, whether it counts
 * units, code points or characters (bytes are another matter).
 * @param longest 0 or more
 * @param ending appended to a cut text, and counted; left out if there is no room for it
 */
export function truncate(text: string, longest: number, ending = ''): string {
  if (text.length <= longest) return text;
  if (ending.length > longest) return truncate(text, longest);
  return text.slice(0, lastBoundary(text, longest - ending.length)) + ending;
}

/** Returns the last position at or before `end` that cuts no character. */
function lastBoundary(text: string, end: number): number {
  // only the surroundings matter: no need to segment a text of a million letters
  const from = Math.max(0, end - 1000);
  const start = isLowSurrogate(text, from) ? from + 1 : from;
  const boundary = start + (characters.segment(text.slice(start, end + 1000)).containing(end - start)?.index ?? 0);
  if (boundary > start || start === 0) {
    if (boundary > 0) return boundary;
  }
  // a "character" of a thousand combining marks: better its beginning than nothing
  return isLowSurrogate(text, end) ? end - 1 : end;
}

function isLowSurrogate(text: string, at: number): boolean {
  const unit = text.charCodeAt(at);
  return unit >= 0xdc00 && unit <= 0xdfff;
}

/**
 * Returns a record's value under the first of these names that has one. Events name the same profile field differently
 * ("Email", "E-mail", "e mail"), so case, spaces, hyphens and underscores make no difference; an exact match has
 * priority. Empty texts and null count as missing.
 */
export function findField(record: Fields | null, names: readonly string[]): unknown {
  if (record === null) return undefined;
  for (const name of names) {
    const exact = Object.hasOwn(record, name) ? record[name] : undefined;
    if (holdsSomething(exact)) return exact;
    const alike = Object.keys(record).find((each) => fieldKey(each) === fieldKey(name) && holdsSomething(record[each]));
    if (alike !== undefined) return record[alike];
  }
  return undefined;
}

/** Returns the normalized form of a field's name: `E-mail` and `email` have the same. */
export function fieldKey(name: string): string {
  return name
    .normalize('NFKC')
    .toLowerCase()
    .replaceAll(/[\s\p{Pd}_]/gu, '');
}

function holdsSomething(value: unknown): boolean {
  return value !== undefined && value !== null && !(typeof value === 'string' && value.trim() === '');
}
