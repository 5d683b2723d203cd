import type { ListName } from '../../config/schema/list-names.js';
import type { Expression } from '../mapping/expression.js';
import type { WrittenValue } from '../mapping/expression-schema.js';

/** An entry of `records`, as it is written. */
export interface RecordKeys {
  readonly from: ListName;
  readonly when?: Expression | undefined;
  readonly object: string;
  readonly match?: readonly string[] | undefined;
  readonly create: boolean;
  readonly properties?: Readonly<Record<string, WrittenValue>> | undefined;
  readonly event?: EventKeys | undefined;
  readonly attendance?: Expression | undefined;
  readonly email?: Expression | undefined;
  readonly contact?: Readonly<Record<string, Expression>> | undefined;
  readonly contactProperties?: Readonly<Record<string, Expression>> | undefined;
  readonly joinedAt?: Expression | undefined;
  readonly leftAt?: Expression | undefined;
  readonly lists?: readonly Expression[] | undefined;
}

export interface EventKeys {
  readonly name: Expression;
  readonly organizer: Expression;
  readonly type?: Expression | undefined;
  readonly description?: Expression | undefined;
  readonly url?: Expression | undefined;
  readonly startDateTime?: Expression | undefined;
  readonly endDateTime?: Expression | undefined;
}

type Key = keyof RecordKeys;

/** The keys that each kind of object takes, besides `from`, `object`, `when` and `create`. */
const takes: Readonly<Record<'contacts' | 'marketing-event' | 'notes' | 'custom', readonly Key[]>> = {
  contacts: ['match', 'properties', 'lists'],
  'marketing-event': ['event', 'attendance', 'email', 'joinedAt', 'leftAt', 'contactProperties'],
  notes: ['properties', 'email', 'contact', 'contactProperties'],
  custom: ['match', 'properties', 'email', 'contact', 'contactProperties'],
};

const needs: Readonly<Record<keyof typeof takes, readonly Key[]>> = {
  contacts: ['match', 'properties'],
  'marketing-event': ['event', 'attendance', 'email'],
  notes: ['properties'],
  custom: ['match', 'properties'],
};

const optional: readonly Key[] = [
  'match',
  'properties',
  'event',
  'attendance',
  'email',
  'contact',
  'contactProperties',
  'joinedAt',
  'leftAt',
  'lists',
];

/** Properties that HubSpot gives to each record itself, so that no value of ours can be matched with them. */
const unmatchable = new Set(['hs_object_id', 'id']);

/** What is wrong with an entry of `records` as a whole: the kinds of object take different keys. */
export function recordProblems(keys: RecordKeys): { readonly path: Key; readonly message: string }[] {
  const kind = keys.object in takes ? (keys.object as keyof typeof takes) : 'custom';
  const problems: { path: Key; message: string }[] = [];
  for (const key of needs[kind]) {
    if (keys[key] === undefined) problems.push({ path: key, message: `is missing: ${keys.object} needs it` });
  }
  for (const key of optional) {
    if (keys[key] !== undefined && !takes[kind].includes(key)) {
      problems.push({ path: key, message: `does not belong to ${keys.object}; remove it` });
    }
  }
  if (keys.email !== undefined && keys.contact !== undefined) {
    problems.push({ path: 'contact', message: 'says the same as "email"; remove one of the two' });
  }
  if (keys.contactProperties !== undefined && kind === 'custom' && keys.email === undefined && !keys.contact) {
    problems.push({ path: 'contactProperties', message: 'needs "email" or "contact", which name the contact' });
  }
  if (keys.contactProperties !== undefined && Object.hasOwn(keys.contactProperties, 'email')) {
    problems.push({ path: 'contactProperties', message: 'takes no email: "email" or "contact" gives it' });
  }
  if (kind === 'notes') problems.push(...noteProblems(keys));
  for (const name of keys.match ?? []) {
    if (unmatchable.has(name)) {
      problems.push({
        path: 'match',
        message: `HubSpot does not match by ${name}: take a unique property of your own`,
      });
    } else if (keys.properties !== undefined && !Object.hasOwn(keys.properties, name)) {
      problems.push({ path: 'match', message: `${name} has to stand in "properties", which give it its value` });
    }
  }
  return problems;
}

function noteProblems(keys: RecordKeys): { path: Key; message: string }[] {
  const problems: { path: Key; message: string }[] = [];
  if (keys.email === undefined && keys.contact === undefined) {
    problems.push({ path: 'email', message: 'is missing: a note belongs to a contact (or write "contact")' });
  }
  if (keys.properties !== undefined && !Object.hasOwn(keys.properties, 'hs_note_body')) {
    problems.push({ path: 'properties', message: 'has to give hs_note_body, the text of the note' });
  }
  if (Object.values(keys.properties ?? {}).some(({ write }) => write !== 'always')) {
    problems.push({ path: 'properties', message: 'of a note are ours alone: "write" has to be always' });
  }
  return problems;
}
