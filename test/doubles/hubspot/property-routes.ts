import type { DoubleAnswer } from '../serve/double-request.js';
import type { Call, Route } from './call.js';
import { notFound } from './hubspot-refusal.js';
import type { ObjectType } from './object-type.js';
import { propertyJson } from './property-definition.js';

const reads = ({ account, parts }: Call): readonly string[] => account.type(parts[0]!).scopes.schema;

/** What properties an object has, and what custom objects there are. */
export const propertyRoutes: readonly Route[] = [
  { method: 'GET', path: /^\/crm\/v3\/properties\/([^/]+)$/, scopes: reads, answer: properties },
  { method: 'GET', path: /^\/crm\/v3\/properties\/([^/]+)\/([^/]+)$/, scopes: reads, answer: oneProperty },
  { method: 'GET', path: /^\/crm\/v3\/schemas$/, scopes: () => ['crm.schemas.custom.read'], answer: schemas },
  {
    method: 'GET',
    path: /^\/crm\/v3\/schemas\/([^/]+)$/,
    scopes: () => ['crm.schemas.custom.read'],
    answer: oneSchema,
  },
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
  const type = account.type(parts[0]!);
  if (!type.custom) throw notFound();
  return { status: 200, json: schemaJson(type) };
}

function schemaJson(type: ObjectType): Record<string, unknown> {
  return {
    id: type.objectTypeId.slice(2),
    objectTypeId: type.objectTypeId,
    name: type.name,
    fullyQualifiedName: type.fullyQualifiedName,
    labels: { singular: type.name, plural: type.name },
    requiredProperties: type.required,
    searchableProperties: [],
    primaryDisplayProperty: type.required[0] ?? [...type.properties.keys()][0],
    properties: [...type.properties.values()].map(propertyJson),
    associations: [
      { id: String(type.contactAssociationTypeId), fromObjectTypeId: type.objectTypeId, toObjectTypeId: '0-1' },
    ],
    archived: false,
  };
}
