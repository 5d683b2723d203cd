import type { DoubleAnswer } from '../serve/double-request.js';
import type { Account } from './account.js';
import { isDated, onlyInputs, requiredText, type Call, type Route, invalidInput, notFound } from './call.js';
import type { ObjectType } from './object-type.js';
import type { CrmRecord } from './portal.js';

/** Documented: maximum number of inputs in a batch of the associations API. */
const MAX_CREATED = 2000;
const MAX_READ = 1000;

/** Associations between notes, custom objects and contacts. Documented: "Associations v4". */
export const associationRoutes: readonly Route[] = [
  route('batch/associate/default', 'write', associateBatch),
  route('batch/archive', 'write', dissociateBatch),
  route('batch/read', 'read', associatedBatch),
];

function route(action: string, access: 'read' | 'write', answer: (call: Call) => DoubleAnswer): Route {
  return {
    method: 'POST',
    path: new RegExp(`^/crm/v4/associations/([^/]+)/([^/]+)/${action}$`),
    scopes: ({ account, parts }) => account.type(parts[0]!).scopes[access],
    answer,
  };
}

/**
 * Creates the `associations` that a create request names for the new record.
 * @throws {HubSpotRefusal} 400 if the association type does not exist between the two objects, 404 if the record does
 *   not exist
 */
export function associateNew(account: Account, record: CrmRecord, associations: unknown): void {
  if (associations === undefined) return;
  if (!Array.isArray(associations)) throw invalidInput('Invalid input JSON: associations is not a list');
  account.portal.onTakeBack(() => account.associations.removeAllOf(record.type.name, record.id));
  for (const { to, types } of associations as { to?: { id?: unknown }; types?: unknown }[]) {
    const id = requiredText({ id: to?.id }, 'id');
    for (const typeId of typeIdsOf(types)) {
      const toType = account.types.find((type) => typeIdBetween(record.type, type) === typeId);
      if (toType === undefined) throw invalidInput(`${record.type.singular} has no association of type ${typeId}`);
      associate(account, record.type, record.id, toType, id, typeId);
    }
  }
}

function associateBatch(call: Call): DoubleAnswer {
  const from = call.account.type(call.parts[0]!);
  const to = call.account.type(call.parts[1]!);
  const results = onlyInputs(call, MAX_CREATED, ['from', 'to']).map((input) => {
    const [fromId, toId] = [idOf(input.from), idOf(input.to)];
    associate(call.account, from, fromId, to, toId, requiredTypeId(from, to));
    return { fromObjectId: Number(fromId), toObjectId: Number(toId), labels: [] };
  });
  return { status: 200, json: { status: 'COMPLETE', results } };
}

function dissociateBatch(call: Call): DoubleAnswer {
  const from = call.account.type(call.parts[0]!);
  const to = call.account.type(call.parts[1]!);
  for (const input of onlyInputs(call, MAX_CREATED, ['from', 'to'])) {
    const others = Array.isArray(input.to) ? input.to : [];
    for (const other of others)
      call.account.associations.removeBetween(from.name, idOf(input.from), to.name, idOf(other));
  }
  return isDated(call) ? { status: 200, json: {} } : { status: 204 };
}

function associatedBatch(call: Call): DoubleAnswer {
  const from = call.account.type(call.parts[0]!);
  const to = call.account.type(call.parts[1]!);
  const { associationsPerPage } = call.account;
  const results: unknown[] = [];
  const errors: unknown[] = [];
  for (const input of onlyInputs(call, MAX_READ, ['id', 'after'])) {
    const id = requiredText(input, 'id');
    const start = input.after === undefined ? 0 : Number(input.after);
    const all = resultsOf(call.account, from, id, to);
    if (all.length === 0) errors.push(noAssociations(from, id, to));
    else {
      const after = start + associationsPerPage;
      const paging = after < all.length ? { paging: { next: { after: String(after), link: '' } } } : {};
      results.push({ from: { id }, to: all.slice(start, after), ...paging });
    }
  }
  return {
    status: errors.length > 0 && !isDated(call) ? 207 : 200,
    json: { status: 'COMPLETE', results, ...(errors.length > 0 && { numErrors: errors.length, errors }) },
  };
}

/** Seen in answers: a record without associations is an error in an otherwise successful answer. */
function noAssociations(from: ObjectType, id: string, to: ObjectType): unknown {
  return {
    status: 'error',
    category: 'OBJECT_NOT_FOUND',
    subCategory: 'crm.associations.NO_ASSOCIATIONS_FOUND',
    message: `No ${to.singular.toLowerCase()} is associated with ${from.singular.toLowerCase()} ${id}.`,
    context: { fromObjectId: [id], fromObjectType: [from.name], toObjectType: [to.name] },
  };
}

function associate(
  account: Account,
  from: ObjectType,
  fromId: string,
  to: ObjectType,
  toId: string,
  typeId: number,
): void {
  if (typeIdBetween(from, to) !== typeId) {
    throw invalidInput(`${typeId} is not an association type of ${from.singular} to ${to.singular}`);
  }
  for (const [type, id] of [
    [from, fromId],
    [to, toId],
  ] as const) {
    if (account.portal.byId(type, id) === undefined) throw notFound(`No ${type.singular} with ID ${id} exists`);
  }
  const category = categoryOf(from, to);
  account.associations.add({ fromType: from.name, fromId, toType: to.name, toId, category, typeId });
}

function resultsOf(account: Account, from: ObjectType, id: string, to: ObjectType): unknown[] {
  return account.associations.of(from.name, id, to.name).map(({ toId, category, typeId }) => ({
    toObjectId: Number(toId),
    associationTypes: [{ category, typeId, label: null }],
  }));
}

/** Returns the default type between two objects: 202 from note to contact, 201 back, otherwise the portal's own. */
function typeIdBetween(from: ObjectType, to: ObjectType): number | undefined {
  if (to.name === 'contacts') return from.contactAssociationTypeId;
  if (from.name === 'contacts' && to.contactAssociationTypeId !== undefined) {
    return to.custom ? to.contactAssociationTypeId + 1 : to.contactAssociationTypeId - 1;
  }
  return undefined;
}

function requiredTypeId(from: ObjectType, to: ObjectType): number {
  const typeId = typeIdBetween(from, to);
  if (typeId === undefined) throw invalidInput(`${from.singular} cannot be associated with ${to.singular}`);
  return typeId;
}

function categoryOf(from: ObjectType, to: ObjectType): 'USER_DEFINED' | 'HUBSPOT_DEFINED' {
  return from.custom || to.custom ? 'USER_DEFINED' : 'HUBSPOT_DEFINED';
}

function typeIdsOf(types: unknown): number[] {
  if (!Array.isArray(types) || types.length === 0) throw invalidInput('Some required fields were not set: [types]');
  return (types as { associationTypeId?: unknown; associationCategory?: unknown }[]).map(
    ({ associationTypeId, associationCategory }) => {
      if (typeof associationTypeId !== 'number' || typeof associationCategory !== 'string') {
        throw invalidInput('Some required fields were not set: [associationCategory, associationTypeId]');
      }
      return associationTypeId;
    },
  );
}

function idOf(end: unknown): string {
  return requiredText((end ?? {}) as Record<string, unknown>, 'id');
}
