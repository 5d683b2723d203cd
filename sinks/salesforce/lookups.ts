import type { CallBudget } from '../rest/call-budget.js';
import { isOpen, type Job } from './job.js';
import type { ObjectFacts } from './object-fields.js';
import type { FieldWrite, LinkedStep, Lookup, PersonStep } from './operation.js';
import type { Org } from './org.js';
import { textOf } from './person-row.js';
import { query } from './query.js';
import { queriesFor, soqlText } from './soql.js';

/** Ids of records by what they were looked up by, in lower case. */
type Ids = ReadonlyMap<string, readonly string[]>;

/**
 * Finds the records that lookups name by an external id, and turns each lookup into the write of an id. Looked up by a
 * query rather than by a nested external id in the record: Salesforce refuses a record whose nested one leads nowhere,
 * and an account that is missing must not lose the person.
 * @param object whose fields the lookups are
 * @throws {CallFailure} @throws {CallsEnded}
 */
export async function resolveLookups(
  org: Org,
  object: string,
  jobs: readonly (Job<PersonStep> | Job<LinkedStep>)[],
  budget: CallBudget,
): Promise<void> {
  const asked = jobs.flatMap(({ step }) => step.lookups);
  if (asked.length === 0) return;
  const facts = await org.objects.of(object, budget);
  const found = new Map<string, Ids>();
  for (const lookup of asked) {
    const name = nameOf(lookup);
    if (found.has(name)) continue;
    const values = asked.flatMap((each) => (nameOf(each) === name && each.key !== null ? [each.key.value] : []));
    found.set(name, await idsBy(org, targetOf(facts, lookup.field, lookup.object), lookup.keyField, values, budget));
  }
  for (const job of jobs.filter(isOpen)) {
    const writes: FieldWrite[] = [];
    for (const lookup of job.step.lookups) {
      if (targetOf(facts, lookup.field, lookup.object) === undefined) {
        const detail = `${object}.${lookup.field} holds no id of a record that the mapping names: "pigeonpost check" says more`;
        job.result = { kind: 'rejected', cause: `salesforce:lookup:${lookup.field}`, detail };
      }
      const ids = found.get(nameOf(lookup))!.get(lookup.key?.value.toLowerCase() ?? '') ?? [];
      if (ids.length > 1) {
        const detail = `several records match the lookup of ${object}.${lookup.field} by ${lookup.keyField}: make that field unique`;
        job.result = {
          kind: 'rejected',
          cause: `salesforce:ambiguous-lookup:${lookup.field}`,
          detail,
          about: 'record',
        };
      }
      const id = ids[0] ?? lookup.otherwise;
      if (id !== null) writes.push({ field: lookup.field, value: id, policy: lookup.policy });
    }
    if (writes.length > 0) Object.assign(job, { step: { ...job.step, writes: [...job.step.writes, ...writes] } });
  }
}

function nameOf({ field, keyField }: Lookup): string {
  return `${field} ${keyField}`;
}

async function idsBy(
  org: Org,
  target: string | undefined,
  keyField: string,
  values: readonly string[],
  budget: CallBudget,
) {
  const ids = new Map<string, string[]>();
  if (values.length === 0 || target === undefined) return ids;
  const known = (await org.objects.of(target, budget)).fields.get(keyField.toLowerCase());
  if (known === undefined) return ids;
  const literals = values.map((value) => soqlText(value));
  const soql = (list: string): string => `SELECT Id, ${known.name} FROM ${target} WHERE ${known.name} IN (${list})`;
  for (const each of queriesFor(literals, soql)) {
    for (const row of await query(org.client, each, budget)) {
      const value = textOf(row[known.name]).toLowerCase();
      ids.set(value, [...(ids.get(value) ?? []), String(row.Id)]);
    }
  }
  return ids;
}

/**
 * Returns the object whose records a lookup means; undefined: the field holds no ids, or those of several objects.
 * @param chosen where the field can hold the ids of several
 */
export function targetOf(
  { fields }: ObjectFacts,
  field: string,
  chosen: string | null | undefined,
): string | undefined {
  const targets = fields.get(field.toLowerCase())?.referenceTo ?? [];
  return targets.length === 1 ? targets[0] : targets.find((target) => target === chosen);
}
