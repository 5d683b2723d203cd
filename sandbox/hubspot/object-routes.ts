import type { DoubleAnswer } from '../serve/double-request.js';
import { associateNew } from './association-routes.js';
import {
  enforcesRules,
  jsonBody,
  propertyValues,
  requiredText,
  type Call,
  type Route,
  invalidInput,
  notFound,
} from './call.js';
import { uniqueProperties, type CrmRecord, DEFAULT_PROPERTIES, recordJson, type Wanted } from './portal.js';
import { type ObjectType, propertyJson } from './object-type.js';

const COLLECTION = /^\/crm\/v3\/objects\/([^/]+)$/;
const ONE = /^\/crm\/v3\/objects\/([^/]+)\/([^/]+)$/;

/** One record at a time. */
export const objectRoutes: readonly Route[] = [
  { method: 'POST', path: /^\/crm\/v3\/objects\/contacts\/gdpr-delete$/, scopes: writes, answer: erase },
  { method: 'GET', path: COLLECTION, scopes: reads, answer: list },
  { method: 'POST', path: COLLECTION, scopes: writes, answer: create },
  { method: 'GET', path: ONE, scopes: reads, answer: read },
  { method: 'PATCH', path: ONE, scopes: writes, answer: update },
  { method: 'DELETE', path: ONE, scopes: writes, answer: archive },
];

function reads({ account, parts }: Call): readonly string[] {
  return account.type(parts[0]!).scopes.read;
}

function writes({ account, parts }: Call): readonly string[] {
  return account.type(parts[0] ?? 'contacts').scopes.write;
}

function list(call: Call): DoubleAnswer {
  const type = call.account.type(call.parts[0]!);
  const limit = Number(call.request.query.get('limit') ?? 10);
  if (!Number.isInteger(limit) || limit < 1 || limit > 100) throw invalidInput('limit must be between 1 and 100');
  const after = call.request.query.get('after') ?? '0';
  const records = call.account.portal.all(type).filter(({ id }) => Number(id) > Number(after));
  const page = records.slice(0, limit);
  return {
    status: 200,
    json: {
      results: page.map((record) => recordJson(record, wantedOf(call))),
      ...(records.length > limit && { paging: { next: { after: page.at(-1)!.id } } }),
    },
  };
}

function create(call: Call): DoubleAnswer {
  const type = call.account.type(call.parts[0]!);
  const body = jsonBody(call);
  const values = propertyValues(body);
  const record = call.account.portal.atomically(() => {
    const created = call.account.portal.create(type, values, enforcesRules(call));
    associateNew(call.account, created, body.associations);
    return created;
  });
  return { status: 201, json: recordJson(record, { properties: Object.keys(values) }) };
}

function read(call: Call): DoubleAnswer {
  if (call.request.query.get('archived') === 'true') {
    const archived = call.account.portal.archivedById(call.account.type(call.parts[0]!), call.parts[1]!);
    if (archived === undefined) throw notFound();
    return { status: 200, json: recordJson(archived, wantedOf(call)) };
  }
  return { status: 200, json: recordJson(existing(call), wantedOf(call)) };
}

function update(call: Call): DoubleAnswer {
  const values = propertyValues(jsonBody(call));
  const record = existing(call);
  call.account.portal.update(record, values, enforcesRules(call));
  return { status: 200, json: recordJson(record, { properties: Object.keys(values) }) };
}

/** Archives; what is gone already is no error. */
function archive(call: Call): DoubleAnswer {
  const type = call.account.type(call.parts[0]!);
  const record = call.account.portal.byId(type, call.parts[1]!);
  if (record !== undefined) {
    call.account.portal.archive(record);
    call.account.associations.removeAllOf(type.name, record.id);
  }
  return { status: 204 };
}

