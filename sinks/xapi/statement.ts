import { createHash } from 'node:crypto';
import type { Change } from '../change.js';
import type { StatementKind } from './config.js';
/**
 * A statement as it is sent: the part of xAPI 1.0.3 (Data, 2.2 "Formation of Statements") that is used here. The LRS adds
 * who stored it and when.
 */
export interface Statement {
  readonly id: string;
  readonly actor: Agent;
  readonly verb: { readonly id: string; readonly display: LanguageMap };
  readonly object: Activity | StatementRef;
  readonly result?: Result;
  readonly context?: Context;
  /** ISO 8601, UTC; a voiding statement has none, so that it is the same whenever it is sent. */
  readonly timestamp?: string;
}

/** The same in any language: what an audience says has none that is known ("und", RFC 5646). */
export type LanguageMap = Readonly<Record<string, string>>;

/** With exactly one identifier: xAPI 1.0.3, Data, 2.4.2.3 "Inverse Functional Identifier". */
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
  /** The options that are known from the statement itself: the service does not list those that nobody chose. */
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

/** A text with what is not Unicode (lone surrogates) replaced: an LRS may refuse it, or change it. */
export function wellFormed(text: string): string {
  return text.replace(/\p{Surrogate}/gu, '\ufffd');
}

/**
 * The words of xAPI that statements are made of, each an IRI that LMSs and reports know.
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

/** What pigeonpost adds to a credit: the rule and its evidence. docs/sinks/xapi.md describes its members. */
export const creditExtension = 'urn:pigeonpost:xapi:credit';

function verb(id: string, display: string) {
  return { id, display: { 'en-US': display } };
}

/** Random, fixed for ever: another one would make every statement that was ever sent another statement. */
const namespace = Buffer.from('5c1f0d4be0a94d0fa3c67d3f1b9e2a78', 'hex');

/**
 * The id of what a revision of an item says: the same however often it is sent, so that the LRS keeps it once.
 * @param issue 0; more for what is issued anew for the same revision, since a voided id can say nothing more
 */
export function statementId(
  kind: StatementKind | `credit:${number}`,
  { workspace, pigeonholeId, list, key, revision }: Change,
  issue: number,
): string {
  const name = [kind, workspace, pigeonholeId, list, key, revision, ...(issue === 0 ? [] : [issue])];
  return uuidV5(JSON.stringify(name));
}

/** The id of the one statement that voids another. */
export function voidingId(statement: string): string {
  return uuidV5(JSON.stringify(['voided', statement]));
}

/** RFC 9562, 5.5. */
function uuidV5(name: string): string {
  const digest = createHash('sha1').update(namespace).update(name).digest('hex');
  const variant = ((parseInt(digest[16]!, 16) & 0x3) | 0x8).toString(16);
  const hex = `${digest.slice(0, 12)}5${digest.slice(13, 16)}${variant}${digest.slice(17, 32)}`;
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}
