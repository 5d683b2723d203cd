import { groupBy } from '../../base/grouping.js';
import { findInOrder } from '../records/find-in-order.js';
import type { PersonType, OnSeveral } from './config.js';
import type { PersonStep } from './operation.js';
import { factsOf, type FieldFacts, type Org } from './object-fields.js';
import { queryAll, soqlNumber, soqlText, type Row } from './query.js';
import type { PresentRecord } from '../records/present-record.js';

/** The result of the search for a step's person. */
export type Found =
  | { readonly kind: 'none' }
  | { readonly kind: 'record'; readonly row: PersonRow }
  | { readonly kind: 'ambiguous'; readonly by: string; readonly ids: readonly string[] };

/** A step that needs its person. */
interface Search {
  readonly step: Pick<PersonStep, 'objectType' | 'key' | 'email' | 'match' | 'onSeveral' | 'writes'>;
}

/**
 * Finds the people of steps. The searches run in the order of `match`, and the first one that finds a record decides.
 * If it finds several, `onSeveral` decides. A converted lead is replaced by its contact.
 * @param jobs the jobs of one entry of `records`, without those whose record id is known
 * @throws {CallFailure} @throws {CallsEnded}
 */
export async function findPeople<S extends Search>(org: Org, jobs: readonly S[]): Promise<Map<S, Found>> {
  const found = new Map<S, Found>(jobs.map((job) => [job, { kind: 'none' }]));
  const keyField = jobs.find(({ step }) => step.key !== null)?.step.key?.field;
  await findInOrder(
    jobs,
    (job) => looksFor(job, keyField),
    (job) => found.get(job)!.kind === 'none',
    async (group) => {
      const { type, field } = group[0]!.look;
      const values = group.map(({ look }) => look.value);
      const rows = await rowsBy(org, { type, field, values, jobs });
      const contactIds = new Map<S, string>();
      for (const { search: job, look } of group) {
        const matches = rows.get(look.value.toLowerCase()) ?? [];
        const choice = choosePerson(matches, look.kind, job.step.onSeveral);
        if (choice.kind === 'contact') contactIds.set(job, choice.id);
        else found.set(job, choice);
      }
      // The contacts of converted leads, except those that no longer exist.
      const contacts = await findByIds(org, { type: 'Contact', jobs, ids: [...contactIds.values()] });
      for (const [job, id] of contactIds) {
        const row = contacts.get(id);
        if (row !== undefined) found.set(job, { kind: 'record', row });
      }
    },
  );
  return found;
}

/** Reads records by id, for their present values and to find out which leads were converted. */
export async function findByIds(
  org: Org,
  { type, jobs, ids }: { type: PersonType; jobs: readonly Search[]; ids: readonly string[] },
): Promise<Map<string, PersonRow>> {
  if (ids.length === 0) return new Map();
  const literals = ids.map((id) => soqlText(id));
  const rows = await ask(org, { type, by: 'Id', literals, jobs });
  return new Map(rows.map((row) => [row.id, row]));
}

/**
 * Returns the rows by value in lower case, because Salesforce ignores case in e-mail addresses and external ids unless
 * the org configures it otherwise.
 */
async function rowsBy(
  org: Org,
  { type, field, values, jobs }: { type: PersonType; field: string; values: string[]; jobs: readonly Search[] },
): Promise<Map<string, PersonRow[]>> {
  const facts = (await factsOf(org, type)).fields.get(field.toLowerCase());
  if (facts === undefined) return new Map();
  const literals = values.flatMap((value) => literalOf(value, facts));
  const rows = await ask(org, { type, by: facts.name, literals, jobs });
  return groupBy(rows, (row) => textOf(row.values.get(facts.name.toLowerCase())).toLowerCase());
}

/** Reads records with the fields that the decisions about the jobs need. */
async function ask(
  org: Org,
  { type, by, literals, jobs }: { type: PersonType; by: string; literals: string[]; jobs: readonly Search[] },
): Promise<PersonRow[]> {
  const asked = jobs.flatMap(({ step }) => [
    ...(step.key === null ? [] : [step.key.field]),
    ...step.writes.map(({ name }) => name),
  ]);
  // Whether one part of a name is written depends on the other part.
  if (asked.some((field) => /^(?:first|last)name$/i.test(field))) asked.push('FirstName', 'LastName');
  const { fields } = await factsOf(org, type);
  const known = [by, ...asked].flatMap((field) => fields.get(field.toLowerCase())?.name ?? []);
  const columns = [...new Set([...fieldsAskedOf(type), ...known])].join(', ');
  const soql = (list: string): string => `SELECT ${columns} FROM ${type} WHERE ${by} IN (${list})`;
  const rows = await queryAll(org, literals, soql);
  return rows.map((row) => personRow(type, row));
}