/** The permanent deletion: the whole contact goes, and nothing stops a later call from creating it again. */
function erase(call: Call): DoubleAnswer {
  const { contacts, portal } = call.account;
  const body = jsonBody(call);
  const objectId = requiredText(body, 'objectId');
  const record =
    body.idProperty === 'email' ? portal.byUnique(contacts, 'email', objectId) : portal.byId(contacts, objectId);
  if (record !== undefined) {
    portal.erase(record);
    call.account.associations.removeAllOf('contacts', record.id);
  }
  return { status: 204 };
}

/** @throws {HubSpotRefusal} 404 where there is none, 400 for an idProperty that is not unique */
function existing(call: Call): CrmRecord {
  const type = call.account.type(call.parts[0]!);
  const idProperty = call.request.query.get('idProperty');
  if (idProperty !== null && !uniqueProperties(type).includes(idProperty)) {
    throw invalidInput(`${idProperty} is not a property with unique values of ${type.singular}`);
  }
  const id = call.parts[1]!;
  const { portal } = call.account;
  const record = idProperty === null ? portal.byId(type, id) : portal.byUnique(type, idProperty, id);
  if (record === undefined) throw notFound();
  return record;
}

function wantedOf(call: Call): Wanted {
  const asked = listOf(call, 'properties');
  const byDefault = DEFAULT_PROPERTIES[call.account.type(call.parts[0]!).name] ?? [];
  return { properties: asked.length > 0 ? asked : byDefault, withHistory: listOf(call, 'propertiesWithHistory') };
}

/** `a,b` or repeated. */
function listOf(call: Call, parameter: string): string[] {
  return call.request.query.getAll(parameter).flatMap((value) => value.split(',').filter((name) => name !== ''));
}

const readsSchema = ({ account, parts }: Call): readonly string[] => account.type(parts[0]!).scopes.schema;

/** Documented: the specification of "Schemas", for every object, contacts included. */
const schemaScopes = (): readonly string[] => ['crm.schemas.custom.read', 'crm.objects.custom.read', 'oauth'];

/** Routes for the properties of objects, and for custom objects. */
export const propertyRoutes: readonly Route[] = [
  { method: 'GET', path: /^\/crm\/v3\/properties\/([^/]+)$/, scopes: readsSchema, answer: properties },
  { method: 'GET', path: /^\/crm\/v3\/properties\/([^/]+)\/([^/]+)$/, scopes: readsSchema, answer: oneProperty },
  { method: 'GET', path: /^\/crm\/v3\/schemas$/, scopes: schemaScopes, answer: schemas },
  { method: 'GET', path: /^\/crm\/v3\/schemas\/([^/]+)$/, scopes: schemaScopes, answer: oneSchema },
];

function properties({ account, parts }: Call): DoubleAnswer {
  return { status: 200, json: { results: [...account.type(parts[0]!).properties.values()].map(propertyJson) } };
}

function oneProperty({ account, parts }: Call): DoubleAnswer {
  const definition = account.type(parts[0]!).properties.get(parts[1]!);
  if (definition === undefined) throw notFound(`Property ${parts[1]} does not exist`);
  return { status: 200, json: propertyJson(definition) };
}

function schemas({ account }: Call): DoubleAnswer {
  return { status: 200, json: { results: account.types.filter(({ custom }) => custom).map(schemaJson) } };
}

function oneSchema({ account, parts }: Call): DoubleAnswer {
  return { status: 200, json: schemaJson(account.type(parts[0]!)) };
}

function schemaJson(type: ObjectType): Record<string, unknown> {
  return {
    id: type.objectTypeId.slice(2),
    objectTypeId: type.objectTypeId,
    name: type.name,
    fullyQualifiedName: type.fullyQualifiedName,
    labels: { singular: type.name, plural: type.name },
    requiredProperties: [...type.required, ...type.rules.required],
    searchableProperties: [],
    primaryDisplayProperty: type.required[0] ?? [...type.properties.keys()][0],
    properties: [...type.properties.values()].map(propertyJson),
    associations: [
      { id: String(type.contactAssociationTypeId), fromObjectTypeId: type.objectTypeId, toObjectTypeId: '0-1' },
    ],
    archived: false,
  };
}
