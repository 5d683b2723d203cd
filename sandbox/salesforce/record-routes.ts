import type { DoubleAnswer } from '../serve/double-request.js';
import { jsonBody, objectFor, saveOptions, type Call, type Route, notFound, SalesforceRefusal } from './call.js';
import type { OrgRecord } from './org.js';
import { normalisedId } from './read-values.js';
import type { SalesforceOrg } from './salesforce-org.js';
import { fieldJson, fieldNamed, type SObjectType } from './sobject-type.js';

const MAX_RECORDS = 200;
/** Error codes of a record that cannot be parsed. */
const UNREADABLE = new Set(['INVALID_FIELD', 'JSON_PARSER_ERROR']);

/**
 * Routes for up to 200 records in one request, with results in the same order (documented: "sObject Collections"), and
 * for the description of an object. No sink writes or reads single records.
 */
export const recordRoutes: readonly Route[] = [
  { method: 'POST', path: /^\/composite\/sobjects$/, answer: createAll },
  { method: 'PATCH', path: /^\/composite\/sobjects$/, answer: updateAll },
  { method: 'DELETE', path: /^\/composite\/sobjects$/, answer: deleteAll },
  { method: 'PATCH', path: /^\/composite\/sobjects\/([^/]+)\/([^/]+)$/, answer: upsertAll },
  { method: 'GET', path: /^\/sobjects\/([^/]+)\/describe$/, answer: describe },
];

type Sent = Readonly<Record<string, unknown>>;
type Result = Readonly<Record<string, unknown>>;

function createAll(call: Call): DoubleAnswer {
  return written(call, (sent) => {
    const record = call.org.org.create(typeOf(call, sent, 'createable'), sent, saveOptions(call));
    return { id: record.id, success: true, errors: [] };
  });
}

function updateAll(call: Call): DoubleAnswer {
  return written(call, (sent) => {
    const type = typeOf(call, sent, 'updateable');
    const { id, Id, ...values } = sent;
    const record = existing(call, type, id ?? Id);
    call.org.org.update(record, values, saveOptions(call));
    return { id: record.id, success: true, errors: [] };
  });
}

function upsertAll(call: Call): DoubleAnswer {
  const type = objectFor(call, call.parts[0]!);
  const external = externalField(type, call.parts[1]!);
  const twice = sentTwice(recordsOf(jsonBody(call)), external);
  return written(call, (sent) => {
    if (typeOf(call, sent) !== type) {
      throw new SalesforceRefusal('INVALID_TYPE', 'All records must be of the type in the path.');
    }
    const { value, rest } = externalValue(sent, external);
    if (twice.has(String(value).toLowerCase())) {
      throw new SalesforceRefusal('DUPLICATE_VALUE', `Duplicate external id specified: ${value}`, [external]);
    }
    const found = call.org.org.having(type, external, value);
    if (found.length > 1) {
      throw new SalesforceRefusal(
        'DUPLICATE_EXTERNAL_ID',
        `${external}: more than one record found for external id field: [${found.map(({ id }) => id).join(', ')}]`,
        [external],
      );
    }
    const [known] = found;
    if (known !== undefined) {
      call.org.org.update(known, rest, saveOptions(call));
      return { id: known.id, success: true, errors: [], created: false };
    }
    objectFor(call, type.name, 'createable');
    if (external === 'Id') throw new SalesforceRefusal('INVALID_CROSS_REFERENCE_KEY', 'invalid cross reference id');
    const record = call.org.org.create(type, { ...rest, [external]: value }, saveOptions(call));
    return { id: record.id, success: true, errors: [], created: true };
  });
}

function deleteAll(call: Call): DoubleAnswer {
  const ids = (call.request.query.get('ids') ?? '').split(',').filter((id) => id !== '');
  refuseTooMany(ids.length);
  return {
    status: 200,
    json: ids.map((id) => {
      try {
        const record = anyExisting(call, id);
        objectFor(call, record.type.name, 'deletable');
        call.org.recordFaults.apply(record.type.name);
        call.org.org.delete(record);
        return { id: record.id, success: true, errors: [] };
      } catch (error) {
        if (!(error instanceof SalesforceRefusal)) throw error;
        return { id, ...error.result() };
      }
    }),
  };
}

