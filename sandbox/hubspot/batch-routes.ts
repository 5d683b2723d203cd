import type { DoubleAnswer } from '../serve/double-request.js';
import type { BatchErrors } from './account.js';
import { associateNew } from './association-routes.js';
import {
  enforcesRules,
  inputsOf,
  isDated,
  jsonBody,
  onlyFields,
  onlyInputs,
  propertyValues,
  requiredText,
  texts,
  type Call,
  type Route,
  HubSpotRefusal,
  invalidInput,
} from './call.js';
import type { ObjectType } from './object-type.js';
import { uniqueProperties, type CrmRecord, recordJson } from './portal.js';

const MAX_INPUTS = 100;
/** Documented: half the limit if the request asks for history. */
const MAX_INPUTS_WITH_HISTORY = 50;

/** The batch endpoints of CRM objects. */
export const batchRoutes: readonly Route[] = [
  route('create', 'write', createBatch),
  route('update', 'write', updateBatch),
  route('upsert', 'write', upsertBatch),
  route('read', 'read', readBatch),
  route('archive', 'write', archiveBatch),
];

function route(action: string, access: 'read' | 'write', answer: (call: Call) => DoubleAnswer): Route {
  return {
    method: 'POST',
    path: new RegExp(`^/crm/v3/objects/([^/]+)/batch/${action}$`),
    scopes: ({ account, parts }) => account.type(parts[0]!).scopes[access],
    answer,
  };
}

/** The result of one input: a record, or the reason why there is none. */
interface Written {
  readonly input: Readonly<Record<string, unknown>>;
  readonly record?: CrmRecord;
  readonly isNew?: boolean;
  readonly also?: readonly string[];
  readonly refusal?: HubSpotRefusal;
}

function createBatch(call: Call): DoubleAnswer {
  const type = call.account.type(call.parts[0]!);
  const inputs = writableInputs(call, ['properties', 'associations', 'objectWriteTraceId']);
  const traced = inputs.every((input) => typeof input.objectWriteTraceId === 'string');
  // Documented: a trace id for each input enables multi-status errors in a create request.
  const errors = call.account.batchErrors ?? (isDated(call) ? 'in-200' : traced ? 'multi-status' : 'whole-batch');
  const written = write(call, inputs, errors, (input) => {
    const record = call.account.portal.create(type, propertyValues(input), enforcesRules(call));
    associateNew(call.account, record, input.associations);
    return { input, record };
  });
  return batchAnswer(call, written, errors, 201);
}

function updateBatch(call: Call): DoubleAnswer {
  const type = call.account.type(call.parts[0]!);
  const inputs = writableInputs(call, ['id', 'idProperty', 'properties', 'objectWriteTraceId']);
  const idProperty = oneIdProperty(type, inputs, false);
  refuseDuplicates(inputs.map((input) => requiredText(input, 'id')));
  const errors = call.account.batchErrors ?? (isDated(call) ? 'in-200' : 'whole-batch');
  const missing: string[] = [];
  const written = write(call, inputs, errors, (input) => {
    const id = requiredText(input, 'id');
    const values = propertyValues(input);
    const record = lookUp(call, type, idProperty, id);
    if (record === undefined) {
      missing.push(id);
      return undefined;
    }
    call.account.portal.update(record, values, enforcesRules(call));
    return { input, record };
  });
  return batchAnswer(call, written, errors, 200, missing);
}

function upsertBatch(call: Call): DoubleAnswer {
  const type = call.account.type(call.parts[0]!);
  const inputs = writableInputs(call, ['id', 'idProperty', 'properties', 'objectWriteTraceId']);
  const idProperty = oneIdProperty(type, inputs, true)!;
  refuseDuplicates(inputs.map((input) => requiredText(input, 'id')));
  // Documented for contacts: no partial upsert if the e-mail identifies them.
  const byEmail = idProperty === 'email';
  const errors = call.account.batchErrors ?? (isDated(call) && !byEmail ? 'in-200' : 'whole-batch');
  const written = write(call, inputs, errors, (input) => {
    const id = requiredText(input, 'id');
    const values = propertyValues(input);
    const own = values[idProperty];
    if (own !== undefined && own.toLowerCase() !== id.toLowerCase()) {
      throw invalidInput(`The value of ${idProperty} in properties is not the input's id`);
    }
    const known = call.account.portal.byUnique(type, idProperty, id);
    if (known !== undefined) {
      // An additional e-mail finds the contact, but does not replace its primary e-mail.
      const { [idProperty]: _own, ...others } = values;
      call.account.portal.update(known, others, enforcesRules(call));
      return { input, record: known, isNew: false, also: [idProperty] };
    }
    const record = call.account.portal.create(type, { ...values, [idProperty]: id }, enforcesRules(call));
    return { input, record, isNew: true, also: [idProperty] };
  });
  return batchAnswer(call, written, errors, 200);
}