/** A look-up of people by one field. */
interface Look {
  /** The object and the field, such as `Lead.Email`. */
  readonly kind: string;
  readonly type: PersonType;
  readonly field: string;
  readonly value: string;
}

/**
 * Returns the look-ups for a person, in order; null if the item has no value for one. A look-up by external id reads the
 * configured object first, and then the other one, in which the person may have been found by e-mail earlier. If `match`
 * does not name the external id, the configured object is searched by it last. Otherwise the creation of a person (an
 * upsert) would overwrite the record with that id, without regard to `write`.
 */
function looksFor({ step: { objectType, key, email, match } }: Search, keyField: string | undefined): (Look | null)[] {
  const look = (type: PersonType, field: string, value: string | null): Look | null =>
    value === null ? null : { kind: `${type}.${field}`, type, field, value };
  const byKey = (type: PersonType): (Look | null)[] =>
    keyField === undefined ? [] : [look(type, keyField, key?.value ?? null)];
  const looks = match.flatMap((by) => {
    if (by === 'externalId') return [...byKey(objectType), ...byKey(objectType === 'Lead' ? 'Contact' : 'Lead')];
    return [look(by === 'contactEmail' ? 'Contact' : 'Lead', 'Email', email)];
  });
  return match.includes('externalId') ? looks : [...looks, ...byKey(objectType)];
}

function literalOf(value: string, { type }: FieldFacts): string[] {
  if (type !== 'double' && type !== 'int') return [soqlText(value)];
  const literal = soqlNumber(value);
  return literal === undefined ? [] : [literal];
}

/** A Lead or Contact from a query. */
export interface PersonRow extends PresentRecord {
  readonly type: PersonType;
  readonly id: string;
  /** The id of a converted lead's contact; null if the lead is not converted or its contact is not known. */
  readonly contactId: string | null;
  readonly isConverted: boolean;
  readonly createdAtMs: number;
}

/** Returns the fields that every query for this type reads. */
function fieldsAskedOf(type: PersonType): string[] {
  const ofAll = ['Id', 'CreatedDate', 'LastModifiedDate'];
  return type === 'Lead' ? [...ofAll, 'IsConverted', 'ConvertedContactId'] : ofAll;
}

function personRow(type: PersonType, row: Row): PersonRow {
  const { Id, CreatedDate, LastModifiedDate, IsConverted, ConvertedContactId } = row;
  const modified = typeof LastModifiedDate === 'string' ? Date.parse(LastModifiedDate) : Number.NaN;
  return {
    type,
    id: String(Id),
    // If the time is not known, the record counts as newer than any event, so that `if-newer` does not overwrite its
    // values.
    lastModifiedAtMs: Number.isNaN(modified) ? Number.POSITIVE_INFINITY : modified,
    values: new Map(Object.entries(row).map(([field, value]) => [field.toLowerCase(), value])),
    createdAtMs: typeof CreatedDate === 'string' ? Date.parse(CreatedDate) : Number.NaN,
    isConverted: type === 'Lead' && IsConverted === true,
    contactId: typeof ConvertedContactId === 'string' ? ConvertedContactId : null,
  };
}

/**
 * Chooses a record from the rows that one value found. Pure. A converted lead is used only to find its contact, and
 * only if there is no other record.
 * @param onSeveral which of several records to use; of several converted leads, it selects the lead whose contact is
 * used
 */
function choosePerson(
  rows: readonly PersonRow[],
  by: string,
  onSeveral: OnSeveral,
): Found | { readonly kind: 'contact'; readonly id: string } {
  const inOrder = rows.toSorted(byCreation);
  const standing = inOrder.filter(({ isConverted }) => !isConverted);
  const ids = [...new Set(standing.map(({ id }) => id))];
  if (ids.length > 1 && onSeveral === 'park') return { kind: 'ambiguous', by, ids };
  const row = standing.at(onSeveral === 'newest' ? -1 : 0);
  if (row !== undefined) return { kind: 'record', row };
  const contacts = [...new Set(inOrder.flatMap(({ contactId }) => (contactId === null ? [] : [contactId])))];
  if (contacts.length > 1 && onSeveral === 'park') return { kind: 'ambiguous', by, ids: contacts };
  const id = contacts.at(onSeveral === 'newest' ? -1 : 0);
  return id === undefined ? { kind: 'none' } : { kind: 'contact', id };
}

/**
 * Compares records by time of creation. In the same second, the id decides, because later records usually have higher
 * ids.
 */
function byCreation(one: PersonRow, other: PersonRow): number {
  return one.createdAtMs - other.createdAtMs || (one.id < other.id ? -1 : Number(one.id > other.id));
}

/** Returns a field's value as a text; an empty text if there is no value. */
export function textOf(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}