/** Writes each record and returns the results in the same order. No sink sets `allOrNone`. */
function written(call: Call, write: (sent: Sent) => Result): DoubleAnswer {
  const body = jsonBody(call);
  const records = recordsOf(body);
  if ((body.allOrNone ?? false) !== false) throw new SalesforceRefusal('JSON_PARSER_ERROR', 'allOrNone is not false');
  const wholeRequest = call.org.unreadableRecord === 'refuses-request';
  const before = wholeRequest ? call.org.org.snapshot() : [];
  const results = records.map((sent): Result => {
    try {
      call.org.recordFaults.apply(typeOf(call, sent).name);
      return write(sent);
    } catch (error) {
      if (!(error instanceof SalesforceRefusal)) throw error;
      if (!UNREADABLE.has(error.code) || !wholeRequest) return error.result();
      call.org.org.restore(before);
      throw error;
    }
  });
  return { status: 200, json: results };
}

function recordsOf({ records }: Sent): Sent[] {
  if (!Array.isArray(records) || records.some((record) => typeof record !== 'object' || record === null)) {
    throw new SalesforceRefusal('JSON_PARSER_ERROR', 'records is a list of objects');
  }
  refuseTooMany(records.length);
  return records as Sent[];
}

function refuseTooMany(count: number): void {
  if (count > MAX_RECORDS) {
    throw new SalesforceRefusal(
      'EXCEEDED_ID_LIMIT',
      `record limit reached. cannot submit more than ${MAX_RECORDS} records into this call`,
    );
  }
}

/**
 * @throws {SalesforceRefusal} if a record does not name its type; `written` converts it into the result of that record
 */
function typeOf(call: Call, sent: Sent, permission?: 'createable' | 'updateable'): SObjectType {
  const type = (sent.attributes as { type?: unknown } | undefined)?.type;
  if (typeof type !== 'string')
    throw new SalesforceRefusal('INVALID_TYPE', 'attributes.type is required for each record');
  return objectFor(call, type, permission);
}

function existing(call: Call, type: SObjectType, id: unknown): OrgRecord {
  if (typeof id !== 'string') throw new SalesforceRefusal('MISSING_ARGUMENT', 'Id not specified in an update call');
  const record = anyExisting(call, id);
  if (record.type !== type) {
    throw new SalesforceRefusal('MALFORMED_ID', `${type.name} ID: id value of incorrect type: ${id}`, ['Id']);
  }
  return record;
}

function anyExisting(call: Call, id: string): OrgRecord {
  if (normalisedId(id) === undefined) throw new SalesforceRefusal('MALFORMED_ID', `bad id ${id}`, ['Id']);
  const record = call.org.org.byId(id);
  if (record !== undefined) return record;
  if (call.org.org.deletedById(id) !== undefined) throw new SalesforceRefusal('ENTITY_IS_DELETED', 'entity is deleted');
  throw new SalesforceRefusal('INVALID_CROSS_REFERENCE_KEY', 'invalid cross reference id');
}

/** Returns the field for look-ups by external id. @throws {SalesforceRefusal} 404 if it is not flagged External ID */
function externalField(type: SObjectType, name: string): string {
  const definition = fieldNamed(type, name);
  if (definition === undefined || (!definition.externalId && definition.name !== 'Id')) {
    throw notFound(`Provided external ID field does not exist or is not accessible: ${name}`);
  }
  return definition.name;
}

function externalValue(sent: Sent, external: string): { value: string | number; rest: Record<string, unknown> } {
  const [name, value] = Object.entries(sent).find(([each]) => each.toLowerCase() === external.toLowerCase()) ?? [];
  if (name === undefined || (typeof value !== 'string' && typeof value !== 'number') || value === '') {
    throw new SalesforceRefusal('MISSING_ARGUMENT', `${external} not specified`, []);
  }
  return { value, rest: Object.fromEntries(Object.entries(sent).filter(([each]) => each !== name)) };
}

/** Returns external ids that occur more than once. None of their records is written. */
function sentTwice(records: readonly Sent[], external: string): Set<string> {
  const seen = new Set<string>();
  const twice = new Set<string>();
  for (const sent of records) {
    const value = Object.entries(sent).find(([each]) => each.toLowerCase() === external.toLowerCase())?.[1];
    if (typeof value !== 'string' && typeof value !== 'number') continue;
    const form = String(value).toLowerCase();
    (seen.has(form) ? twice : seen).add(form);
  }
  return twice;
}

/** Describes an object with its fields and the user's permissions. */
function describe(call: Call): DoubleAnswer {
  const type = objectFor(call, call.parts[0]!);
  return { status: 200, json: { ...summary(call.org, type), fields: [...type.fields.values()].map(fieldJson) } };
}

function summary({ permissions }: SalesforceOrg, { name, keyPrefix }: SObjectType): Record<string, unknown> {
  return {
    name,
    label: name,
    keyPrefix,
    createable: true,
    updateable: true,
    queryable: true,
    deletable: true,
    custom: name.endsWith('__c'),
    ...permissions[name],
  };
}
