import { type ListName, questionLists, listsOfPeople } from './lists.js';
import { counted } from './words.js';

/*
 * What people call an item: a question by its text, a person by name, a session and an event by title, a vote by what was
 * voted for. Titles of sessions and events are shown to everyone; the others are texts of people.
 */

type Fields = Readonly<Record<string, unknown>>;

/** Nouns for the items of each list: for one, and for several. */
const nouns: Readonly<Record<ListName, readonly [one: string, many: string]>> = {
  sessions: ['a session', 'sessions'],
  attendees: ['an attendee', 'attendees'],
  questions: ['a question', 'questions'],
  votes: ['a vote', 'votes'],
  answer_ratings: ['a rating of an answer', 'ratings of answers'],
  answers: ['an answer', 'answers'],
  'poll-mcq-votes': ['a poll vote', 'poll votes'],
  'poll-quiz-votes': ['a quiz answer', 'quiz answers'],
  'qna-questions': ['a question', 'questions'],
  pigeonholes: ['an event', 'events'],
  subscriptions: ['a subscription', 'subscriptions'],
  registrants: ['a registrant', 'registrants'],
  engagement: ['the activity of an attendee', 'activities of attendees'],
};

/** Returns what an item of a list is, such as `a question`. Pure. */
export function nounOf(list: string): string {
  return Object.hasOwn(nouns, list) ? nouns[list as ListName][0] : `an item of ${list}`;
}

/** Returns a number of items of a list in words, such as `2 questions`. Pure. */
export function countedItems(n: number, list: string): string {
  if (!Object.hasOwn(nouns, list)) return counted(n, `item of ${list}`, `items of ${list}`);
  const [one, many] = nouns[list as ListName];
  return counted(n, one.replace(/^(?:an?|the) /, ''), many);
}

const ofPlaces: ReadonlySet<string> = new Set<ListName>(['sessions', 'pigeonholes', 'subscriptions']);

/** Whether the titles of a list's items are names of places, which everyone may read. Pure. */
export function hasPublicTitles(list: string): boolean {
  return ofPlaces.has(list);
}

/** Lists whose items a search finds by their words. */
export const searchedLists: readonly ListName[] = [
  'sessions',
  'attendees',
  'questions',
  'qna-questions',
  'pigeonholes',
  'registrants',
];

/** Returns the texts by whose words an item is found; empty for an item that is not searched. Pure. */
export function searchedTexts(list: string, fields: Fields): string[] {
  if (listsOfPeople.has(list)) return textsOfPerson(fields);
  if (!hasPublicTitles(list) && !questionLists.has(list)) return [];
  const title = titleOf(list, fields);
  return title === null ? [] : [title];
}

/** Fields of a person that are no names: codes are found by their hashes, and the others say nothing about the person. */
const notSearched: ReadonlySet<string> = new Set(['attendeeCode', 'signInTime', 'signedIn', 'signedInAt', 'consent']);

function textsOfPerson(fields: Fields): string[] {
  const own = Object.entries(fields).flatMap(([name, value]) => (notSearched.has(name) ? [] : [textOf(value)]));
  const { linkedIn, twitter } = fields;
  const linked = ['firstName', 'lastName'].map((name) => memberOf(linkedIn, name));
  return [...own, ...linked, memberOf(twitter, 'screenName')].filter((text) => text !== '');
}

/**
 * Returns the title of an item, on one line; null if it has none. The title of an item of people, or of what they wrote, is
 * only for callers who may see it (`hasPublicTitles`). Pure.
 */
export function titleOf(list: string, fields: Fields): string | null {
  const title = rawTitle(list, fields).replace(/\s+/gu, ' ').trim();
  return title === '' ? null : title;
}

function rawTitle(list: string, fields: Fields): string {
  const { question } = fields;
  switch (list) {
    case 'sessions':
    case 'pigeonholes':
    case 'subscriptions':
      return textOf(fields['name']);
    case 'attendees':
    case 'registrants':
      return nameOfPerson(fields);
    case 'qna-questions':
      return textOf(fields['content']);
    case 'questions':
    case 'votes':
      return memberOf(question, 'content');
    case 'answers':
      return memberOf(fields['answer'], 'content');
    case 'answer_ratings': {
      const { rate } = (fields['answerRating'] ?? {}) as Fields;
      return typeof rate === 'number' ? `${rate} for “${memberOf(question, 'content')}”` : '';
    }
    case 'poll-mcq-votes':
    case 'poll-quiz-votes': {
      const [asked, chosen] = [memberOf(question, 'content'), memberOf(fields['option'], 'content')];
      return asked === '' || chosen === '' ? `${asked}${chosen}` : `${chosen} (${asked})`;
    }
    default:
      return '';
  }
}

/** Names of profile fields, which the owner of an event chooses, in the order in which they are preferred. */
const nameFields = [/^(full|display)? ?_?name$/i, /^name\b/i, /\bname$/i] as const;
const partFields = [
  [/^(first|given) ?_?-?name$/i, /^vorname$/i, /^pr[eé]nom$/i],
  [/^(last|family|sur) ?_?-?name$/i, /^nachname$/i, /^nom$/i],
] as const;

/** Returns the name of a person, else their address; '' if the record has neither. */
function nameOfPerson(fields: Fields): string {
  const entries = Object.entries(fields).flatMap(([field, value]) => {
    const text = textOf(value).trim();
    return text === '' || notSearched.has(field) ? [] : [[field, text] as const];
  });
  const first = (patterns: readonly RegExp[]): string => {
    for (const pattern of patterns) {
      const found = entries.find(([field]) => pattern.test(field));
      if (found !== undefined) return found[1];
    }
    return '';
  };
  const { linkedIn } = fields;
  const names = [
    first(nameFields.slice(0, 1)),
    partFields.map(first).filter(Boolean).join(' '),
    `${memberOf(linkedIn, 'firstName')} ${memberOf(linkedIn, 'lastName')}`.trim(),
    first(nameFields),
    entries.find(([, text]) => /^[^\s@]+@[^\s@]+$/.test(text))?.[1] ?? '',
  ];
  return names.find((name) => name !== '') ?? '';
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function memberOf(value: unknown, name: string): string {
  return value !== null && typeof value === 'object' && !Array.isArray(value) ? textOf((value as Fields)[name]) : '';
}

/** The names of an item, as far as the caller may know them. */
export interface ItemName {
  /** As `nounOf` returns it. */
  readonly noun: string;
  /** Text, name or title; null: none, or not shown to the caller. */
  readonly title: string | null;
  /** Name of the person who created it; null: anonymous, not known, or not shown to the caller. */
  readonly person: string | null;
  /** Title of its session; null: none, or not known. */
  readonly session: string | null;
  /** Title of its event; null: not known. */
  readonly event: string | null;
}

/** Returns an item by its title, else in words such as `a question in “Opening keynote”`. Pure. */
export function nameInWords({ noun, title, session, event }: ItemName): string {
  if (title !== null) return title;
  const place = session ?? event;
  return place === null ? noun : `${noun} in “${place}”`;
}

/** Returns where a named item is, such as `Opening keynote, DevConf`; empty if it is not known. Pure. */
export function placeInWords({ title, session, event }: ItemName): string {
  const places = title === null && session !== null ? [event] : [session, event];
  return places.filter((place) => place !== null && place !== title).join(', ');
}
