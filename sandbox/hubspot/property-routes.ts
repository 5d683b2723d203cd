import type { DoubleAnswer } from '../serve/double-request.js';
import type { Call, Route } from './call.js';
import { type ObjectType, propertyJson } from './object-type.js';

const readsSchema = ({ account, parts }: Call): readonly string[] => account.type(parts[0]!).scopes.schema;

/** Documented: the specification of "Schemas", for every object, contacts included. */
const schemaScopes = (): readonly string[] => ['crm.schemas.custom.read', 'crm.objects.custom.read', 'oauth'];

/** Routes for the properties of objects and for their schemas. */
export const propertyRoutes: readonly Route[] = [
  { method: 'GET', path: /^\/crm\/v3\/properties\/([^/]+)$/, scopes: readsSchema, answer: properties },
  { method: 'GET', path: /^\/crm\/v3\/schemas\/([^/]+)$/, scopes: schemaScopes, answer: oneSchema },
];

function properties({ account, parts }: Call): DoubleAnswer {
  return { status: 200, json: { results: [...account.type(parts[0]!).properties.values()].map(propertyJson) } };
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
