import { fieldsOf } from '../sink.js';
import type { Lrs, LrsAnswer, NoLrsAnswer } from './client.js';
import { type Statement, creditExtension, verbs } from './statement.js';
import { createHmac } from 'node:crypto';
import type { Secret } from '../../config/secret.js';

/**
 * The result of reading the statement whose id caused a refusal with 409, compared with the statement that was sent.
 */
type Found =
  | { readonly kind: 'same' | 'different' | 'voided' | 'missing' | 'unreadable' }
  | { readonly kind: 'unknown'; readonly answer: LrsAnswer | NoLrsAnswer };

/**
 * Reads the statement that the LRS has under this id, voided or not, and compares it. Source: xAPI 1.0.3,
 * Communication, 2.1.3 "GET Statements".
 */
export async function findUnderId(lrs: Lrs, statement: Statement, signal: AbortSignal): Promise<Found> {
  for (const parameter of ['statementId', 'voidedStatementId'] as const) {
    const answer = await lrs.getStatement(parameter, statement.id, signal);
    if (answer.kind === 'answer' && answer.status === 404) continue;
    if (answer.kind === 'answer' && answer.status === 403) return { kind: 'unreadable' };
    if (answer.kind === 'no-answer' || answer.status !== 200 || answer.body === undefined) {
      return { kind: 'unknown', answer };
    }
    if (essenceOf(answer.body) !== essenceOf(statement)) return { kind: 'different' };
    return { kind: parameter === 'statementId' ? 'same' : 'voided' };
  }
  return { kind: 'missing' };
}

/**
 * Returns the essence of a statement: actor, verb, object, result, context and time, without display names and without
 * what an LRS adds or rewrites. Statements with the same essence mean the same.
 */
function essenceOf(statement: unknown): string {
  return JSON.stringify(partsOf(statement).map(([, value]) => value));
}

/**
 * Returns the parts of the essence in which two statements differ. Pure.
 * @param held as an LRS returns it
 */
export function differingParts(sent: Statement, held: unknown): string[] {
  const found = partsOf(held);
  const differing = partsOf(sent).filter(([, value], at) => JSON.stringify(value) !== JSON.stringify(found[at]![1]));
  return [...new Set(differing.map(([name]) => name))];
}

/**
 * Returns the parts of the essence with their names.
 *
 * The essence of a credit includes its version, but not its evidence and time: additional evidence or a later time does
 * not make it another credit.
 * @param statement as sent, or as an LRS returns it
 */
function partsOf(statement: unknown): (readonly [name: string, value: unknown])[] {
  const { actor, verb, object, result, context, timestamp } = fieldsOf(statement);
  const who = fieldsOf(actor);
  const account = fieldsOf(who['account']);
  const credit = fieldsOf(fieldsOf(fieldsOf(result)['extensions'])[creditExtension])['version'];
  const isTimeless = credit !== undefined || fieldsOf(verb)['id'] === verbs.voided.id;
  const around = fieldsOf(fieldsOf(context)['contextActivities']);
  return [
    ['actor', account['homePage'] ?? who['mbox'] ?? who['mbox_sha1sum']],
    ['actor', account['name']],
    ['verb', fieldsOf(verb)['id']],
    ['object', fieldsOf(object)['id']],
    ['credit', credit ?? null],
    ...['response', 'duration', 'completion'].map(
      (name) => [`result.${name}`, fieldsOf(result)[name] ?? null] as const,
    ),
    ['result.score', fieldsOf(fieldsOf(result)['score'])['raw'] ?? null],
    ['context.parent', idsOf(around['parent'])],
    ['context.grouping', idsOf(around['grouping'])],
    ['timestamp', isTimeless || typeof timestamp !== 'string' ? null : Date.parse(timestamp)],
  ];
}

/**
 * Returns a short hash of the essence, which shows later whether a statement has changed. The hash is keyed with the
 * configured secret, because anyone who reads a plain hash could test it against attendees' accounts. After the secret
 * changes, every statement seems to have changed once, so the next change of an item voids its statement and issues
 * another.
 */
export function markOf(statement: Statement, password: Secret): string {
  return createHmac('sha256', password.reveal()).update(essenceOf(statement)).digest('base64url').slice(0, 22);
}

/** Returns the ids of activities. An LRS may return a single activity as a list with one entry. */
function idsOf(activities: unknown): unknown[] {
  const list: unknown[] = Array.isArray(activities) ? activities : activities === undefined ? [] : [activities];
  return list.map((activity) => fieldsOf(activity)['id']);
}
