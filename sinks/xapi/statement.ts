import { createHash } from 'node:crypto';
import type { Change } from '../change.js';
import type { StatementKind } from './config.js';
import type { Fields, Subject } from '../sink.js';

/**
 * A statement in the form in which it is sent, with those properties of xAPI 1.0.3 (Data, 2.2 "Formation of
 * Statements") that pigeonpost uses. The LRS adds the authority and the time at which it stores the statement.
 */
export interface Statement {
  readonly id: string;
  readonly actor: Agent;
  readonly verb: { readonly id: string; readonly display: LanguageMap };
  readonly object: Activity | StatementRef;
  readonly result?: Result;
  readonly context?: Context;
  /** ISO 8601 in UTC. A voiding statement has no timestamp, so that it is always the same. */
  readonly timestamp?: string;
}

/** Texts by language. The language of attendees' texts is not known ("und", RFC 5646). */
type LanguageMap = Readonly<Record<string, string>>;

/** A person, with exactly one identifier (xAPI 1.0.3, Data, 2.4.2.3 "Inverse Functional Identifier"). */
export type Agent = { readonly objectType: 'Agent' } & (
  | { readonly account: { readonly homePage: string; readonly name: string } }
  | { readonly mbox: string }
  | { readonly mbox_sha1sum: string }
);

export interface Activity {
  readonly objectType: 'Activity';
  readonly id: string;
  readonly definition?: ActivityDefinition;
}

export interface ActivityDefinition {
  readonly type: string;
  readonly name?: LanguageMap;
  readonly interactionType?: 'choice' | 'numeric' | 'long-fill-in';
  /** Only the chosen options, because the service does not list the others. */
  readonly choices?: readonly { readonly id: string; readonly description: LanguageMap }[];
}

interface StatementRef {
  readonly objectType: 'StatementRef';
  readonly id: string;
}

export interface Result {
  readonly response?: string;
  readonly score?: { readonly raw: number };
  readonly completion?: boolean;
  /** ISO 8601. */
  readonly duration?: string;
  readonly extensions?: Readonly<Record<string, unknown>>;
}

export interface Context {
  readonly platform: string;
  readonly contextActivities: { readonly parent?: readonly Activity[]; readonly grouping: readonly Activity[] };
}

/** Replaces lone surrogates, which an LRS may refuse or change. */
export function wellFormed(text: string): string {
  return text.replace(/\p{Surrogate}/gu, '\ufffd');
}

/**
 * The verbs of statements, with IRIs that LMSs and reports know.
 * Sources: ADL's verbs and activity types (w3id.org/xapi/adl, adlnet.gov/expapi), the Tin Can registry
 * (registry.tincanapi.com), and xAPI 1.0.3, Data, "Voiding" and appendix C for interactions.
 */
export const verbs = {
  attended: verb('http://adlnet.gov/expapi/verbs/attended', 'attended'),
  asked: verb('http://adlnet.gov/expapi/verbs/asked', 'asked'),
  answered: verb('http://adlnet.gov/expapi/verbs/answered', 'answered'),
  responded: verb('http://adlnet.gov/expapi/verbs/responded', 'responded'),
  voted: verb('http://id.tincanapi.com/verb/voted-up', 'up voted'),
  rated: verb('http://id.tincanapi.com/verb/rated', 'rated'),
  completed: verb('http://adlnet.gov/expapi/verbs/completed', 'completed'),
  voided: verb('http://adlnet.gov/expapi/verbs/voided', 'voided'),
} as const;

export const activityTypes = {
  meeting: 'http://adlnet.gov/expapi/activities/meeting',
  question: 'http://adlnet.gov/expapi/activities/question',
  interaction: 'http://adlnet.gov/expapi/activities/cmi.interaction',
  course: 'http://adlnet.gov/expapi/activities/course',
} as const;

/** The extension of a credit with the rule and its evidence. docs/sinks/xapi.md describes its members. */
export const creditExtension = 'urn:pigeonpost:xapi:credit';

function verb(id: string, display: string) {
  return { id, display: { 'en-US': display } };
}

/** A random constant. It must never change, because every statement would then have another id. */
const namespace = Buffer.from('5c1f0d4be0a94d0fa3c67d3f1b9e2a78', 'hex');

/** The kind of a statement, as its id contains it. */
export type IssuedKind = StatementKind | `credit:${number}`;

