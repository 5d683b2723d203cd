import { groupBy } from '../../base/grouping.js';
import { factsOf, type ObjectFacts, type Org } from './object-fields.js';
import { textOf } from './find-people.js';
import type { Job, LinkedStep, PersonStep, Lookup } from './operation.js';
import type { ValueWrite } from '../records/decide-values.js';
import { queryAll, soqlText } from './query.js';

/** The ids of the records that a value found, by the value in lower case. */
type Ids = ReadonlyMap<string, readonly string[]>;

/**
 * Finds the records to which lookups refer by an external id, and converts each lookup into the write of an id. It uses
 * a query. Salesforce would also accept a nested external id in the record, but it refuses the record if no such id
 * exists, and a person must not be lost because an account is missing.
 * @param object the object whose fields the lookups write
 * @throws {CallFailure} @throws {CallsEnded}
 */
export async function resolveLookups(
  org: Org,
  object: string,
  jobs: readonly (Job<PersonStep> | Job<LinkedStep>)[],
): Promise<void> {
  const asked = jobs.flatMap(({ step }) => step.lookups);
  if (asked.length === 0) return;
  const facts = await factsOf(org, object);
  const found = new Map<string, Ids>();
  for (const lookup of asked) {
    const name = nameOf(lookup);
    if (found.has(name)) continue;
    const values = asked.flatMap((each) => (nameOf(each) === name && each.key !== null ? [each.key.value] : []));
    const target = targetOf(facts, lookup.field, lookup.object);
    found.set(name, await idsBy(org, { target, keyField: lookup.keyField, values }));
  }
  for (const job of jobs.filter((job) => job.isOpen)) {
    const writes: ValueWrite[] = [];
    for (const lookup of job.step.lookups) {
      if (targetOf(facts, lookup.field, lookup.object) === undefined) {
        const detail = `${object}.${lookup.field} cannot hold the id of the record that the mapping names: run "pigeonpost check" for details`;
        job.end({ kind: 'rejected', cause: `salesforce:lookup:${lookup.field}`, detail });
      }
      const ids = found.get(nameOf(lookup))!.get(lookup.key?.value.toLowerCase() ?? '') ?? [];
      if (ids.length > 1) {
        const detail = `several records match the lookup of ${object}.${lookup.field} by ${lookup.keyField}: make that field unique`;
        job.end({
          kind: 'rejected',
          cause: `salesforce:ambiguous-lookup:${lookup.field}`,
          detail,
          about: 'record',
        });
      }
      const id = ids[0] ?? lookup.otherwise;
      if (id !== null) writes.push({ name: lookup.field, value: id, policy: lookup.policy });
    }
    if (writes.length > 0) Object.assign(job, { step: { ...job.step, writes: [...job.step.writes, ...writes] } });
  }
}

function nameOf({ field, keyField }: Lookup): string {
  return `${field} ${keyField}`;
}

async function idsBy(
  org: Org,
  { target, keyField, values }: { target: string | undefined; keyField: string; values: readonly string[] },
): Promise<Ids> {
  if (values.length === 0 || target === undefined) return new Map();
  const known = (await factsOf(org, target)).fields.get(keyField.toLowerCase());
  if (known === undefined) return new Map();
  const literals = values.map((value) => soqlText(value));
  const soql = (list: string): string => `SELECT Id, ${known.name} FROM ${target} WHERE ${known.name} IN (${list})`;
  const rows = await queryAll(org, literals, soql);
  const byValue = groupBy(rows, (row) => textOf(row[known.name]).toLowerCase());
  return new Map([...byValue].map(([value, found]) => [value, found.map(({ Id }) => String(Id))]));
}

/**
 * Returns the object to whose records a lookup's field refers; undefined if the field holds no ids, or if it accepts
 * several objects and none was chosen.
 * @param chosen the configured object, for a field that accepts ids of several objects
 */
export function targetOf(
  { fields }: ObjectFacts,
  field: string,
  chosen: string | null | undefined,
): string | undefined {
  const targets = fields.get(field.toLowerCase())?.referenceTo ?? [];
  return targets.length === 1 ? targets[0] : targets.find((target) => target === chosen);
}
