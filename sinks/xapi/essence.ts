import { createHmac } from 'node:crypto';
import type { Secret } from '../../config/secret.js';
import type { Statement } from './statement.js';
import { creditExtension, verbs } from './vocabulary.js';

type Fields = Readonly<Record<string, unknown>>;

/**
 * What a statement says, apart from how things are named and from what an LRS adds or writes in another way: who, what,
 * on what, with which result, where and when. Two statements with the same essence say the same.
 *
 * Of a credit that is version, person and activity: how much more than needed somebody did, and when that was found,
 * makes it no other credit.
 * @param statement as sent, or as an LRS gives it back
 */
export function essenceOf(statement: unknown): string {
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
 * A short mark of the essence, to see later that nothing has changed. Keyed with the LRS's password, because a bare
 * hash would let whoever reads it try the accounts of all attendees; with another password everything looks changed
 * once, which voids and issues anew what changes next.
 */
export function markOf(statement: Statement, password: Secret): string {
  return createHmac('sha256', password.reveal()).update(essenceOf(statement)).digest('base64url').slice(0, 22);
}

/** xAPI lets an LRS write one activity as a list of one. */
function idsOf(activities: unknown): unknown[] {
  const list: unknown[] = Array.isArray(activities) ? activities : activities === undefined ? [] : [activities];
  return list.map((activity) => fields(activity)['id']);
}

function fields(value: unknown): Fields {
  return value !== null && typeof value === 'object' && !Array.isArray(value) ? (value as Fields) : {};
}
