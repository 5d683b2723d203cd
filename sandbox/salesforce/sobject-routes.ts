import type { DoubleAnswer } from '../serve/double-request.js';
import { jsonBody, objectFor, saveOptions, type Call, type Route, notFound, SalesforceRefusal } from './call.js';
import { externalField } from './collection-routes.js';
import { fieldJson, type SObjectType } from './sobject-type.js';
import type { OrgRecord } from './org.js';
import type { SalesforceOrg } from './salesforce-org.js';
import { selected } from './soql.js';

/** Routes for descriptions of objects, and for single records. */
export const sobjectRoutes: readonly Route[] = [
  { method: 'GET', path: /^\/sobjects$/, answer: describeGlobal },
  { method: 'GET', path: /^\/sobjects\/([^/]+)\/describe$/, answer: describe },
  { method: 'POST', path: /^\/sobjects\/([^/]+)$/, answer: create },
  { method: 'GET', path: /^\/sobjects\/([^/]+)\/([^/]+)$/, answer: read },
  { method: 'PATCH', path: /^\/sobjects\/([^/]+)\/([^/]+)$/, answer: update },
  { method: 'DELETE', path: /^\/sobjects\/([^/]+)\/([^/]+)$/, answer: remove },
  { method: 'GET', path: /^\/sobjects\/([^/]+)\/([^/]+)\/([^/]+)$/, answer: readByExternal },
  { method: 'PATCH', path: /^\/sobjects\/([^/]+)\/([^/]+)\/([^/]+)$/, answer: upsert },
];

function describeGlobal({ org }: Call): DoubleAnswer {
  return {
    status: 200,
    json: {
      encoding: 'UTF-8',
      maxBatchSize: 200,
      sobjects: org.org.types.filter(({ name }) => !org.withheldObjects.has(name)).map((type) => summary(org, type)),
    },
  };
}

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

function create(call: Call): DoubleAnswer {
  const type = objectFor(call, call.parts[0]!, 'createable');
  const body = jsonBody(call);
  call.org.recordFaults.apply(type.name);
  const record = call.org.org.create(type, body, saveOptions(call));
  return { status: 201, json: { id: record.id, success: true, errors: [] } };
}

function read(call: Call): DoubleAnswer {
  return { status: 200, json: shown(call, existing(call)) };
}

function update(call: Call): DoubleAnswer {
  const record = existing(call);
  const body = jsonBody(call);
  call.org.recordFaults.apply(record.type.name);
  call.org.org.update(record, body, saveOptions(call));
  return { status: 204 };
}

function remove(call: Call): DoubleAnswer {
  call.org.org.delete(existing(call));
  return { status: 204 };
}

function readByExternal(call: Call): DoubleAnswer {
  const found = byExternal(call);
  if (found.length > 1) return choices(call, found);
  if (found[0] === undefined) throw notFound();
  return { status: 200, json: shown(call, found[0]) };
}

function upsert(call: Call): DoubleAnswer {
  const type = objectFor(call, call.parts[0]!);
  const external = externalField(type, call.parts[1]!);
  const body = jsonBody(call);
  if (Object.keys(body).some((name) => name.toLowerCase() === external.toLowerCase())) {
    throw new SalesforceRefusal('INVALID_FIELD', `The ${external} field should not be specified in the sobject data.`);
  }
  const found = byExternal(call);
  if (found.length > 1) return choices(call, found);
  call.org.recordFaults.apply(type.name);
  const [known] = found;
  if (known !== undefined) {
    call.org.org.update(known, body, saveOptions(call));
    return { status: 200, json: { id: known.id, success: true, errors: [], created: false } };
  }
  const record = call.org.org.create(type, { ...body, [external]: call.parts[2]! }, saveOptions(call));
  return { status: 201, json: { id: record.id, success: true, errors: [], created: true } };
}

function byExternal(call: Call): OrgRecord[] {
  const type = objectFor(call, call.parts[0]!);
  return call.org.org.having(type, externalField(type, call.parts[1]!), call.parts[2]!);
}

/** Answers 300 with the addresses of all records that have the external id. */
function choices(call: Call, found: readonly OrgRecord[]): DoubleAnswer {
  return {
    status: 300,
    json: found.map(({ type, id }) => `/services/data/${call.version}/sobjects/${type.name}/${id}`),
  };
}

function existing(call: Call): OrgRecord {
  const type = objectFor(call, call.parts[0]!);
  const record = call.org.org.byId(call.parts[1]!);
  if (record?.type === type) return record;
  if (call.org.org.deletedById(call.parts[1]!) !== undefined) {
    throw new SalesforceRefusal('ENTITY_IS_DELETED', 'entity is deleted', [], 404);
  }
  throw notFound();
}

function shown(call: Call, record: OrgRecord): unknown {
  const asked = call.request.query.get('fields');
  const fields = asked === null ? [...record.type.fields.keys()] : asked.split(',');
  return selected(record, fields, call.version);
}
