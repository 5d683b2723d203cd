import jsonata from 'jsonata';
import { cleanEmailAddress } from '../../base/email-address.js';
import { dayStartMs, instantMs } from '../../base/instant.js';
import { instantsOf, isTimezone, zoneOffsetMs } from '../../base/zoned-instant.js';
import { FunctionError } from './mapping-error.js';
import { evaluationLimits } from './evaluation-limits.js';
import type { MappingView } from './expression.js';
import type { Fields } from '../sink.js';

/**
 * A function that expressions can use in addition to JSONata's. docs/mapping.md describes each. If the value is
 * missing, all return nothing, as JSONata's functions do, so that a missing field leaves a property unchanged.
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
   * Returns an e-mail address in lower case, without invisible characters and `mailto:`. Returns nothing if the text is
   * not an address, because a vendor would refuse the record.
   */
  email: (_, value) => (typeof value === 'string' ? cleanEmailAddress(value)?.toLowerCase() : undefined),

  /** Returns the first name of a full name; nothing if the name has only one word. */
  firstName: (_, value) => (isNothing(value) ? undefined : nameParts(textOf(value)).first),

  /** Returns the last name of a full name. A name of only one word is a last name. */
  lastName: (_, value) => (isNothing(value) ? undefined : nameParts(textOf(value)).last),

  /** Returns the calendar day of a time in the event's time zone, as YYYY-MM-DD. */
  eventDate: (view, value) => eventDay(view, value),

  /**
   * Returns the instant at which a calendar day starts in the event's time zone, in ISO 8601. The start of the day in
   * UTC would be on the day before in America.
   */
  startOfDay: (view, value) => {
    const day = eventDay(view, value);
    return day === undefined ? undefined : new Date(startOfDayMs(day, zoneOf(view))).toISOString();
  },

  /** Returns the time of day of a time in the event's time zone, as HH:MM. */
  eventTime: (view, value) => (isNothing(value) ? undefined : placedTime(view, value).time),

  /**
   * Returns the calendar day of a time in the event's time zone, in HubSpot's form of a date: the day's start in UTC,
   * Unix time in ms. Source: HubSpot, "Properties", date.
   */
  hubspotDate: (view, value) => {
    const day = eventDay(view, value);
    return day === undefined ? undefined : dayStartMs(day);
  },

  truncate: (_, value, longest, ending) => {
    if (isNothing(value)) return undefined;
    const text = textOf(value);
    if (typeof longest !== 'number' || !Number.isInteger(longest) || longest < 0)
      throw new FunctionError('not-a-length');
    if (ending !== undefined && typeof ending !== 'string') throw new FunctionError('not-a-text');
    return truncate(text, longest, ending);
  },

  /**
   * Returns the time at which pigeonpost found the change, and not the current time, so that the same change always has
   * the same value.
   */
  now: (view, picture, timezone) => inWords.evaluate({ atMs: foundAtMs(view), picture, timezone }),
  millis: (view) => foundAtMs(view),

  /** Refuses days that do not exist: JSONata's own function reads 30 February as 2 March. */
  toMillis: async (_, value, picture) => {
    const atMs: unknown = await parsing.evaluate({ value, picture });
    if (typeof value !== 'string' || typeof atMs !== 'number') return atMs;
    if (typeof picture !== 'string') {
      const [day] = /^\d{4}-\d{2}-\d{2}/.exec(value) ?? [];
      if (day !== undefined && dayStartMs(day) === undefined) throw new FunctionError('not-an-instant');
    } else if (!/\[[Zz]/.test(picture)) {
      const shown: unknown = await inWords.evaluate({ atMs, picture });
      const days = lastDays(String(shown));
      if (lastDays(value).some((day) => !days.includes(day))) throw new FunctionError('not-an-instant');
    }
    return atMs;
  },

  /** Limits JSONata's own function, which could create a text of any length in one step. */
  pad: (_, value, width, character) => {
    if (typeof width === 'number' && Math.abs(width) > evaluationLimits.characters) throw new FunctionError('too-long');
    return padding.evaluate({ value, width, character });
  },
};

const inWords = jsonata('$fromMillis(atMs, picture, timezone)');
const parsing = jsonata('$toMillis(value, picture)');

/** Returns the numbers of a text that can be days at the end of a month. A day that does not exist gives another. */
function lastDays(text: string): number[] {
  return (text.match(/\d+/g) ?? []).map(Number).filter((number) => number >= 29 && number <= 31);
}
const padding = jsonata('$pad(value, width, character)');

/** The JSONata functions that expressions may not use, with the reason. */
export const withheldFunctions: Readonly<Record<string, string>> = {
  eval: 'it would run the text of an item as an expression',
  random: 'the same item has to give the same value each time',
  shuffle: 'the same item has to give the same value each time',
};

/**
 * Returns the calendar day of a value. A value that is already a calendar day, such as `pigeonhole.startDate`, stays
 * unchanged.
 */
