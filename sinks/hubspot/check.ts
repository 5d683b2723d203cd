import { fieldsOf, type CheckLine } from '../sink.js';
import type { Expression } from '../mapping/expression.js';
import { emptyWhen, nameWarnings } from '../mapping/probe.js';
import { isHeld } from '../records/record-task.js';
import { listOf, type Reply } from './classify.js';
import type { CallBudget } from '../rest/rest-client.js';
import type { HubSpotClient } from './client.js';
import type { RecordKeys } from './config.js';
import { propertyValue } from './property-value.js';

type PropertyDefinition = Readonly<Record<string, unknown>>;

/** Source: HubSpot Knowledge Base, "Manage marketing contacts settings for your integrations". */
const marketingStatus = 'hs_marketable_status';

/** Facts about one kind of record. */
interface ObjectFacts {
  readonly definitions: ReadonlyMap<string, PropertyDefinition>;
  /** The properties that HubSpot requires of a new record; undefined if HubSpot does not show them to this key. */
  readonly required: readonly string[] | undefined;
}

/**
 * Checks the account without changing it. Checks the token and its scopes, and each property in `records`: whether it
 * exists, is writable, is unique if `match` uses it, and accepts a literal value. Also checks the required properties
 * of new records, and static lists. If the key may not read something, the other checks still run. Never throws.
 */
export async function checkAccount(
  client: HubSpotClient,
  records: readonly RecordKeys[],
  sinkName: string,
  budget: CallBudget,
): Promise<CheckLine[]> {
  const account = await client.get(client.path('account', 'details'), budget);
  if (account.kind === 'failed' && !isHeld(account.result))
    return [{ ok: false, text: failureOf(account, 'the account') }];
  const portal = account.kind === 'ok' ? account.body.portalId : undefined;
  const whose = typeof portal === 'number' ? ` of account ${portal}` : '';
  const lines: CheckLine[] = [{ ok: true, text: `${client.host} accepts the token${whose}` }];
  lines.push(...(await scopeLines(client, records, budget)));
  const objects = new Map<string, ObjectFacts>();
  const named = new Set(records.flatMap(typesOf));
  const created = records.some((keys) => createsContacts(keys, records)) ? ['contacts'] : [];
  for (const objectType of new Set([...named, ...created])) {
    const found = await readObject(client, objectType, budget);
    if (!('failure' in found)) objects.set(objectType, found);
    else if (named.has(objectType)) lines.push({ ok: false, text: found.failure });
  }
  for (const [index, keys] of records.entries()) {
    const path = `${sinkName}.records[${index}]`;
    const requirements = await requirementLines(creationsOf(keys, records), path, objects);
    const problems = [
      ...problemsOf(keys, path, objects),
      ...requirements.flatMap(({ ok, text }) => (ok ? [] : [text])),
      ...(await listProblems(client, keys, path, budget)),
    ];
    lines.push(...requirements.filter(({ ok }) => ok));
    if (keys.object === 'contacts' && keys.match?.includes('email') === true && objects.has('contacts')) {
      lines.push(...nameWarnings(keys.properties ?? {}, path).map(warned));
    }
    if (problems.length > 0) lines.push(...problems.map((text) => ({ ok: false, text })));
    else if (typesOf(keys).length > 0 && typesOf(keys).every((objectType) => objects.has(objectType))) {
      lines.push({ ok: true, text: `${path} (${keys.object}): HubSpot has every property that this entry writes` });
    }
  }
  const unknown = [...objects].filter(([, { required }]) => required === undefined).map(([objectType]) => objectType);
  if (unknown.length > 0) {
    const text = `HubSpot does not show this key what it requires of new ${unknown.join(' and ')}: add the scope crm.schemas.custom.read, or compare the form "Create Record" in HubSpot with "properties"`;
    lines.push(warned(text));
  }
  return lines;
}

/**
 * Checks the scopes of the key. HubSpot lists scopes only for the token of a private app. With a service key, a missing
 * scope shows only when HubSpot refuses a call.
 */
async function scopeLines(
  client: HubSpotClient,
  records: readonly RecordKeys[],
  budget: CallBudget,
): Promise<CheckLine[]> {
  const needed = scopesFor(records);
  const scopes = await client.scopes(budget);
  if (scopes === undefined) {
    const text = `HubSpot does not say which scopes the key has. These records need: ${needed.join(', ')}`;
    return [{ ok: true, text }];
  }
  return needed
    .filter((scope) => !scopes.has(scope))
    .map((scope) => ({ ok: false, text: `the key lacks the scope ${scope}: add it in HubSpot` }));
}

async function readObject(
  client: HubSpotClient,
  objectType: string,
  budget: CallBudget,
): Promise<ObjectFacts | { readonly failure: string }> {
  const reply = await client.get(client.path('properties', objectType), budget);
  if (reply.kind !== 'ok') return { failure: failureOf(reply, `the properties of ${objectType}`) };
  const found = listOf(reply.body.results).map(fieldsOf);
  const schema = await client.get(client.path('schemas', `schemas/${objectType}`), budget);
  const required = schema.kind === 'ok' ? listOf(schema.body.requiredProperties).map(String) : undefined;
  return { definitions: new Map(found.map((each) => [String(each.name), each])), required };
}

