import type { Lrs, LrsAnswer, LrsSilence } from './client.js';
import { type Statement, creditExtension, verbs } from './statement.js';
import { createHmac } from 'node:crypto';
import type { Secret } from '../../config/secret.js';

/** The statement that the LRS holds under the id of a statement that it refused with 409. */
type Found =
  | { readonly kind: 'same' | 'different' | 'voided' | 'missing' | 'unreadable' }
  | { readonly kind: 'unknown'; readonly answer: LrsAnswer | LrsSilence };

/** Reads the statement with this id, voided or not: xAPI 1.0.3, Communication, 2.1.3 "GET Statements". */
export async function findUnderId(lrs: Lrs, statement: Statement, signal: AbortSignal): Promise<Found> {
  for (const parameter of ['statementId', 'voidedStatementId'] as const) {
    const answer = await lrs.getStatement(parameter, statement.id, signal);
    if (answer.kind === 'answer' && answer.status === 404) continue;
    if (answer.kind === 'answer' && answer.status === 403) return { kind: 'unreadable' };
    if (answer.kind === 'silence' || answer.status !== 200 || answer.body === undefined) {
      return { kind: 'unknown', answer };
    }
    if (essenceOf(answer.body) !== essenceOf(statement)) return { kind: 'different' };
    return { kind: parameter === 'statementId' ? 'same' : 'voided' };
  }
  return { kind: 'missing' };
}

type Fields = Readonly<Record<string, unknown>>;

/**
 * Returns the meaning of a statement, without display names and without what an LRS adds or rewrites: actor, verb,
 * object, result, context and time. Statements with the same essence mean the same.
 *
 * The essence of a credit is version, actor and activity: additional evidence, or a later time, make it no other credit.
 * @param statement as sent, or as an LRS returns it
 */
function essenceOf(statement: unknown): string {
  const { actor, verb, object, result, context, timestamp } = fields(statement);
  const who = fields(actor);
  const account = fields(who['account']);
  const credit = fields(fields(fields(result)['extensions'])[creditExtension])['version'];
  const isTimeless = credit !== undefined || fields(verb)['id'] === verbs.voided.id;
  const around = fields(fields(context)['contextActivities']);
  return JSON.stringify([
    account['homePage'] ?? who['mbox'] ?? who['mbox_sha1sum'],
    account['name'],
    fields(verb)['id'],
    fields(object)['id'],
    credit ?? null,
    ...['response', 'duration', 'completion'].map((name) => fields(result)[name] ?? null),
    fields(fields(result)['score'])['raw'] ?? null,
    idsOf(around['parent']),
    idsOf(around['grouping']),
    isTimeless || typeof timestamp !== 'string' ? null : Date.parse(timestamp),
  ]);
}

/**
 * Returns a short hash of the essence, to detect later that nothing has changed. It is keyed with the LRS's password:
 * a plain hash would let its reader test the accounts of all attendees. After the password changes, every statement
 * looks changed once, so the next change of an item voids it and issues another.
 */
export function markOf(statement: Statement, password: Secret): string {
  return createHmac('sha256', password.reveal()).update(essenceOf(statement)).digest('base64url').slice(0, 22);
}

/** xAPI lets an LRS return one activity as a list of one. */
function idsOf(activities: unknown): unknown[] {
  const list: unknown[] = Array.isArray(activities) ? activities : activities === undefined ? [] : [activities];
  return list.map((activity) => fields(activity)['id']);
}

function fields(value: unknown): Fields {
  return value !== null && typeof value === 'object' && !Array.isArray(value) ? (value as Fields) : {};
}
