import { type Consent, consentStates } from '../../ledger/seen-item.js';
import { fieldKey } from '../../sinks/mapping/find-field.js';
import type { Fields, Subject } from '../../sinks/sink.js';
import { expressionsIn } from '../../sinks/mapping/expression-schema.js';
import { mentionedFields } from '../../sinks/mapping/mentioned-fields.js';
import type { Canary } from '../../delivering/canaries.js';
import type { Collaborators, OpenSink } from '../../work/collaborators.js';
import { lastSeenPigeonhole } from '../../importing/desk/find-target.js';
import type { PigeonholeKey } from '../ready/check-ready.js';

/** Values from which an invented item is built. */
export interface Invention {
  /** Part of every id and text. */
  readonly mark: number;
  /** Timestamp of everything in it, ISO 8601. */
  readonly at: string;
  /** Consent of the invented person. */
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

/** Returns the name by which people recognize a canary anywhere. */
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

/** Names at the top of items and attendees that a sink's expressions read, each once: profile fields among them. Pure. */
export function profileMentions(settings: unknown): string[] {
  const names = expressionsIn(settings).flatMap(({ expression }) =>
    mentionedFields(expression).flatMap((mention): readonly string[] => {
      if (mention.of === 'field') return mention.names;
      const isOfPerson = mention.of === 'item' || mention.of === 'attendee';
      return isOfPerson && mention.path.length === 1 ? mention.path : [];
    }),
  );
  return [...new Set(names)];
}

/** Facts for the subjects of a canary that are not stored with it. */
export interface CanaryFacts {
  readonly consent: Consent;
  /** Profile fields that the sink's mapping reads. */
  readonly fields: readonly string[];
  /** The pigeonhole as it was last read: what is said of the event itself is true. */
  readonly pigeonhole: Fields | null;
  /** It goes out as of a pigeonhole of its own: the real one's lane is one line, which has to stay as the ledger knows it. */
  readonly apart: boolean;
}

type Noted = Pick<
  Canary,
  'mark' | 'workspace' | 'pigeonholeId' | 'list' | 'changeId' | 'withdrawalId' | 'begunAt' | 'object'
>;

/** The canary as it is sent. Pure: a repeat gives the same, byte for byte. */
export function sentSubject(canary: Noted, facts: CanaryFacts): Subject {
  const made = madeFrom(canary, facts);
  const list = canary.list as InventedList;
  return {
    change: { ...envelope(canary, facts, 'created'), data: inventedItem(list, made) },
    previous: null,
    attendee: list === 'attendees' || list === 'sessions' ? null : inventedAttendee(made),
    session: belongsToSession(list) ? inventedSession(made) : null,
    pigeonhole: facts.pigeonhole,
    object: canary.object,
    removal: null,
    canary: String(canary.mark),
  };
}

/** The canary as it is taken back: its person is to be forgotten. Pure. */
export function withdrawnSubject(canary: Noted, facts: CanaryFacts): Subject {
  return {
    ...sentSubject(canary, facts),
    change: { ...envelope(canary, facts, 'deleted'), data: null },
    previous: inventedItem(canary.list as InventedList, madeFrom(canary, facts)),
    removal: 'erased',
  };
}

/** The pigeonhole under which it goes out. */
export function placeOf(
  { workspace, pigeonholeId, mark }: Pick<Canary, 'workspace' | 'pigeonholeId' | 'mark'>,
  { apart }: Pick<CanaryFacts, 'apart'>,
): { readonly workspace: string; readonly pigeonholeId: number } {
  return { workspace, pigeonholeId: apart ? mark : pigeonholeId };
}

export function keyOf({ mark }: Pick<Canary, 'mark'>): string {
  return String(inventedId(mark));
}

function madeFrom({ mark, begunAt }: Noted, { consent, fields }: CanaryFacts): Invention {
  return { mark, at: begunAt.toISOString(), consent, fields };
}

function envelope(canary: Noted, facts: CanaryFacts, kind: 'created' | 'deleted'): Subject['change'] {
  const { list, changeId, withdrawalId, begunAt } = canary;
  const step = kind === 'created' ? 1 : 2;
  return {
    id: kind === 'created' ? changeId : withdrawalId,
    type: `${list}.${kind}`,
    timestamp: new Date(begunAt.getTime() + step - 1).toISOString(),
    ...placeOf(canary, facts),
    sessionId: belongsToSession(list as InventedList) ? inventedId(canary.mark) : null,
    list,
    key: keyOf(canary),
    revision: step,
    sequence: step, // lower than all that is sent later: a receiver that goes by the highest it has seen misses nothing
    data: null,
  };
}

function belongsToSession(list: InventedList): boolean {
  return !['attendees', 'registrants', 'engagement'].includes(list);
}

/** Returns the facts for a sink's canaries under the current configuration. */
export async function canaryFacts(
  { ledger, config }: Pick<Collaborators, 'ledger' | 'config'>,
  { name, accepts, sink }: OpenSink,
  { workspace, pigeonholeId }: PigeonholeKey,
): Promise<CanaryFacts> {
  const seen = await lastSeenPigeonhole(ledger, workspace, pigeonholeId);
  return {
    consent: acceptedConsent(accepts),
    fields: profileMentions(config.sinks[name]!.settings),
    pigeonhole: seen === undefined ? null : (JSON.parse(seen.payload) as Fields),
    apart: sink.traits.order === 'pigeonhole',
  };
}

/** Returns a state of consent that the sink accepts. */
function acceptedConsent(accepts: ReadonlySet<Consent>): Consent {
  return consentStates.find((state) => accepts.has(state)) ?? 'obtained';
}