/** The scopes that a key needs for these records. Source: HubSpot, "Scopes", and the reference of each endpoint. */
function scopesFor(records: readonly RecordKeys[]): string[] {
  const objects = records.flatMap(({ object, email, contact }) => {
    if (object === 'marketing-event') return ['marketing_events'];
    const belongs = email !== undefined || contact !== undefined;
    if (object === 'contacts' || object === 'notes') return ['contacts'];
    return belongs ? ['custom', 'contacts'] : ['custom'];
  });
  const lists = records.some(({ lists }) => lists !== undefined) ? ['crm.lists.read', 'crm.lists.write'] : [];
  const own = [...new Set(objects)].flatMap((each) => [
    `crm.objects.${each}.read`,
    `crm.objects.${each}.write`,
    ...(each === 'marketing_events' ? [] : [`crm.schemas.${each}.read`]),
  ]);
  return [...own, ...lists];
}

/** Returns the kinds of records whose properties an entry of `records` names. */
function typesOf(keys: RecordKeys): string[] {
  const own = keys.object === 'marketing-event' ? [] : [keys.object];
  const namesContacts = keys.contact !== undefined || keys.contactProperties !== undefined;
  return namesContacts ? [...own, 'contacts'] : own;
}

/** New records that an entry of `records` creates. */
interface Creation {
  readonly objectType: string;
  /** The key of the entry whose properties a new record has. */
  readonly key: 'properties' | 'contactProperties';
  /** The properties that are always set, because they identify the record. */
  readonly identifying: readonly string[];
  readonly properties: Readonly<Record<string, Expression>>;
}

function creationsOf(keys: RecordKeys, records: readonly RecordKeys[]): Creation[] {
  const { object: objectType, match = [], contact, contactProperties = {} } = keys;
  const values = Object.entries(keys.properties ?? {}).filter(([name]) => !match.includes(name));
  const properties = Object.fromEntries(values.map(([name, { value }]) => [name, value]));
  const own: Creation = { objectType, key: 'properties', identifying: match, properties };
  const contacts: Creation = {
    objectType: 'contacts',
    key: 'contactProperties',
    identifying: ['email', ...Object.keys(contact ?? {})],
    properties: contactProperties,
  };
  return [...(keys.create ? [own] : []), ...(createsContacts(keys, records) ? [contacts] : [])];
}

/**
 * Checks the properties that HubSpot requires of new records. From API version 2026-09 on, HubSpot refuses a record
 * without one of them with HTTP 400, so a property that the mapping does not set is a problem. A property for which the
 * mapping can return nothing is a warning: some new records become dead letters. To find such properties, evaluates the
 * mapping for an item whose fields contain one word each, and for an item without fields. The API does not show rules
 * that require a property only if another property has a certain value.
 */
async function requirementLines(
  creations: readonly Creation[],
  path: string,
  objects: ReadonlyMap<string, ObjectFacts>,
): Promise<CheckLine[]> {
  const lines: CheckLine[] = [];
  for (const { objectType, key, identifying, properties } of creations) {
    for (const name of objects.get(objectType)?.required ?? []) {
      const value = properties[name];
      const when = value === undefined ? undefined : await emptyWhen(value, propertyValue);
      if (value === undefined && !['hs_timestamp', ...identifying].includes(name)) {
        const text = `${path}.${key}: HubSpot requires ${name} of new ${objectType}, and the mapping does not give it: add it`;
        lines.push({ ok: false, text });
      }
      if (when !== undefined) {
        const text = `${path}.${key}.${name}: HubSpot requires ${name} of new ${objectType}, but the mapping returns nothing for ${when}. Such a record becomes a dead letter: see "Required properties" in docs/sinks/hubspot.md`;
        lines.push(warned(text));
      }
    }
  }
  return lines;
}

/**
 * Whether this entry creates contacts for its records. It does not if an entry for contacts creates them from the same
 * list, because contacts are written first.
 */
function createsContacts(
  { from, object, create, email, contact }: RecordKeys,
  records: readonly RecordKeys[],
): boolean {
  if (object === 'contacts' || (email === undefined && contact === undefined)) return false;
  const areWrittenBefore = records.some((each) => each.object === 'contacts' && each.create && each.from === from);
  return !areWrittenBefore && (create || object === 'marketing-event');
}

/**
 * Returns problems of lists whose ids are literals. If an expression computes a list's id, the id is known only at run
 * time.
 */
