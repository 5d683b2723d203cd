import type { CheckLine, OnForget } from '../sink.js';
import { CallFailure } from './operation.js';
import { type CampaignKeys, isPersonType, type PersonType, type RecordKeys } from './config.js';
import { factsOf, conformValue, fieldValue, type FieldFacts, type ObjectFacts, type Org } from './object-fields.js';
import { targetOf } from './lookups.js';
import type { Expression } from '../mapping/expression.js';
import { emptyView, emptyWhen, nameWarnings } from '../mapping/probe.js';
import { mentionedFields } from '../mapping/mentioned-fields.js';
import { isDoneByPeople, type NamedRecord } from '../mapping/crm-records.js';

/**
 * Checks whether the org accepts what the mapping writes: the login, and for each object its fields, types, values,
 * external IDs and statuses. Writes nothing and never throws.
 */
export async function checkOrg(
  org: Org,
  records: readonly NamedRecord<RecordKeys>[],
  onForget: OnForget,
): Promise<CheckLine[]> {
  const lines: CheckLine[] = [];
  try {
    await org.client.logIn(org.budget.signal);
    lines.push(good('the login to Salesforce succeeds'));
    for (const record of records) lines.push(...(await orFailure(() => checkRecord(org, record, onForget))));
  } catch (error) {
    lines.push(bad(failureText(error)));
  }
  return lines.filter(({ text }, at) => at === lines.findIndex((each) => each.text === text));
}

/** Runs one part of the check. If it fails, returns the failure as a line, so that the other parts still run. */
async function orFailure(look: () => Promise<CheckLine[]>): Promise<CheckLine[]> {
  try {
    return await look();
  } catch (error) {
    return [bad(failureText(error))];
  }
}

function failureText(error: unknown): string {
  return error instanceof CallFailure ? error.result.detail : 'the check was stopped before it was complete';
}

async function checkRecord(
  org: Org,
  { keys, path }: NamedRecord<RecordKeys>,
  onForget: OnForget,
): Promise<CheckLine[]> {
  const { from, object, externalId, create, campaign, properties, lookups, person } = keys;
  const facts = await factsOf(org, object);
  const problems: string[] = [];
  if (create && !facts.createable) problems.push(`${path}: the user may not create a ${object}`);
  if (!facts.updateable) problems.push(`${path}: the user may not change a ${object}`);
  if (!isPersonType(object)) {
    if (!facts.deletable)
      problems.push(`${path}: the user may not delete a ${object}, which is necessary when its item is deleted`);
  } else if (onForget === 'delete' && !facts.deletable) {
    problems.push(`${path}: the user may not delete a ${object}, which "onForget: delete" requires`);
  }
  const checked = await checkFields(facts, object, `${path}.properties`, valuesOf(properties));
  problems.push(...checked.problems);
  const infos = [...checked.infos];
  const warnings: string[] = [];
  if (!keys.match.every((by) => by === 'externalId')) warnings.push(...nameWarnings(properties, path));
  warnings.push(...accountWarnings(keys, path));
  problems.push(...(await lookupProblems(org, keys, path)));
  for (const type of ['Lead', 'Contact'] as const) {
    const field = person?.[type];
    if (field === undefined || facts.fields.get(field.toLowerCase())?.referenceTo.includes(type) === true) continue;
    problems.push(`${path}.person.${type}: ${object} has no field ${field} that holds the id of a ${type}`);
  }
  if (externalId !== undefined) problems.push(...keyProblems(facts, object, externalId.field, `${path}.externalId`));
  if (create || !isPersonType(object)) {
    const given = [...Object.keys(properties), ...Object.keys(lookups), externalId?.field ?? ''];
    if (person !== undefined) given.push(person.Lead ?? '', person.Contact ?? '');
    for (const field of missingFields(facts, given)) {
      problems.push(`${path}.properties: ${object} requires ${field}, which the mapping does not provide`);
    }
  }
  if (create) warnings.push(...(await emptyWarnings(facts, keys, path)));
  const other: PersonType = object === 'Lead' ? 'Contact' : 'Lead';
  if (isPersonType(object) && keys.match.includes(other === 'Contact' ? 'contactEmail' : 'leadEmail')) {
    const otherFacts = await factsOf(org, other);
    const left = Object.keys(properties).filter((field) => !otherFacts.fields.has(field.toLowerCase()));
    if (left.length > 0)
      infos.push(
        `${path}: a person who is found as a ${other} does not receive ${left.join(', ')}, which a ${other} does not have`,
      );
  }
  if (campaign !== undefined) {
    // A deleted person takes the memberships along. A person who is only cleared keeps them, so they are deleted.
    const deletesMembers = onForget === 'clear-our-fields' || isDoneByPeople(from);
    const found = await orFailure(async () =>
      (await checkCampaign(org, campaign, deletesMembers, `${path}.campaign`)).map(bad),
    );
    problems.push(...found.map(({ text }) => text));
  }
  return [
    ...problems.map(bad),
    ...warnings.map((text): CheckLine => ({ ok: true, warning: true, text })),
    ...infos.map(good),
    ...(problems.length === 0 ? [good(`${path}: ${object} accepts everything that the mapping returns`)] : []),
  ];
}

