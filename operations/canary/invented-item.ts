import type { Consent } from '../../ledger/seen-item.js';
import { fieldKey } from '../../sinks/mapping/find-field.js';
import type { Fields } from '../../sinks/sink.js';

/** What an invented item is made from. */
export interface Invention {
  /** Stands in every id and text. */
  readonly mark: number;
  /** When all of it happened, ISO 8601. */
  readonly at: string;
  /** What the invented person has said. */
  readonly consent: Consent;
  /** Profile fields that the sink's mapping reads. */
  readonly fields: readonly string[];
}

/** Lists of which an item can be invented; the first of which a sink makes something is sent. */
export const inventedLists = [
  'attendees',
  'registrants',
  'qna-questions',
  'questions',
  'answers',
  'poll-quiz-votes',
  'poll-mcq-votes',
  'votes',
  'answer_ratings',
  'engagement',
  'sessions',
] as const;
export type InventedList = (typeof inventedLists)[number];

/** By which whoever finds it anywhere knows what it is. */
export function canaryName(mark: number): string {
  return `pigeonpost canary ${mark}`;
}

/** Ids of the service are positive: no real item has this one. */
export function inventedId(mark: number): number {
  return -mark;
}

/** An item of a list as the service would show it, of an invented person who may be named. Pure. */
export function inventedItem(list: InventedList, invention: Invention): Fields {
  const { mark, at } = invention;
  const id = inventedId(mark);
  const attendeeId = id;
  const attendee = { id, attendeeCode: codeOf(mark), anonymous: false };
  const { id: sessionId, name, type } = inventedSession(invention);
  const session = { id: sessionId, name, type };
  const content = `${canaryName(mark)}: a test of this connection, withdrawn at once`;
  switch (list) {
    case 'attendees':
      return inventedAttendee(invention);
    case 'registrants': {
      const { id: _, signInTime, consent: __, ...profile } = inventedAttendee(invention);
      const counts = { attendees: 1, signedIn: true, signedInAt: signInTime, consent: invention.consent };
      return { ...profile, attendeeId, ...counts };
    }
    case 'qna-questions':
      return { id, content, status: 'allowed', createdAt: at, attendee, session };
    case 'questions':
      return { attendeeId, createdAt: at, session, question: { id, content, status: 'approved' } };
    case 'answers':
      return { attendeeId, createdAt: at, session, answer: { id, content, status: 'approved' } };
    case 'poll-quiz-votes':
    case 'poll-mcq-votes':
      return {
        id,
        createdAt: at,
        attendee,
        session,
        question: { id, content },
        option: { id, content: canaryName(mark) },
        ...(list === 'poll-quiz-votes' && { timeTaken: 1 }),
      };
    case 'votes':
      return { attendeeId, createdAt: at, session, question: { id, content, status: 'approved' } };
    case 'answer_ratings':
      return { attendeeId, createdAt: at, session, question: { id, content }, answerRating: { id, rate: 5 } };
    case 'engagement':
      return {
        scope: 'pigeonhole',
        attendeeId,
        interactions: 1,
        asked: 1,
        answered: 0,
        responded: 0,
        voted: 0,
        rated: 0,
        offered: 0,
        evidence: [`qna-questions:${id}`],
      };
    case 'sessions':
      return inventedSession(invention);
  }
}

/** The record of the invented person. Reserved names of mail (RFC 2606) reach nobody. */
export function inventedAttendee({ mark, at, consent, fields }: Invention): Fields {
  const profile = Object.fromEntries(
    [...new Set(['Name', 'Email', ...fields])].flatMap((field) => {
      const value = profileValue(field, mark);
      return value === undefined ? [] : [[field, value] as const];
    }),
  );
  return {
    ...profile,
    id: inventedId(mark),
    registrantId: inventedId(mark),
    attendeeCode: codeOf(mark),
    signInTime: at,
    ...consentOf(consent, at),
  };
}

export function inventedSession({ mark, at }: Pick<Invention, 'mark' | 'at'>): Fields {
  return {
    id: inventedId(mark),
    name: canaryName(mark),
    type: 'qna',
    startDate: at,
    endDate: new Date(Date.parse(at) + 3_600_000).toISOString(),
    anonymousResponses: false,
  };
}

function codeOf(mark: number): string {
  return `canary-${mark}`;
}

function consentOf(consent: Consent, at: string): Fields {
  switch (consent) {
    case 'obtained':
      return { consent: { obtained: true, obtainedAt: at } };
    case 'refused':
      return { consent: { obtained: false } };
    default:
      return {};
  }
}

/** Parts of what people call a name or a company, as events in several languages write them. */
const nameWords =
  /name|company|organi[sz]ation|firma|vorname|nachname|unternehmen|nom|société|entreprise|apellido|empresa|cognome|azienda|achternaam|bedrijf|氏名|名前|姓|名|会社/u;
const mailWords = /mail|courriel|correo|メール/u;

/** Nothing where only some values may stand (a country, a number): an invented text would be refused there. */
function profileValue(field: string, mark: number): string | undefined {
  const key = fieldKey(field);
  if (mailWords.test(key)) return `pigeonpost-canary-${mark}@example.com`;
  return nameWords.test(key) ? canaryName(mark) : undefined;
}