async function listProblems(
  client: HubSpotClient,
  { lists = [] }: RecordKeys,
  path: string,
  budget: CallBudget,
): Promise<string[]> {
  const problems: string[] = [];
  for (const [index, expression] of lists.entries()) {
    const id = /^\s*"?(\d+)"?\s*$/.exec(expression.text)?.[1];
    if (id === undefined) continue;
    const reply = await client.get(client.path('lists', id), budget);
    const { objectTypeId, processingType } = reply.kind === 'ok' ? fieldsOf(reply.body.list) : {};
    if (reply.kind !== 'ok') problems.push(`${path}.lists[${index}]: ${failureOf(reply, `list ${id}`)}`);
    else if (processingType === 'DYNAMIC') {
      problems.push(
        `${path}.lists[${index}]: list ${id} is a dynamic list, which HubSpot fills itself: use a static list`,
      );
    } else if (objectTypeId !== undefined && objectTypeId !== '0-1') {
      problems.push(`${path}.lists[${index}]: list ${id} is not a list of contacts: name one that is`);
    }
  }
  return problems;
}

function problemsOf(
  { object, properties = {}, match = [], contact = {}, contactProperties = {} }: RecordKeys,
  path: string,
  objects: ReadonlyMap<string, ObjectFacts>,
): string[] {
  const own = objects.get(object)?.definitions;
  const contacts = objects.get('contacts')?.definitions;
  const problems: string[] = [];
  if (own !== undefined) {
    for (const [name, { value }] of Object.entries(properties)) {
      problems.push(...propertyProblems(own.get(name), value, `${path}.properties.${name}`, object));
    }
  }
  if (contacts !== undefined) {
    for (const [name, value] of Object.entries(contactProperties)) {
      problems.push(...propertyProblems(contacts.get(name), value, `${path}.contactProperties.${name}`, 'contacts'));
    }
  }
  return [
    ...problems,
    ...match.flatMap((name) => uniqueProblems(own?.get(name), name, `${path}.match`)),
    ...Object.keys(contact).flatMap((name) => uniqueProblems(contacts?.get(name), name, `${path}.contact`)),
  ];
}

function propertyProblems(
  definition: PropertyDefinition | undefined,
  value: Expression,
  path: string,
  objectType: string,
): string[] {
  if (definition === undefined) {
    return [`${path}: ${objectType} have no such property: create it in HubSpot, or correct its internal name`];
  }
  const { readOnlyValue } = fieldsOf(definition.modificationMetadata);
  if (definition.name === marketingStatus && readOnlyValue === true) {
    return [
      `${path}: HubSpot does not let an API write the marketing status of contacts: turn the key on under Settings > Integrations > Marketing contacts, or write a property of your own and let a workflow set the status`,
    ];
  }
  if (readOnlyValue === true || definition.calculated === true) {
    return [`${path}: HubSpot computes this property, so it cannot be written: choose another property`];
  }
  const literal = literalOf(value);
  if (literal === undefined) return [];
  return literalProblems(definition, literal).map((problem) => `${path}: ${problem}`);
}

/** Returns the problems of a literal value that does not fit the property's type. */
function literalProblems({ type, fieldType, options }: PropertyDefinition, literal: unknown): string[] {
  const text = String(literal);
  switch (type) {
    case 'enumeration': {
      const values = listOf(options).map((option) => String(fieldsOf(option).value));
      const chosen = fieldType === 'checkbox' ? text.split(';') : [text];
      return values.length === 0 || chosen.every((each) => values.includes(each))
        ? []
        : [`takes only ${values.slice(0, 20).join(', ')}`];
    }
    case 'number':
      return Number.isNaN(Number(text)) ? ['takes a number'] : [];
    case 'bool':
      return ['true', 'false'].includes(text) ? [] : ['takes true or false'];
    case 'date':
    case 'datetime':
      return /^\d+$/.test(text) || !Number.isNaN(Date.parse(text)) ? [] : ['takes a date'];
    default:
      return [];
  }
}

/**
 * Returns the value of an expression that is only a literal (a text, a number, true or false); undefined for any other.
 */
function literalOf({ tree: { type = '', value } }: Expression): unknown {
  return ['string', 'number', 'value'].includes(type) ? (value ?? undefined) : undefined;
}

function uniqueProblems(definition: PropertyDefinition | undefined, name: string, path: string): string[] {
  if (definition === undefined) return [];
  // HubSpot keeps e-mail addresses of contacts unique, although it does not report the property as unique.
  if (definition.hasUniqueValue === true || name === 'email') return [];
  return [`${path}: ${name} does not require unique values, so it cannot identify a record: choose a unique property`];
}

export function failureOf(reply: Exclude<Reply, { kind: 'ok' }>, what: string): string {
  if (reply.kind === 'refused') {
    return `HubSpot refuses to show ${what} (HTTP ${reply.status}): check its name in "records"`;
  }
  const detail = 'detail' in reply.result ? reply.result.detail : undefined;
  return `${what} cannot be read: ${detail ?? 'the check stopped before this request'}`;
}

function warned(text: string): CheckLine {
  return { ok: true, warning: true, text };
}
