import { fieldsOf } from '../fields-of.js';
import type { Expression } from '../mapping/expression.js';
import type { CheckLine } from '../sink.js';
import { listOf } from './classify-answer.js';
import type { Asking, HubSpotClient, Reply } from './client.js';
import type { RecordKeys } from './record-problems.js';

type PropertyDefinition = Readonly<Record<string, unknown>>;

/**
 * Looks at the account without changing it: the token, its scopes, and each property that `records` name: whether it
 * exists, can be written, is unique where it is matched by, and takes what a literal says. Never throws.
 */
export async function checkAccount(
  client: HubSpotClient,
  records: readonly RecordKeys[],
  sinkName: string,
  asking: Asking & { readonly host: string },
): Promise<CheckLine[]> {
  const account = await client.get(client.paths.accountDetails, asking);
  if (account.kind !== 'ok') return [{ ok: false, text: failureOf(account, 'the account') }];
  const portal = account.body.portalId;
  const named = typeof portal === 'number' ? ` of account ${portal}` : '';
  const lines: CheckLine[] = [{ ok: true, text: `${asking.host} takes the token${named}` }];
  const scopes = await client.scopes(asking);
  for (const scope of scopes === undefined ? [] : scopesFor(records).filter((each) => !scopes.has(each))) {
    lines.push({ ok: false, text: `the private app lacks the scope ${scope}: add it in HubSpot` });
  }
  const definitions = new Map<string, Map<string, PropertyDefinition> | undefined>();
  for (const objectType of new Set(records.flatMap(typesOf))) {
    const reply = await client.get(client.paths.properties(objectType), asking);
    if (reply.kind === 'ok') {
      const found = listOf(reply.body.results).map(fieldsOf);
      definitions.set(objectType, new Map(found.map((each) => [String(each.name), each])));
    } else lines.push({ ok: false, text: failureOf(reply, `the properties of ${objectType}`) });
  }
  for (const [index, keys] of records.entries()) {
    const problems = await problemsOf(keys, `${sinkName}.records[${index}]`, definitions);
    if (problems.length > 0) lines.push(...problems.map((text) => ({ ok: false, text })));
    else if (typesOf(keys).length > 0 && typesOf(keys).every((objectType) => definitions.has(objectType))) {
      lines.push({ ok: true, text: `${sinkName}.records[${index}] (${keys.object}) finds all that it writes` });
    }
  }
  return lines;
}

/** What a private app has to be allowed for these records. Source: HubSpot, "Scopes", and the reference of each endpoint. */
export function scopesFor(records: readonly RecordKeys[]): string[] {
  const objects = records.flatMap(({ object, email, contact }) => {
    if (object === 'marketing-event') return ['marketing_events'];
    const belongs = email !== undefined || contact !== undefined;
    if (object === 'contacts' || object === 'notes') return ['contacts'];
    return belongs ? ['custom', 'contacts'] : ['custom'];
  });
  return [...new Set(objects)].flatMap((each) => [
    `crm.objects.${each}.read`,
    `crm.objects.${each}.write`,
    ...(each === 'marketing_events' ? [] : [`crm.schemas.${each}.read`]),
  ]);
}

/** The kinds of records whose properties an entry names. */
function typesOf(keys: RecordKeys): string[] {
  const own = keys.object === 'marketing-event' ? [] : [keys.object];
  return keys.contact === undefined ? own : [...own, 'contacts'];
}

async function problemsOf(
  keys: RecordKeys,
  path: string,
  definitions: ReadonlyMap<string, ReadonlyMap<string, PropertyDefinition> | undefined>,
): Promise<string[]> {
  const own = definitions.get(keys.object);
  const problems: string[] = [];
  for (const [name, { value }] of Object.entries(own === undefined ? {} : (keys.properties ?? {}))) {
    problems.push(...(await propertyProblems(own!.get(name), value, `${path}.properties.${name}`, keys.object)));
  }
  const contacts = definitions.get('contacts');
  problems.push(
    ...(own === undefined
      ? []
      : (keys.match ?? []).flatMap((name) => uniqueProblems(own.get(name), name, `${path}.match`))),
    ...(contacts === undefined
      ? []
      : Object.keys(keys.contact ?? {}).flatMap((name) => uniqueProblems(contacts.get(name), name, `${path}.contact`))),
  );
  return problems;
}

async function propertyProblems(
  definition: PropertyDefinition | undefined,
  value: Expression,
  path: string,
  objectType: string,
): Promise<string[]> {
  if (definition === undefined) {
    return [`${path}: ${objectType} have no such property: create it in HubSpot, or correct its internal name`];
  }
  const { readOnlyValue } = fieldsOf(definition.modificationMetadata);
  if (readOnlyValue === true || definition.calculated === true) {
    return [`${path}: HubSpot computes this property, so that it cannot be written: take another`];
  }
  const literal = await literalOf(value);
  if (literal === undefined) return [];
  return literalProblems(definition, literal).map((problem) => `${path}: ${problem}`);
}

/** What does not fit the property's type, of an expression that is the same for every item. */
function literalProblems({ type, options }: PropertyDefinition, literal: unknown): string[] {
  const text = String(literal);
  switch (type) {
    case 'enumeration': {
      const values = listOf(options).map((option) => String(fieldsOf(option).value));
      return values.length === 0 || values.includes(text) ? [] : [`takes only ${values.slice(0, 20).join(', ')}`];
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

/** The value of an expression that is a text or a number and nothing else. */
async function literalOf(expression: Expression): Promise<unknown> {
  return /^\s*("[^"]*"|'[^']*'|-?\d+(\.\d+)?|true|false)\s*$/.test(expression.text)
    ? JSON.parse(expression.text.trim().replace(/^'(.*)'$/, '"$1"'))
    : undefined;
}

function uniqueProblems(definition: PropertyDefinition | undefined, name: string, path: string): string[] {
  if (definition === undefined) return [];
  // HubSpot keeps e-mails apart itself, without calling the property unique.
  if (definition.hasUniqueValue === true || name === 'email') return [];
  return [`${path}: ${name} does not require unique values, so that it cannot find a record: take a unique property`];
}

function failureOf(reply: Exclude<Reply, { kind: 'ok' }>, what: string): string {
  if (reply.kind === 'refused') {
    return `HubSpot refuses to show ${what} (HTTP ${reply.status}): check its name in "records"`;
  }
  const detail = 'detail' in reply.result ? reply.result.detail : undefined;
  return `${what} cannot be looked at: ${detail ?? 'stopped before it was asked'}`;
}
