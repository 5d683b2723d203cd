import { interactionLists, type PigeonholeListName } from '../../../base/lists.js';
import { hostileTexts } from '../../kit/hostile-texts.js';
import { listFacts } from '../../kit/list-facts.js';

export type Item = Readonly<Record<string, unknown>>;
export type ConsentShown = 'obtained' | 'refused' | 'not-asked' | 'absent';

/** A stored row of one list. The model renders it for every page. */
export interface Row {
  readonly list: PigeonholeListName;
  /** Sort key of ordered lists. Shown as the id, except by votes, which have none. */
  readonly id: number;
  /** The id of the row that this one is identical to, or its own id. Only votes have copies. */
  readonly origin: number;
  readonly createdAt: string;
  readonly attendeeId: number;
  readonly questionId: number;
  /** For a session, its own id; for an attendee, 0. */
  readonly sessionId: number;
  /** A number that represents the text. Another number is an edit. */
  readonly text: number;
  readonly status: string;
  /** For a session, `anonymousResponses`; for a flagged list, the flag. */
  readonly anonymous: boolean;
  readonly consent: ConsentShown;
  /** Position in a list without an order. */
  readonly rank: number;
}

/** Lists whose rows can move to another session. Attendees and sessions cannot. */
export const movableLists: ReadonlySet<string> = new Set(interactionLists);

/**
 * Identifies a row among all others of its list, also in the ledger: it is shown as a field that no reader knows. Votes
 * are identified by voter, time, session and option, so a moved vote is another vote; copies are the same vote.
 */
export function markOf(row: Pick<Row, 'list' | 'id' | 'origin' | 'sessionId'>): string {
  return row.list === 'votes' ? `${row.origin} in ${row.sessionId}` : String(row.id);
}

/** Fields that rows copy from other lists' rows. */
export interface Neighbours {
  readonly session: (id: number) => Row | undefined;
  readonly question: (id: number) => Row | undefined;
}

/** Renders a row as the service shows it now. Source: docs/service-contract.md, "Shapes". */
export function shownAs(row: Row, neighbours: Neighbours): Item {
  const mark = markOf(row);
  const by = { attendeeId: row.attendeeId, createdAt: row.createdAt, mark };
  const session = sessionCopy(row, neighbours);
  switch (row.list) {
    case 'sessions':
      return {
        id: row.id,
        name: nameOf(row),
        type: sessionType(row.id),
        anonymousResponses: row.anonymous,
        description: row.status,
        createdAt: row.createdAt,
        links: { admin: `https://admin.example.com/${row.id}` },
        mark,
      };
    case 'attendees':
      return {
        id: row.id,
        registrantId: row.id + 1000,
        attendeeCode: `code-${row.id}`,
        signInTime: row.createdAt,
        Name: `Person ${row.text} ${hostile(row)}`,
        Company: row.status,
        ...consentShown(row),
        mark,
      };
    case 'questions':
      return { ...by, session, question: { id: row.id, content: textOf(row), status: row.status } };
    case 'votes':
      return { ...by, session, question: questionCopy(row, neighbours) };
    case 'answer_ratings':
      return { ...by, session, question: questionCopy(row, neighbours), answerRating: { id: row.id, rate: row.text } };
    case 'answers':
      return { ...by, session, answer: { id: row.id, content: textOf(row), status: row.status } };
    case 'poll-mcq-votes':
    case 'poll-quiz-votes': {
      const { type: _, ...place } = session;
      const quiz = row.list === 'poll-quiz-votes' ? { timeTaken: row.text } : {};
      const question = { id: row.questionId, content: `Poll ${row.questionId}` };
      const option = { id: row.text, content: `Option ${row.text}` };
      const { id, createdAt } = row;
      return { id, createdAt, attendee: attendeeCopy(row), session: place, question, option, ...quiz, mark };
    }
    case 'qna-questions': {
      const { type: _, ...place } = session;
      const { id, status, createdAt } = row;
      return { id, content: textOf(row), status, createdAt, attendee: attendeeCopy(row), session: place, mark };
    }
  }
}

function nameOf(session: Row): string {
  return `Session ${session.id}, called ${session.text} ${hostile(session)}`;
}

function textOf(row: Row): string {
  return `Text ${row.text} of ${row.id}? ${hostile(row)}`;
}

/** Returns a text that JSON can contain but stores may not, different for each text of a row. */
function hostile({ id, text }: Row): string {
  return hostileTexts[(id + text) % hostileTexts.length]!;
}

/** Returns the type of a session. Every second one is for questions, so that both polling intervals are used. */
function sessionType(id: number): string {
  return id % 2 === 1 ? 'qna' : 'poll_word_cloud';
}

function sessionCopy({ sessionId }: Row, { session }: Neighbours): { id: number; name: string; type: string } {
  const known = session(sessionId);
  return {
    id: sessionId,
    name: known === undefined ? 'a session that is gone' : nameOf(known),
    type: sessionType(sessionId),
  };
}

function questionCopy({ questionId: id, list }: Row, { question }: Neighbours): Item {
  const known = question(id);
  const content = known === undefined ? 'a question that is gone' : textOf(known);
  return list === 'votes' ? { id, content, status: known?.status ?? 'approved' } : { id, content };
}

function attendeeCopy({ attendeeId: id, anonymous }: Row): Item {
  return { id, attendeeCode: `code-${id}`, anonymous };
}

function consentShown({ consent, createdAt }: Row): Item {
  switch (consent) {
    case 'absent':
      return {};
    case 'not-asked':
      return { consent: null };
    default:
      return { consent: { obtained: consent === 'obtained', obtainedAt: createdAt } };
  }
}

/**
 * Returns a row's own content: without the person if `named` is false, and with only the ids of copies. Two versions
 * with the same content are not a change. Implemented independently of the ledger's content hash.
 */
export function contentOf(list: PigeonholeListName, item: Item, named: boolean): string {
  const { links: _, attendeeId, attendee, ...own } = item;
  const kept: Record<string, unknown> = { ...own };
  for (const name of listFacts[list].copies) kept[name] = { id: (item[name] as Item | undefined)?.['id'] };
  if (attendeeId !== undefined && named) kept['attendeeId'] = attendeeId;
  if (attendee !== undefined) {
    kept['attendee'] = (attendee as Item)['anonymous'] === false ? attendee : { anonymous: true };
  }
  return inOneOrder(kept);
}

/** Returns the fields that a row copies from other rows. */
export function copiesOf(list: PigeonholeListName, item: Item): string {
  return inOneOrder(Object.fromEntries(listFacts[list].copies.map((name) => [name, item[name]])));
}

function inOneOrder(value: unknown): string {
  return JSON.stringify(value, (_, member: unknown) =>
    member !== null && typeof member === 'object' && !Array.isArray(member)
      ? Object.fromEntries(Object.entries(member).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : member,
  );
}