function readBatch(call: Call): DoubleAnswer {
  const type = call.account.type(call.parts[0]!);
  const body = jsonBody(call);
  onlyFields(body, ['inputs', 'idProperty', 'properties', 'propertiesWithHistory']);
  const properties = texts(body, 'properties');
  const withHistory = texts(body, 'propertiesWithHistory');
  const ids = inputsOf(body, withHistory.length > 0 ? MAX_INPUTS_WITH_HISTORY : MAX_INPUTS).map((input) =>
    requiredText(input, 'id'),
  );
  const idProperty = readableIdProperty(type, body.idProperty);
  const found = ids.map((id) => ({ id, record: lookUp(call, type, idProperty, id) }));
  const records = new Set(found.flatMap(({ record }) => (record === undefined ? [] : [record])));
  const missing = found.filter(({ record }) => record === undefined).map(({ id }) => id);
  const wanted = idProperty === undefined ? properties : [...new Set([...properties, idProperty])];
  return complete(
    call,
    missing.length > 0 && !isDated(call) ? 207 : 200,
    [...records].map((record) => recordJson(record, { properties: wanted, withHistory })),
    missing.length > 0 ? [missingEntry(type, missing)] : [],
  );
}

function archiveBatch(call: Call): DoubleAnswer {
  const type = call.account.type(call.parts[0]!);
  for (const input of onlyInputs(call, MAX_INPUTS, ['id'])) {
    const record = call.account.portal.byId(type, requiredText(input, 'id'));
    if (record === undefined) continue; // archiving an archived record is not an error
    call.account.portal.archive(record);
    call.account.associations.removeAllOf(type.name, record.id);
  }
  return { status: 204 };
}

/** Reads inputs whose properties are all text. Refuses invalid ones before it reads any record. */
function writableInputs(call: Call, allowed: readonly string[]): Record<string, unknown>[] {
  const inputs = onlyInputs(call, MAX_INPUTS, allowed);
  for (const input of inputs) propertyValues(input);
  return inputs;
}

/** Writes each input; all or none with `whole-batch`. Omits an input that returns `undefined`: the caller reports it. */
function write(
  call: Call,
  inputs: readonly Readonly<Record<string, unknown>>[],
  errors: BatchErrors,
  one: (input: Readonly<Record<string, unknown>>) => Written | undefined,
): Written[] {
  if (errors === 'whole-batch') return call.account.portal.atomically(() => wholeBatch(inputs, one));
  return inputs.flatMap((input): Written | Written[] => {
    try {
      return call.account.portal.atomically(() => one(input)) ?? [];
    } catch (error) {
      if (!(error instanceof HubSpotRefusal)) throw error;
      return [{ input, refusal: error }];
    }
  });
}

/** @throws {HubSpotRefusal} the first refusal, with the details of all refusals of the same status */
function wholeBatch(
  inputs: readonly Readonly<Record<string, unknown>>[],
  one: (input: Readonly<Record<string, unknown>>) => Written | undefined,
): Written[] {
  const refusals: HubSpotRefusal[] = [];
  const written = inputs.flatMap((input): Written | Written[] => {
    try {
      return one(input) ?? [];
    } catch (error) {
      if (!(error instanceof HubSpotRefusal)) throw error;
      refusals.push(error);
      return [];
    }
  });
  const [first] = refusals;
  if (first === undefined) return written;
  const details = refusals.filter(({ status }) => status === first.status).flatMap((refusal) => refusal.details);
  throw new HubSpotRefusal(first.status, first.category, first.message, details, first.context);
}

