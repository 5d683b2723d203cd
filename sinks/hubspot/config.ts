import { z } from 'zod';
import { listNames } from '../../base/lists.js';
import { headerSecret, listOf, nonEmptyText, oneOf, sinkUrl, text } from '../../config/values.js';
import { expression, writtenValue } from '../mapping/expression-schema.js';
import { networkKeys, plainHttpStaysPrivate } from '../network/address-policy.js';

/** The internal name of a property. HubSpot forms it from lower-case letters, digits and underscores. */
const propertyName = () =>
  text('the internal name of a HubSpot property, such as last_event', (found) =>
    /^[a-z][a-z0-9_]{0,99}$/.test(found) ? found : undefined,
  );

const properties = () =>
  z.record(propertyName(), writtenValue, { error: 'allowed: names of HubSpot properties, each with an expression' });

const recordKeys = z.strictObject({
  from: oneOf(listNames).describe('The list of the items.'),
  when: expression()
    .optional()
    .describe('Only items for which this is true. If it becomes false, the item is withdrawn.'),
  object: text('contacts, marketing-event, notes, or the name of a custom object', (found) =>
    /^[A-Za-z0-9_-]{1,100}$/.test(found) ? found : undefined,
  ).describe('The kind of HubSpot record that an item becomes.'),
  match: listOf(propertyName(), { allowed: 'a list of unique properties' })
    .optional()
    .describe('Unique properties by which the record is found, in order: the first that finds one decides.'),
  create: z
    .boolean({ error: 'allowed: true or false' })
    .default(true)
    .describe('Whether to create records that are not found. `false` only updates.'),
  properties: properties().optional().describe('What is written, by the internal name of the property.'),
  event: z
    .strictObject({
      name: expression().describe('Its name.'),
      organizer: expression().describe('Who organises it.'),
      type: expression().optional().describe('Its type, such as CONFERENCE.'),
      description: expression().optional().describe('What it is about.'),
      url: expression().optional().describe('Address of a page about the event.'),
      startDateTime: expression().optional().describe('When it begins, ISO 8601.'),
      endDateTime: expression().optional().describe('When it ends, ISO 8601.'),
    })
    .optional()
    .describe('The marketing event, one for each pigeonhole.'),
  attendance: expression().optional().describe('`register`, `attend` or `cancel`; nothing: no registration.'),
  email: expression().optional().describe('The e-mail address of the contact to which the object belongs.'),
  contact: z
    .record(propertyName(), expression(), { error: 'allowed: unique contact properties, each with an expression' })
    .optional()
    .describe('Instead of `email`: unique properties of contacts, in order. The first that finds a contact decides.'),
  contactProperties: z
    .record(propertyName(), expression(), { error: 'allowed: contact properties, each with an expression' })
    .optional()
    .describe('Properties of a contact that is created for this record. An existing contact keeps its values.'),
  joinedAt: expression().optional().describe('When the person joined, ISO 8601. Only sent with `attend`.'),
  leftAt: expression().optional().describe('When the person left, ISO 8601. Only sent with `attend`.'),
  lists: z
    .array(expression(), { error: 'allowed: a list of expressions that give ids of static lists' })
    .optional()
    .describe(
      'Static lists (segments) that the contact is put into, by id, and taken out of when the record is withdrawn.',
    ),
});

/** An entry of `records` in the configuration. */
export type RecordKeys = Readonly<z.infer<typeof recordKeys>>;

const record = recordKeys.superRefine((keys, context) =>
  findProblems(keys, (path, message) => context.issues.push({ code: 'custom', input: keys, path: [path], message })),
);

const allowedVersion = 'a version by date such as 2026-09, or v3';

/** docs/sinks/hubspot.md explains each key to users. */
export const hubspotConfigSchema = z
  .strictObject({
    token: headerSecret().describe('The service key, or the access token of an existing private app.'),
    baseUrl: sinkUrl()
      .prefault('https://api.hubapi.com')
      .describe('Replaces https://api.hubapi.com, for example by a proxy.'),
    apiVersion: nonEmptyText(allowedVersion)
      .refine((found) => /^(v3|\d{4}-\d{2})$/.test(found), { error: `allowed: ${allowedVersion}` })
      .prefault('2026-09')
      .describe("The version of HubSpot's API. HubSpot supports v3 until September 2027."),
    records: z
      .array(record, { error: 'allowed: a list of records' })
      .min(1, { error: 'allowed: at least one record' })
      .describe('What to write to HubSpot for each list.'),
    ...networkKeys,
  })
  .superRefine(plainHttpStaysPrivate('baseUrl'));

/** The keys of a `hubspot` sink in pigeonpost.yaml, without those that all sinks share. */
export type HubSpotConfig = Readonly<z.infer<typeof hubspotConfigSchema>>;

type Key = keyof RecordKeys;

/** The keys that each kind of object accepts besides `from`, `object`, `when` and `create`. */
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

/** The keys that some kinds of object do not accept. */
const optional = recordKeys.omit({ from: true, object: true, when: true, create: true }).keyof().options;

/** Properties whose values HubSpot assigns. The service does not know them, so `match` cannot use them. */
const unmatchable = new Set(['hs_object_id', 'id']);

/** Checks which keys an entry of `records` has, because each kind of object needs other keys. */
function findProblems(keys: RecordKeys, problem: (path: Key, message: string) => void): void {
  const kind = keys.object in takes ? (keys.object as keyof typeof takes) : 'custom';
  const { email, contact, contactProperties, properties } = keys;
  for (const key of needs[kind]) if (keys[key] === undefined) problem(key, `is missing: ${keys.object} needs it`);
  for (const key of optional) {
    if (keys[key] !== undefined && !takes[kind].includes(key)) {
      problem(key, `does not belong to ${keys.object}; remove it`);
    }
  }
  const namesContact = email !== undefined || contact !== undefined;
  if (email !== undefined && contact !== undefined) {
    problem('contact', 'cannot be used together with "email"; remove one of the two');
  }
  if (contactProperties !== undefined && kind === 'custom' && !namesContact) {
    problem('contactProperties', 'needs "email" or "contact", which name the contact');
  }
  if (contactProperties !== undefined && Object.hasOwn(contactProperties, 'email')) {
    problem('contactProperties', 'must not contain "email": use the key "email" or "contact" for it');
  }
  if (kind === 'notes') {
    if (!namesContact) problem('email', 'is missing: a note belongs to a contact (or write "contact")');
    if (properties !== undefined && !Object.hasOwn(properties, 'hs_note_body')) {
      problem('properties', 'has to give hs_note_body, the text of the note');
    }
    if (Object.values(properties ?? {}).some(({ write }) => write !== 'always')) {
      problem('properties', 'of a note belong only to this sink: set "write" to always');
    }
  }
  for (const name of keys.match ?? []) {
    if (unmatchable.has(name)) {
      problem('match', `HubSpot does not match by ${name}: take a unique property of your own`);
    } else if (properties !== undefined && !Object.hasOwn(properties, name)) {
      problem('match', `add ${name} to "properties", which sets its value`);
    }
  }
}