/**
 * Returns a warning if new contacts may end up without an account. Salesforce makes a contact without an account
 * private, whatever the sharing rules of the org. Source: Salesforce Help, "Considerations for Sharing and Accessing
 * Contacts".
 */
function accountWarnings({ object, create, properties, lookups }: RecordKeys, path: string): string[] {
  if (object !== 'Contact' || !create || Object.hasOwn(properties, 'AccountId')) return [];
  const { AccountId: lookup } = lookups;
  if (lookup?.otherwise !== undefined) return [];
  const who =
    lookup === undefined ? 'a new contact has no account' : 'a new contact whose account is not found has none';
  const what = lookup === undefined ? 'set "lookups.AccountId"' : 'set "lookups.AccountId.otherwise"';
  return [`${path}: ${who}, so it is private: only its owner and administrators see it; ${what}`];
}

async function lookupProblems(org: Org, { object, lookups }: RecordKeys, path: string): Promise<string[]> {
  const problems: string[] = [];
  const facts = await factsOf(org, object);
  for (const [field, { object: chosen, externalId }] of Object.entries(lookups)) {
    const at = `${path}.lookups.${field}`;
    const known = facts.fields.get(field.toLowerCase());
    if (known === undefined) {
      problems.push(`${at}: ${object} has no such field that the user may see`);
      continue;
    }
    if (!known.updateable) problems.push(`${at}: the user may not write it`);
    const target = targetOf(facts, field, chosen);
    if (target === undefined) {
      const several = known.referenceTo.length > 1;
      problems.push(
        `${at}: ${several ? `set "object" to one of ${listed(known.referenceTo)}` : 'the field does not hold the id of another record'}`,
      );
    } else if (!(await factsOf(org, target)).fields.has(externalId.field.toLowerCase())) {
      problems.push(`${at}.externalId: ${target} has no field ${externalId.field} that the user may see`);
    }
  }
  return problems;
}

function valuesOf(properties: RecordKeys['properties']): Record<string, Expression> {
  return Object.fromEntries(Object.entries(properties).map(([field, { value }]) => [field, value]));
}

/** Checks the fields that a mapping writes. `infos` name the values that a field accepts. */
async function checkFields(
  facts: ObjectFacts,
  object: string,
  path: string,
  values: Readonly<Record<string, Expression>>,
): Promise<{ readonly problems: readonly string[]; readonly infos: readonly string[] }> {
  const problems: string[] = [];
  const infos: string[] = [];
  for (const [field, value] of Object.entries(values)) {
    const at = `${path}.${field}`;
    const known = facts.fields.get(field.toLowerCase());
    if (known === undefined) {
      problems.push(
        `${at}: ${object} has no such field that the user may see; create it, or give the user access to it`,
      );
    } else if (!known.updateable) {
      problems.push(`${at}: the user may not write it; give the user access to it, or remove it from the mapping`);
    } else if (isConstant(value)) {
      problems.push(...(await constantProblems(value, known)).map((problem) => `${at}: ${problem}`));
    } else if (known.picklist.length > 0 && known.restrictedPicklist) {
      infos.push(`${at}: must return one of ${listed(known.picklist)}`);
    }
  }
  return { problems, infos };
}

/** Whether an expression uses no data, so that its value is known before run time. */
function isConstant(expression: Expression): boolean {
  return mentionedFields(expression).length === 0;
}

/** Returns the problem of a constant value that does not fit its field. */
async function constantProblems(expression: Expression, facts: FieldFacts): Promise<string[]> {
  try {
    const value = await expression.evaluate(emptyView, 'check', fieldValue);
    if (value === undefined) return [];
    const given = conformValue(value, facts);
    if (given === undefined) return [`returns a value that a field of type ${facts.type} does not accept`];
    if (typeof given !== 'string') return [];
    if (facts.length > 0 && given.length > facts.length) {
      return [`returns ${given.length} characters, but the field accepts ${facts.length}`];
    }
    const isKnown = given.split(';').every((each) => facts.picklist.includes(each));
    const isRefused = facts.restrictedPicklist && facts.picklist.length > 0 && !isKnown;
    return isRefused ? [`returns none of the picklist values: ${listed(facts.picklist)}`] : [];
  } catch {
    return []; // the expression failed, so it depends on data after all
  }
}

