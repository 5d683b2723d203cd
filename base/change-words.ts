import { type ItemName, nounOf } from './item-titles.js';
import type { ListName } from './lists.js';

/*
 * A change as people tell it: who did what, where, and the words. The page, the API and the command line use the same words.
 */

interface Words {
  /** The deed, without an object: `asked`. */
  readonly did: string;
  /** The same with an object, for a caller who may not see the text: `asked a question`. */
  readonly didIt: string;
}

/** Lists whose items are something that a person did. */
const deeds: Readonly<Partial<Record<ListName, Words>>> = {
  questions: { did: 'asked', didIt: 'asked a question' },
  'qna-questions': { did: 'asked', didIt: 'asked a question' },
  votes: { did: 'voted for a question', didIt: 'voted for a question' },
  answers: { did: 'answered', didIt: 'gave an answer' },
  answer_ratings: { did: 'rated an answer', didIt: 'rated an answer' },
  'poll-mcq-votes': { did: 'voted in a poll', didIt: 'voted in a poll' },
  'poll-quiz-votes': { did: 'answered a quiz', didIt: 'answered a quiz' },
};

/** Words for the appearance of an item that is nobody's deed. */
const appearances: Readonly<Partial<Record<ListName, string>>> = {
  attendees: 'joined',
  registrants: 'was registered',
};

export interface ToldChange {
  readonly list: string;
  readonly kind: string;
  /** `named`, `anonymous` or `unknown`; null: the list shows nobody. */
  readonly visibility: string | null;
  readonly name: ItemName;
}

/** The parts of a change; without `says`, they are a sentence: `Ada asked in Opening keynote`. */
export interface ChangeWords {
  /** The person, or the item itself; starts with a lower-case letter unless it is a name. */
  readonly who: string;
  readonly did: string;
  /** Title of the session, or of the event; null: not known, or already named. */
  readonly where: string | null;
  /** The text of the item; null: none, or not shown to the caller. */
  readonly says: string | null;
}

/** Returns a change in words. Pure. */
export function changeWords({ list, kind, visibility, name }: ToldChange): ChangeWords {
  const where = name.session ?? name.event;
  const deed = deeds[list as ListName];
  if (deed === undefined) return wordsOfRecord({ list, kind, name });
  const who = name.person ?? (visibility === 'named' ? 'an attendee' : 'an anonymous attendee');
  const says = name.title;
  if (kind === 'created') return { who, did: says === null ? deed.didIt : deed.did, where, says };
  const noun = nounOf(list).replace(/^an? /, '');
  return { who: `${who}’s ${noun}`, did: happened(kind), where, says };
}

function wordsOfRecord({ list, kind, name }: Pick<ToldChange, 'list' | 'kind' | 'name'>): ChangeWords {
  const { title, noun, event } = name;
  const isOfPerson = list === 'attendees' || list === 'registrants';
  const titled = isOfPerson ? title : title === null ? null : `“${title}”`;
  const who = titled ?? (list === 'engagement' && name.person !== null ? `the activity of ${name.person}` : noun);
  const where = list === 'pigeonholes' ? null : event;
  if (kind === 'created') return { who, did: appearances[list as ListName] ?? 'was added', where, says: null };
  return { who: isOfPerson && title !== null ? `${title}’s record` : who, did: happened(kind), where, says: null };
}

function happened(kind: string): string {
  return kind === 'deleted' ? 'was deleted' : 'changed';
}

/** Returns the parts as one sentence: `Ada asked in “Opening keynote”: When is lunch?`. Pure. */
export function changeSentence({ who, did, where, says }: ChangeWords): string {
  const place = where === null ? '' : ` in “${where}”`;
  return `${who.charAt(0).toUpperCase()}${who.slice(1)} ${did}${place}${says === null ? '' : `: ${says}`}`;
}
