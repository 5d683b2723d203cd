import type { DoubleAnswer } from '../serve/double-request.js';
import { jsonBody, texts, type Call, type Route, invalidInput } from './call.js';
import type { ObjectType } from './object-type.js';
import { type CrmRecord, DEFAULT_PROPERTIES, recordJson, systemValues } from './portal.js';

/** Documented limits: "Search the CRM". */
const MAX_GROUPS = 5;
const MAX_FILTERS_IN_GROUP = 6;
const MAX_FILTERS = 18;
const MAX_PAGE = 200;
const MAX_RESULTS = 10_000;
const MAX_VALUES = 100;

export const searchRoute: Route = {
  method: 'POST',
  path: /^\/crm\/v3\/objects\/([^/]+)\/search$/,
  scopes: ({ account, parts }) => account.type(parts[0]!).scopes.read,
  answer: search,
};

interface Filter {
  readonly propertyName?: unknown;
  readonly operator?: unknown;
  readonly value?: unknown;
  readonly highValue?: unknown;
  readonly values?: unknown;
}

/** Records found by filters, oldest first. What was written less than the lag ago is not found as it now is. */
function search(call: Call): DoubleAnswer {
  const type = call.account.type(call.parts[0]!);
  const body = jsonBody(call);
  const groups = groupsOf(type, body);
  const limit = wholeNumber(body.limit ?? 10, 'limit');
  if (limit < 1 || limit > MAX_PAGE) throw invalidInput(`limit must be between 1 and ${MAX_PAGE}`);
  const after = wholeNumber(body.after ?? 0, 'after');
  if (after + limit > MAX_RESULTS) throw invalidInput(`a search gives at most ${MAX_RESULTS} results`);

  const seenUntilMs = call.account.now() - call.account.searchLagMs;
  const found = call.account.portal
    .all(type)
    .filter((record) => record.updatedAtMs <= seenUntilMs)
    .filter((record) => groups.length === 0 || groups.some((group) => group.every((filter) => fits(record, filter))));
  const asked = texts(body, 'properties');
  const properties = asked.length > 0 ? asked : (DEFAULT_PROPERTIES[type.name] ?? []);
  return {
    status: 200,
    json: {
      total: found.length,
      results: found.slice(after, after + limit).map((record) => recordJson(record, { properties })),
      ...(found.length > after + limit && { paging: { next: { after: String(after + limit) } } }),
    },
  };
}

function groupsOf(type: ObjectType, body: Readonly<Record<string, unknown>>): Filter[][] {
  const groups = body.filterGroups ?? (Array.isArray(body.filters) ? [{ filters: body.filters }] : []);
  if (!Array.isArray(groups)) throw invalidInput('Invalid input JSON: filterGroups is not a list');
  if (groups.length > MAX_GROUPS) throw invalidInput(`at most ${MAX_GROUPS} filterGroups are allowed`);
  const filters = groups.map((group: { filters?: unknown }) => {
    if (!Array.isArray(group.filters)) throw invalidInput('Some required fields were not set: [filters]');
    if (group.filters.length > MAX_FILTERS_IN_GROUP) {
      throw invalidInput(`at most ${MAX_FILTERS_IN_GROUP} filters are allowed in a group`);
    }
    return group.filters as Filter[];
  });
  if (filters.flat().length > MAX_FILTERS) throw invalidInput(`at most ${MAX_FILTERS} filters are allowed`);
  for (const filter of filters.flat()) checkFilter(type, filter);
  return filters;
}

function checkFilter(type: ObjectType, { propertyName, operator, value, values }: Filter): void {
  const definition = type.properties.get(String(propertyName));
  if (definition === undefined)
    throw invalidInput(`There was a problem with the request: ${String(propertyName)} does not exist`);
  switch (operator) {
    case 'HAS_PROPERTY':
    case 'NOT_HAS_PROPERTY':
      return;
    case 'IN':
    case 'NOT_IN':
      if (!Array.isArray(values) || values.length === 0 || values.length > MAX_VALUES) {
        throw invalidInput(`${operator} needs 1 to ${MAX_VALUES} values`);
      }
      // Documented: with IN, values of text properties must be in lower case.
      if (definition.type === 'string' && values.some((each) => String(each) !== String(each).toLowerCase())) {
        throw invalidInput(`${operator} on a string property needs values in lower case`);
      }
      return;
    case 'EQ':
    case 'NEQ':
    case 'LT':
    case 'LTE':
    case 'GT':
    case 'GTE':
    case 'BETWEEN':
    case 'CONTAINS_TOKEN':
    case 'NOT_CONTAINS_TOKEN':
      if (typeof value !== 'string' && typeof value !== 'number') throw invalidInput(`${operator} needs a value`);
      return;
    default:
      throw invalidInput(`operator is not one of the known ones`);
  }
}

function fits(record: CrmRecord, filter: Filter): boolean {
  const name = String(filter.propertyName);
  const own = systemValues(record)[name] ?? record.values.get(name);
  if (filter.operator === 'HAS_PROPERTY') return own !== undefined;
  if (filter.operator === 'NOT_HAS_PROPERTY') return own === undefined;
  const negative =
    filter.operator === 'NEQ' || filter.operator === 'NOT_IN' || filter.operator === 'NOT_CONTAINS_TOKEN';
  if (own === undefined) return negative;
  const text = own.toLowerCase();
  const wanted = String(filter.value).toLowerCase();
  switch (filter.operator) {
    case 'EQ':
    case 'NEQ':
      return (text === wanted || alsoEmail(record, name, wanted)) !== negative;
    case 'IN':
    case 'NOT_IN':
      return (filter.values as unknown[]).some((each) => String(each).toLowerCase() === text) !== negative;
    case 'CONTAINS_TOKEN':
    case 'NOT_CONTAINS_TOKEN':
      return text.split(/[^\p{L}\p{N}]+/u).includes(wanted.replaceAll('*', '')) !== negative;
    case 'BETWEEN':
      return compare(own, filter.value) >= 0 && compare(own, filter.highValue) <= 0;
    case 'LT':
      return compare(own, filter.value) < 0;
    case 'LTE':
      return compare(own, filter.value) <= 0;
    case 'GT':
      return compare(own, filter.value) > 0;
    default:
      return compare(own, filter.value) >= 0;
  }
}

/** A contact is found by its additional e-mails too. */
function alsoEmail(record: CrmRecord, name: string, wanted: string): boolean {
  return (
    name === 'email' && (record.values.get('hs_additional_emails') ?? '').toLowerCase().split(';').includes(wanted)
  );
}

/** As numbers or instants where both are, else as texts. */
function compare(left: string, right: unknown): number {
  const [a, b] = [left, String(right)].map((value) =>
    /^-?\d+(\.\d+)?$/.test(value) ? Number(value) : Date.parse(value),
  );
  if (Number.isNaN(a) || Number.isNaN(b)) return left.localeCompare(String(right));
  return a! - b!;
}

function wholeNumber(value: unknown, field: string): number {
  const number = Number(value);
  if (!Number.isInteger(number) || number < 0) throw invalidInput(`${field} must be a whole number`);
  return number;
}