function keyProblems(facts: ObjectFacts, object: string, field: string, path: string): string[] {
  const known = facts.fields.get(field.toLowerCase());
  if (known === undefined) {
    return [
      `${path}: ${object} has no field ${field} that the user may see; create it as a unique field with the External ID flag`,
    ];
  }
  const problems: string[] = [];
  // The key field of a task is searched by its value with a query. It needs no External ID flag, and Salesforce allows
  // no unique fields there.
  if (!known.externalId && object !== 'Task') problems.push(`${path}: ${object}.${field} is not flagged External ID`);
  if (!known.unique && object !== 'Task')
    problems.push(`${path}: ${object}.${field} is not unique, so two records could have the same external id`);
  if (!known.updateable) problems.push(`${path}: the user may not write ${object}.${field}`);
  return problems;
}

/** Returns the required fields that neither the mapping nor Salesforce fills. */
function missingFields({ fields }: ObjectFacts, given: readonly string[]): string[] {
  const names = new Set(given.map((field) => field.toLowerCase()));
  return [...fields.values()]
    .filter(
      ({ createable, nillable, defaultedOnCreate, type }) =>
        createable && !nillable && !defaultedOnCreate && type !== 'boolean',
    )
    .map(({ name }) => name)
    .filter((name) => !names.has(name.toLowerCase()));
}

/**
 * Warns of required fields for which the mapping can return nothing, so that Salesforce would refuse some new records.
 */
async function emptyWarnings(facts: ObjectFacts, { object, properties }: RecordKeys, path: string): Promise<string[]> {
  const warnings: string[] = [];
  for (const field of missingFields(facts, [])) {
    const [name, given] = Object.entries(properties).find(([each]) => each.toLowerCase() === field.toLowerCase()) ?? [];
    const when = given === undefined ? undefined : await emptyWhen(given.value, fieldValue);
    if (when === undefined) continue;
    warnings.push(
      `${path}.properties.${name}: Salesforce requires ${field} of a new ${object}, but the mapping returns nothing for ${when}. Such a record becomes a dead letter: add a default, such as ?: "unknown"`,
    );
  }
  return warnings;
}

/** @param deletesMembers whether this sink deletes memberships that it created */
async function checkCampaign(
  org: Org,
  { externalId, properties, status, memberProperties }: CampaignKeys,
  deletesMembers: boolean,
  path: string,
): Promise<string[]> {
  const facts = await factsOf(org, 'Campaign');
  const problems = keyProblems(facts, 'Campaign', externalId.field, `${path}.externalId`);
  if (!facts.createable || !facts.updateable) {
    problems.push(`${path}: the user may not create and change a Campaign; make the user a Marketing User`);
  }
  problems.push(...(await checkFields(facts, 'Campaign', `${path}.properties`, properties)).problems);
  const given = [...Object.keys(properties), externalId.field, 'Name'];
  for (const field of missingFields(facts, given)) {
    problems.push(`${path}.properties: Campaign requires ${field}, which the mapping does not provide`);
  }
  const members = await factsOf(org, 'CampaignMember');
  if (!members.createable || !members.updateable) problems.push(`${path}: the user may not write a CampaignMember`);
  if (deletesMembers && !members.deletable) {
    problems.push(`${path}: the user may not delete a CampaignMember, which is necessary when a person is forgotten`);
  }
  const memberValues = valuesOf(memberProperties);
  const memberPath = `${path}.memberProperties`;
  problems.push(...(await checkFields(members, 'CampaignMember', memberPath, memberValues)).problems);
  // A new campaign has the org's default statuses. Other statuses must already exist, or pigeonpost must be allowed to
  // add them.
  const known = members.fields.get('status')?.picklist ?? [];
  const missing = Object.values(status).filter((label) => label !== undefined && !known.includes(label)) as string[];
  if (missing.length > 0 && !(await factsOf(org, 'CampaignMemberStatus')).createable) {
    problems.push(
      `${path}.status: no campaign has ${listed(missing)}, and the user may not add a status; the known statuses are ${listed(known)}`,
    );
  }
  return problems;
}

function listed(values: readonly string[]): string {
  const shown = values.slice(0, 8).map((value) => `"${value}"`);
  return values.length > 8 ? `${shown.join(', ')} and ${values.length - 8} more` : shown.join(', ');
}

function good(text: string): CheckLine {
  return { ok: true, text };
}

function bad(text: string): CheckLine {
  return { ok: false, text };
}