function eventDay(view: MappingView, value: unknown): string | undefined {
  if (isNothing(value)) return undefined;
  if (typeof value === 'string' && dayStartMs(value.trim()) !== undefined) return value.trim();
  return placedTime(view, value).day;
}

function placedTime(view: MappingView, value: unknown) {
  const atMs = instantOf(value);
  if (atMs === undefined) throw new FunctionError('not-an-instant');
  return localTime(atMs, zoneOf(view));
}

function zoneOf({ pigeonhole }: MappingView): string {
  const zone = pigeonhole?.['timezone'];
  if (typeof zone !== 'string' || !isTimezone(zone)) throw new FunctionError('no-time-zone');
  return zone;
}

/** Returns the first instant of a day in a time zone. @param day a day that exists */
function startOfDayMs(day: string, zone: string): number {
  const [first] = instantsOf(`${day}T00:00:00`, zone);
  if (first !== undefined) return first;
  // Clocks were set forward at midnight: the day starts when they were.
  const [later = dayStartMs(day)!] = instantsOf(`${day}T01:00:00`, zone);
  return later;
}

/**
 * Returns the local date and time in a time zone, including daylight saving time: YYYY-MM-DD, and HH:MM from 00:00 to
 * 23:59.
 * @param timeZone a name that `isTimezone` accepts
 */
export function localTime(atMs: number, timeZone: string) {
  const [day = '', time = ''] = new Date(atMs + zoneOffsetMs(atMs, timeZone)).toISOString().split('T');
  return { day: day.replace(/^\+0*/, ''), time: time.slice(0, 'HH:MM'.length) }; // years after 9999 begin with +
}

/**
 * Returns the time that a value represents, Unix time in ms. The value is a text in ISO 8601 or a number in ms. A text
 * without an offset is in UTC, as the service writes times (specification, "createdAt"). Undefined for any other value.
 */
export function instantOf(value: unknown): number | undefined {
  const atMs = typeof value === 'string' ? instantMs(value.trim()) : value;
  return typeof atMs === 'number' && Math.abs(atMs) <= 8.64e15 ? atMs : undefined;
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

/** The first and last name, as most CRMs store them. A part that the name does not have is absent. */
interface NameParts {
  readonly first?: string;
  readonly last?: string;
}

const suffix = /^(?:jr|sr|ii|iii|iv|ph\.?d|md|mba)\.?$/i;

/**
 * Splits a full name. The last name is the last word, with the lower-case particles before it ("van", "de la") and a
 * suffix after it ("Jr."). In "Lovelace, Ada", the last name comes first. A single word is a last name, because a CRM
 * that requires only one part requires the last name. All other words belong to the first name, so that no word is lost
 * if the guess is wrong.
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
 * Cuts a text to at most `longest` UTF-16 units. It cuts between two characters as people see them, so an emoji with a
 * skin tone or a letter with accents is kept whole or removed. The length is in UTF-16 units, because a vendor that
 * counts code points or characters counts at most as many. A vendor that counts bytes may count more.
 * @param longest 0 or more
 * @param ending appended to a text that was cut; it counts towards the length, and is left out if there is no room for
 * it
 */
export function truncate(text: string, longest: number, ending = ''): string {
  if (text.length <= longest) return text;
  if (ending.length > longest) return truncate(text, longest);
  return text.slice(0, lastBoundary(text, longest - ending.length)) + ending;
}

/** Returns the last position at or before `end` that is between two characters. */
function lastBoundary(text: string, end: number): number {
  // only the text before the cut matters, so a text of a million letters is not segmented completely
  const from = Math.max(0, end - 1000);
  const start = isLowSurrogate(text, from) ? from + 1 : from;
  const boundary = start + (characters.segment(text.slice(start, end + 1000)).containing(end - start)?.index ?? 0);
  if (boundary > start || start === 0) {
    if (boundary > 0) return boundary;
  }
  // a "character" with a thousand combining marks is cut inside, because otherwise nothing would be left
  return isLowSurrogate(text, end) ? end - 1 : end;
}

function isLowSurrogate(text: string, at: number): boolean {
  const unit = text.charCodeAt(at);
  return unit >= 0xdc00 && unit <= 0xdfff;
}

/**
 * Returns a record's value under the first of these names that has a value. Events name the same profile field
 * differently ("Email", "E-mail", "e mail"), so case, spaces, hyphens and underscores are ignored, but an exact match
 * has priority. Empty texts and null count as missing.
 */
export function findField(record: Fields | null, names: readonly string[]): unknown {
  if (record === null) return undefined;
  for (const name of names) {
    const exact = Object.hasOwn(record, name) ? record[name] : undefined;
    if (!isNothing(exact)) return exact;
    const alike = Object.keys(record).find((each) => fieldKey(each) === fieldKey(name) && !isNothing(record[each]));
    if (alike !== undefined) return record[alike];
  }
  return undefined;
}

/** Returns the normalized form of a field's name, which is the same for `E-mail` and `email`. */
export function fieldKey(name: string): string {
  return name
    .normalize('NFKC')
    .toLowerCase()
    .replaceAll(/[\s\p{Pd}_]/gu, '');
}