function batchAnswer(
  call: Call,
  written: readonly Written[],
  errors: BatchErrors,
  status: number,
  missing: readonly string[] = [],
): DoubleAnswer {
  const results = written.flatMap(({ input, record, isNew, also = [] }) => {
    if (record === undefined) return [];
    const properties = Object.keys(input.properties as object);
    return [
      {
        ...recordJson(record, { properties: [...new Set([...properties, ...also])] }),
        ...(isNew !== undefined && { new: isNew }),
        ...(typeof input.objectWriteTraceId === 'string' && { objectWriteTraceId: input.objectWriteTraceId }),
      },
    ];
  });
  const refused = written.flatMap(({ input, refusal }) =>
    refusal === undefined ? [] : [refusal.entry(aboutInput(input))],
  );
  const type = call.account.type(call.parts[0]!);
  const problems = [...refused, ...(missing.length > 0 ? [missingEntry(type, missing)] : [])];
  const partial = problems.length > 0 ? (errors === 'in-200' ? 200 : 207) : status;
  return complete(call, partial, results, problems);
}

/** Reverses the results. HubSpot promises no order, so a client must not depend on the order of the inputs. */
function complete(call: Call, status: number, results: readonly unknown[], errors: readonly unknown[]): DoubleAnswer {
  const at = new Date(call.account.now()).toISOString();
  return {
    status,
    json: {
      status: 'COMPLETE',
      results: results.toReversed(),
      ...(errors.length > 0 && { numErrors: errors.length, errors }),
      startedAt: at,
      completedAt: at,
    },
  };
}

function aboutInput(input: Readonly<Record<string, unknown>>): Record<string, string[]> {
  return {
    ...(typeof input.id === 'string' && { ids: [input.id] }),
    ...(typeof input.objectWriteTraceId === 'string' && { objectWriteTraceId: [input.objectWriteTraceId] }),
  };
}

function missingEntry(type: ObjectType, ids: readonly string[]): unknown {
  return {
    status: 'error',
    category: 'OBJECT_NOT_FOUND',
    message: `Could not get some ${type.singular} objects, they may be deleted or not exist. Check that ids are valid.`,
    context: { ids },
  };
}

function lookUp(call: Call, type: ObjectType, idProperty: string | undefined, id: string): CrmRecord | undefined {
  const { portal } = call.account;
  return idProperty === undefined ? portal.byId(type, id) : portal.byUnique(type, idProperty, id);
}

/**
 * @throws {HubSpotRefusal} 400 if inputs name different properties, lack a required one, or name one that is not
 *   unique
 */
function oneIdProperty(
  type: ObjectType,
  inputs: readonly Readonly<Record<string, unknown>>[],
  needed: boolean,
): string | undefined {
  const named = new Set(inputs.map((input) => input.idProperty));
  if (named.size > 1) throw invalidInput('All inputs must have the same idProperty');
  const [idProperty] = named;
  if (needed && idProperty === 'hs_object_id') throw invalidInput('hs_object_id is not allowed as an idProperty');
  if (needed && (idProperty === undefined || idProperty === '')) {
    throw invalidInput('Some required fields were not set: [idProperty]');
  }
  return readableIdProperty(type, idProperty);
}

function readableIdProperty(type: ObjectType, idProperty: unknown): string | undefined {
  if (idProperty === undefined || idProperty === null || idProperty === 'hs_object_id') return undefined;
  if (typeof idProperty !== 'string' || !uniqueProperties(type).includes(idProperty)) {
    throw invalidInput(`idProperty is not the name of a property with unique values of ${type.singular}`);
  }
  return idProperty;
}

function refuseDuplicates(ids: readonly string[]): void {
  const seen = new Set<string>();
  const twice = new Set<string>();
  for (const id of ids.map((each) => each.toLowerCase())) (seen.has(id) ? twice : seen).add(id);
  if (twice.size === 0) return;
  throw invalidInput(`Duplicate IDs found in batch input: [${[...twice].join(', ')}]. IDs must be unique`, {
    ids: [...twice],
  });
}
