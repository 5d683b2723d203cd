import type { Value, ValueRules } from '../records/decide-values.js';
import type { SaveStep } from '../records/plan-plain-records.js';
import type { FoundRecord, RecordCalls } from '../records/plain-records.js';
import type { WriteReply } from '../records/reply.js';
import type { CallBudget } from '../rest/rest-client.js';
import { type Fields, fieldsOf, type Result } from '../sink.js';
import type { Reply } from './classify.js';
import type { DynamicsClient } from './client.js';

/** Tables whose rows can be merged. Such a row names the one into which it was merged. */
const mergeable: ReadonlySet<string> = new Set(['accounts', 'contacts', 'leads']);
const MASTER = '_masterid_value';
const MODIFIED_BY = '_modifiedby_value';

type Values = Readonly<Record<string, Value>>;
type Wanted = Parameters<RecordCalls['search']>[1];

export const valueRules: ValueRules = { nameParts: ['firstname', 'lastname'], isSame: isSameValue };

/** The rows of an environment, as the record engine reads and writes them. */
export class RowCalls implements RecordCalls {
  readonly vendor = 'Dynamics';
  readonly causes = 'dynamics';
  /** The address of a search stays below 2,000 characters. */
  readonly maxValues = 15;
  readonly rules = valueRules;

  constructor(
    private readonly client: DynamicsClient,
    private readonly budget: CallBudget,
  ) {}

  async search(table: string, wanted: Wanted): Promise<readonly FoundRecord[] | Result> {
    const reply = await this.client.call({ method: 'GET', path: searchPath(table, wanted) }, this.budget);
    if (reply.kind === 'refused' || reply.kind === 'failed') return reply.result;
    if (reply.kind !== 'ok' || !Array.isArray(reply.body.value)) {
      return { kind: 'retry', detail: 'Dynamics answered a search with something other than rows: check "baseUrl"' };
    }
    return reply.body.value.map((row) => foundRecord(table, fieldsOf(row)));
  }

  async create({ object: table, newId: id }: SaveStep, values: Values): Promise<WriteReply> {
    const reply = await this.#patch(table, id, values, { 'if-none-match': '*' });
    // An earlier attempt, whose answer was lost, has created the row.
    return reply.kind === 'exists' ? await this.update(table, id, values) : writeReply(reply, id, true);
  }

  /** Without If-Match, an update of a deleted row would create it again. */
  async update(table: string, id: string, values: Values): Promise<WriteReply> {
    return writeReply(await this.#patch(table, id, values, { 'if-match': '*' }), id, false);
  }

  async remove(table: string, id: string): Promise<WriteReply> {
    const reply = await this.client.call({ method: 'DELETE', path: rowPath(table, id) }, this.budget);
    return writeReply(reply, id, false);
  }

  async #patch(table: string, id: string, body: Values, headers: Readonly<Record<string, string>>): Promise<Reply> {
    return await this.client.call({ method: 'PATCH', path: rowPath(table, id), body, headers }, this.budget);
  }
}

/** Returns the column with the id of a row: the table's name without its last letter, and `id`. */
export function primaryKey(table: string): string {
  return `${table.slice(0, -1)}id`;
}

export function rowPath(table: string, id: string): string {
  return `/${table}(${encodeURIComponent(id)})`;
}

/** Returns the path that reads the rows in which a column has one of the values, the oldest first. */
export function searchPath(table: string, { field, values, fields }: Wanted): string {
  const column = field ?? primaryKey(table);
  const literal = (value: string): string => (field === null ? value : `'${value.replaceAll("'", "''")}'`);
  const filter = values.map((value) => `${column} eq ${literal(value)}`).join(' or ');
  const own = [primaryKey(table), 'createdon', 'modifiedon', MODIFIED_BY, ...(mergeable.has(table) ? [MASTER] : [])];
  const select = [...new Set([...own, ...fields])].join(',');
  return `/${table}?$select=${select}&$orderby=createdon&$filter=${encodeURIComponent(filter)}`;
}

/**
 * Whether a column has a value, in the form in which Dataverse returns it: numbers and booleans in JSON, instants in UTC,
 * texts without white space at the ends.
 */
function isSameValue(name: string, present: unknown, value: Value): boolean {
  if (typeof present === 'number') return present === Number(value);
  const [there, ours] = [present, value].map((each) => String(each).replaceAll('\r\n', '\n').trim()) as [
    string,
    string,
  ];
  if (there === ours) return true;
  if (name.startsWith('emailaddress') || typeof present === 'boolean') {
    return there.toLowerCase() === ours.toLowerCase();
  }
  return instant.test(there) && instant.test(ours) && Date.parse(there) === Date.parse(ours);
}

const instant = /^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:\d{2}))?$/;

function foundRecord(table: string, row: Fields): FoundRecord {
  return {
    id: String(row[primaryKey(table)]),
    values: new Map(Object.entries(row)),
    lastModifiedAtMs: Date.parse(String(row.modifiedon)) || Number.POSITIVE_INFINITY,
    mergedInto: typeof row[MASTER] === 'string' ? row[MASTER] : null,
    modifiedBy: typeof row[MODIFIED_BY] === 'string' ? row[MODIFIED_BY] : null,
  };
}

function writeReply(reply: Reply, id: string, isNew: boolean): WriteReply {
  switch (reply.kind) {
    case 'ok':
      return { kind: 'written', id, isNew, atMs: reply.answeredAtMs };
    case 'exists':
      return { kind: 'refused', result: { kind: 'retry', detail: 'the row has changed in the meantime' } };
    default:
      return reply;
  }
}
