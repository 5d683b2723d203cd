import { groupBy } from '../../base/grouping.js';
import type { MatchBy, PersonType, OnSeveral } from './config.js';
import type { PersonJob, PersonStep } from './operation.js';
import { factsOf, type FieldFacts, type Org } from './object-fields.js';
import { queryAll, soqlNumber, soqlText, type Row } from './query.js';
import type { PresentRecord } from './decide-fields.js';

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
  for (const by of jobs[0] === undefined ? [] : [...jobs[0].step.match, 'last' as const]) {
    for (const [type, valueOf, field] of searchesOf(by, jobs[0]!.step, jobs)) {
      const open = jobs.filter((job) => found.get(job)!.kind === 'none' && valueOf(job) !== null);
      if (open.length === 0) continue;
      const values = open.map((job) => valueOf(job)!);
      const rows = await rowsBy(org, { type, field, values, jobs });
      const contactIds = new Map<S, string>();
      for (const job of open) {
        const matches = rows.get(valueOf(job)!.toLowerCase()) ?? [];
        const choice = choosePerson(matches, `${type}.${field}`, job.step.onSeveral);
        if (choice.kind === 'contact') contactIds.set(job, choice.id);
        else found.set(job, choice);
      }
      // The contacts of converted leads, except those that no longer exist.
      const contacts = await findByIds(org, { type: 'Contact', jobs, ids: [...contactIds.values()] });
      for (const [job, id] of contactIds) {
        const row = contacts.get(id);
        if (row !== undefined) found.set(job, { kind: 'record', row });
      }
    }
  }
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
    ...step.writes.map(({ field }) => field),
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

type PersonSearch = readonly [type: PersonType, valueOf: (job: Search) => string | null, field: string];

/**
 * Returns the searches for one entry of `match`. A search by external id reads the configured object first, and then
 * the other one, in which the person may have been found by e-mail earlier. If `match` does not name the external id,
 * the configured object is searched by it last. Otherwise the creation of a person (an upsert) would overwrite the
 * record with that id, without regard to `write`.
 */
function searchesOf(
  by: MatchBy | 'last',
  { objectType, match }: Search['step'],
  jobs: readonly Search[],
): PersonSearch[] {
  const email = (job: Search): string | null => job.step.email;
  if (by === 'contactEmail') return [['Contact', email, 'Email']];
  if (by === 'leadEmail') return [['Lead', email, 'Email']];
  const field = jobs.find(({ step }) => step.key !== null)?.step.key?.field;
  if (field === undefined) return [];
  const key = (job: Search): string | null => job.step.key?.value ?? null;
  if (by === 'last') return match.includes('externalId') ? [] : [[objectType, key, field]];
  const other = objectType === 'Lead' ? 'Contact' : 'Lead';
  return [
    [objectType, key, field],
    [other, key, field],
  ];
}

function literalOf(value: string, { type }: FieldFacts): string[] {
  if (type !== 'double' && type !== 'int') return [soqlText(value)];
  const literal = soqlNumber(value);
  return literal === undefined ? [] : [literal];
}

/** The steps for one record. They are written together, because a call may contain a record only once. */
export interface PersonGroup {
  readonly type: PersonType;
  /** The record's id; null if the record must be created (by its external id). */
  id: string | null;
  /** The present record; null if it was not read or does not exist. */
  readonly present: PersonRow | null;
  readonly members: PersonJob[];
}

/**
 * Groups steps by the record that was found for them. Steps without a record are grouped by e-mail or external id,
 * because they would otherwise create several records of one person. Pure.
 */
export function groupPeople(jobs: readonly PersonJob[], found: ReadonlyMap<PersonJob, Found>): PersonGroup[] {
  const groups: PersonGroup[] = [];
  const byName = new Map<string, PersonGroup>();
  for (const job of jobs) {
    const { step, remote } = job;
    const whom = found.get(job);
    const row = whom?.kind === 'record' ? whom.row : null;
    const type = row?.type ?? remote?.type ?? step.objectType;
    const id = row?.id ?? remote?.id ?? null;
    const names = id === null ? newPersonNames(job) : [`id ${id}`];
    let group = names.map((name) => byName.get(name)).find((each) => each !== undefined);
    if (group === undefined) {
      group = { type, id, present: row, members: [] };
      groups.push(group);
    }
    group.members.push(job);
    for (const name of names) if (!byName.has(name)) byName.set(name, group);
  }
  return groups;
}

function newPersonNames({ step }: PersonJob): string[] {
  const byEmail = step.email !== null && step.match.some((by) => by !== 'externalId');
  return [
    ...(step.key === null ? [] : [`key ${step.key.value.toLowerCase()}`]),
    ...(byEmail ? [`email ${step.email}`] : []),
  ];
}

/** A Lead or Contact from a query. */
interface PersonRow extends PresentRecord {
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
