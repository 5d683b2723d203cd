import { parsed } from '../json.js';
import type { DoubleAnswer } from '../serve/double-request.js';
import { type Call, type Route, invalidInput, notFound, jsonBody, onlyInputs, requiredText } from './call.js';
import type { ContactList } from './account.js';
import { propertyJson } from './object-type.js';

/** Documented: the specification of "Lists", 2026-09, memberships. */
const LIST = '/crm/v3/lists/([^/]+)';

const schemaOf = ({ account, parts }: Call): readonly string[] => account.type(parts[0]!).scopes.schema;
/** Documented: the specification of "Schemas", for every object, contacts included. */
const anySchema = (): readonly string[] => ['crm.schemas.custom.read', 'crm.objects.custom.read', 'oauth'];
const readLists = (): readonly string[] => ['crm.lists.read'];
const writeLists = (): readonly string[] => ['crm.lists.write'];
/** Documented: the specification of "Account Info" names this scope; a service key may lack it. */
const oauth = (): readonly string[] => ['oauth'];
const anyToken = (): undefined => undefined;

/** Routes for what an administrator defines: properties, schemas, static lists of contacts, tokens and the account. */
export const definitionRoutes: readonly Route[] = [
  { method: 'GET', path: /^\/crm\/v3\/properties\/([^/]+)$/, scopes: schemaOf, answer: properties },
  { method: 'GET', path: /^\/crm\/v3\/schemas\/([^/]+)$/, scopes: anySchema, answer: schema },
  { method: 'GET', path: new RegExp(`^${LIST}$`), scopes: readLists, answer: read },
  {
    method: 'POST',
    path: /^\/crm\/v3\/lists\/records\/memberships\/batch\/read$/,
    scopes: readLists,
    answer: membershipsOf,
  },
  { method: 'PUT', path: new RegExp(`^${LIST}/memberships/add$`), scopes: writeLists, answer: add },
  { method: 'PUT', path: new RegExp(`^${LIST}/memberships/remove$`), scopes: writeLists, answer: remove },
  { method: 'GET', path: /^\/account-info\/v3\/details$/, scopes: oauth, answer: details },
  { method: 'POST', path: /^\/oauth\/v2\/private-apps\/get\/access-token-info$/, scopes: anyToken, answer: tokenInfo },
];

function properties({ account, parts }: Call): DoubleAnswer {
  return { status: 200, json: { results: [...account.type(parts[0]!).properties.values()].map(propertyJson) } };
}

function schema({ account, parts }: Call): DoubleAnswer {
  const type = account.type(parts[0]!);
  const json = {
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
  return { status: 200, json };
}

function read(call: Call): DoubleAnswer {
  const { listId, processingType } = existing(call);
  const list = { listId, name: `List ${listId}`, objectTypeId: '0-1', processingType, processingStatus: 'COMPLETE' };
  return { status: 200, json: { list: { ...list, listVersion: 1 } } };
}

/** Returns the lists of records. Documented: the specification of "Lists", 2026-09; (A) at most 100 records. */
function membershipsOf(call: Call): DoubleAnswer {
  const results = onlyInputs(call, 100, ['objectTypeId', 'recordId']).map((input) => {
    const [objectTypeId, recordId] = [requiredText(input, 'objectTypeId'), requiredText(input, 'recordId')];
    if (objectTypeId !== call.account.contacts.objectTypeId)
      throw invalidInput('objectTypeId is not a type of records');
    const at = new Date(call.account.now()).toISOString();
    const recordListMemberships = [...call.account.lists.values()]
      .filter(({ members }) => members.has(recordId))
      .map(({ listId }) => ({ listId, listVersion: 1, firstAddedTimestamp: at, lastAddedTimestamp: at }));
    return { objectTypeId, recordId, recordListMemberships };
  });
  return { status: 200, json: { status: 'COMPLETE', results } };
}

function add(call: Call): DoubleAnswer {
  const { list, known, missing } = memberships(call);
  const added = known.filter((id) => !list.members.has(id));
  for (const id of added) list.members.add(id);
  return changed({ added, removed: [], missing });
}

function remove(call: Call): DoubleAnswer {
  const { list, known, missing } = memberships(call);
  return changed({ added: [], removed: known.filter((id) => list.members.delete(id)), missing });
}

/** Missing records are named in the 200. They do not cause a refusal. */
function memberships(call: Call): { list: ContactList; known: string[]; missing: string[] } {
  const list = existing(call);
  if (list.processingType === 'DYNAMIC') {
    throw invalidInput('Manual memberships cannot be changed in a list whose processing type is DYNAMIC');
  }
  const ids = parsed(call.request.body);
  if (!Array.isArray(ids) || ids.some((id) => typeof id !== 'string')) {
    throw invalidInput('Invalid input JSON: the body is not a list of record ids');
  }
  const { portal, contacts } = call.account;
  const exists = (id: string): boolean => portal.byId(contacts, id) !== undefined;
  return { list, known: (ids as string[]).filter(exists), missing: (ids as string[]).filter((id) => !exists(id)) };
}

function changed(ids: { added: string[]; removed: string[]; missing: string[] }): DoubleAnswer {
  return {
    status: 200,
    json: { recordsIdsAdded: ids.added, recordIdsRemoved: ids.removed, recordIdsMissing: ids.missing },
  };
}

function existing(call: Call): ContactList {
  const list = call.account.lists.get(call.parts[0]!);
  if (list === undefined) throw notFound(`List does not exist with ID ${call.parts[0]}.`);
  return list;
}

function details({ account }: Call): DoubleAnswer {
  return {
    status: 200,
    json: {
      portalId: account.portalId,
      accountType: 'STANDARD',
      timeZone: account.timeZone,
      uiDomain: 'app.hubspot.com',
    },
  };
}

function tokenInfo(call: Call): DoubleAnswer {
  const scopes = call.account.tokens.get(requiredText(jsonBody(call), 'tokenKey'));
  // (A) A service key belongs to no private app.
  if (scopes === undefined || call.account.profile === 'freshAccount') throw notFound('No private app has this token');
  return { status: 200, json: { userId: 1, hubId: call.account.portalId, appId: 1, scopes } };
}