/**
 * Returns the id of the statement for a change. The id is the same each time the statement is sent, so that the LRS
 * stores it only once.
 * @param issue the number of earlier statements of the same revision, because a voided id cannot be used again
 */
export function statementId(
  kind: IssuedKind,
  { workspace, pigeonholeId, list, key, revision }: Omit<Change, 'data'>,
  issue: number,
): string {
  const name = [kind, workspace, pigeonholeId, list, key, revision, ...(issue === 0 ? [] : [issue])];
  return uuidV5(JSON.stringify(name));
}

/**
 * Returns the id of the statement that joins the answers with these keys.
 * @param issue the number of earlier statements of these answers
 */
export function joinedId({ workspace, pigeonholeId, list }: Change, members: readonly string[], issue: number): string {
  return uuidV5(JSON.stringify(['joined', workspace, pigeonholeId, list, members, issue]));
}

export function voidingId(statement: string): string {
  return uuidV5(JSON.stringify(['voided', statement]));
}

/** Returns a UUID of version 5 (RFC 9562, 5.5). */
function uuidV5(name: string): string {
  const digest = createHash('sha1').update(namespace).update(name).digest('hex');
  const variant = ((parseInt(digest[16]!, 16) & 0x3) | 0x8).toString(16);
  const hex = `${digest.slice(0, 12)}5${digest.slice(13, 16)}${variant}${digest.slice(17, 32)}`;
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

/**
 * Creates the activities that are the objects of statements. Their ids are addresses below the configured `activities`.
 * They contain the workspace's name and the service's ids, but no name of an event, so that a renamed event stays the
 * same activity.
 */
export class Activities {
  readonly #base: string;

  constructor(base: string) {
    this.#base = base.replace(/\/+$/, '');
  }

  pigeonhole({ change, pigeonhole }: Subject): Activity {
    return activity(this.#pigeonholeId(change), { type: activityTypes.meeting, ...nameOf(pigeonhole) });
  }

  /** Returns the session as an activity; undefined if the item has no session. */
  session({ change, session }: Subject): Activity | undefined {
    if (change.sessionId === null) return undefined;
    const definition = { type: activityTypes.meeting, ...nameOf(session) };
    return activity(this.#sessionId(change), definition);
  }

  /**
   * Returns a question of an attendee or of a poll as an activity. The question's id is unique within the pigeonhole.
   */
  question(change: Change, id: number, definition: ActivityDefinition): Activity {
    return activity(`${this.#pigeonholeId(change)}/questions/${id}`, definition);
  }

  /** Returns the question of a word cloud as an activity. A word cloud has one question, the session itself. */
  wordCloud({ change, session }: Subject): Activity {
    return activity(`${this.#sessionId(change)}/word-cloud`, {
      type: activityTypes.interaction,
      interactionType: 'long-fill-in',
      ...nameOf(session),
    });
  }

  /** Returns, as an activity, the answer that a question received on stage. Attendees rate it. */
  answerTo(change: Change, questionId: number): Activity {
    return activity(`${this.#pigeonholeId(change)}/questions/${questionId}/answer`, {
      type: activityTypes.interaction,
      interactionType: 'numeric',
    });
  }

  /**
   * Returns the activity of a credit.
   * @param name an address, which is used unchanged, or a name, which is appended to the base address
   */
  credited(name: string): Activity {
    const id = isAddress(name) ? name : `${this.#base}/credits/${encodeURIComponent(name)}`;
    return activity(id, { type: activityTypes.course });
  }

  #pigeonholeId({ workspace, pigeonholeId }: Change): string {
    return `${this.#base}/workspaces/${encodeURIComponent(workspace)}/pigeonholes/${pigeonholeId}`;
  }

  #sessionId(change: Change): string {
    return `${this.#pigeonholeId(change)}/sessions/${change.sessionId ?? 0}`;
  }
}

export function inUnknownLanguage(text: string): LanguageMap {
  return { und: text };
}

function activity(id: string, definition: ActivityDefinition): Activity {
  return { objectType: 'Activity', id, definition };
}

/** Returns the name of a pigeonhole or session, as a member of its definition. */
function nameOf(item: Fields | null): Pick<ActivityDefinition, 'name'> {
  const name = item?.['name'];
  return typeof name === 'string' && name !== '' ? { name: inUnknownLanguage(name) } : {};
}

function isAddress(name: string): boolean {
  return /^[a-z][a-z0-9+.-]*:\S+$/i.test(name) && URL.canParse(name);
}
