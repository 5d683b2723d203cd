import { type FieldDefinition, fieldNamed, typeNamed, type SObjectType } from '../sobject-type.js';
import type { Org, OrgRecord } from '../org.js';
import { normalisedId } from '../read-values.js';
import { SalesforceRefusal } from '../call.js';
import type { Condition, Literal, Query } from './parse-query.js';

/** The live records that fit a query, in its order. @throws {SalesforceRefusal} INVALID_TYPE, INVALID_FIELD, INVALID_QUERY_FILTER_OPERATOR */
export function runQuery(org: Org, query: Query): OrgRecord[] {
  const type = typeNamed(org.types, query.from);
  if (type === undefined) {
    throw new SalesforceRefusal('INVALID_TYPE', `sObject type '${query.from}' is not supported.`);
  }
  for (const name of query.fields) path(org, type, name);
  const fits = query.where === undefined ? () => true : compile(org, type, query.where);
  const found = org.all(type).filter(fits);
  if (query.orderBy !== undefined) {
    const read = path(org, type, query.orderBy.field).read;
    const direction = query.orderBy.descending ? -1 : 1;
    found.sort((a, b) => direction * compare(read(a), read(b)));
  }
  return found.slice(query.offset, query.limit === undefined ? undefined : query.offset + query.limit);
}

/** One record as a query answers it: the selected fields alone, related records nested. */
export function selected(org: Org, record: OrgRecord, fields: readonly string[], version: string): unknown {
  const row = attributed(record, version);
  for (const name of fields) {
    const { steps, read } = path(org, record.type, name);
    let target = row;
    let current: OrgRecord | undefined = record;
    for (const step of steps.slice(0, -1)) {
      const relation: FieldDefinition | undefined = current === undefined ? undefined : relationOf(current.type, step);
      current = current === undefined ? undefined : org.byId(String(current.values[relation!.name] ?? ''));
      const nested =
        current === undefined ? null : ((target[step] as Record<string, unknown>) ?? attributed(current, version));
      target[step] = nested;
      if (nested === null) break;
      target = nested;
    }
    if (steps.length === 1 || current !== undefined) target[steps.at(-1)!] = read(record);
  }
  return row;
}

function attributed(record: OrgRecord, version: string): Record<string, unknown> {
  const url = `/services/data/${version}/sobjects/${record.type.name}/${record.id}`;
  return { attributes: { type: record.type.name, url } };
}

/** Resolves `Lead.Email` from a type on: the canonical names, the last field, and how to read it. */
function path(
  org: Org,
  type: SObjectType,
  name: string,
): { steps: string[]; definition: FieldDefinition; read: (record: OrgRecord) => Literal } {
  const names = name.split('.');
  const steps: string[] = [];
  let at = type;
  for (const step of names.slice(0, -1)) {
    const relation = relationOf(at, step);
    if (relation === undefined) throw noColumn(step, at);
    steps.push(relation.relationshipName!);
    at = org.type(relation.referenceTo[0]!);
  }
  const definition = fieldNamed(at, names.at(-1)!);
  if (definition === undefined) throw noColumn(names.at(-1)!, at);
  const read = (record: OrgRecord): Literal => {
    let current: OrgRecord | undefined = record;
    for (const step of steps) {
      const relation: FieldDefinition = relationOf(current.type, step)!;
      const next: OrgRecord | undefined = org.byId(String(current.values[relation.name] ?? ''));
      if (next === undefined) return null;
      current = next;
    }
    return current.values[definition.name] ?? null;
  };
  return { steps: [...steps, definition.name], definition, read };
}

function relationOf(type: SObjectType, name: string): FieldDefinition | undefined {
  return [...type.fields.values()].find((each) => each.relationshipName?.toLowerCase() === name.toLowerCase());
}

function noColumn(name: string, type: SObjectType): SalesforceRefusal {
  return new SalesforceRefusal(
    'INVALID_FIELD',
    `No such column '${name}' on entity '${type.name}'. If you are attempting to use a custom field, be sure to append the '__c' after the custom field name.`,
  );
}

function compile(org: Org, type: SObjectType, condition: Condition): (record: OrgRecord) => boolean {
  switch (condition.kind) {
    case 'and': {
      const all = condition.all.map((each) => compile(org, type, each));
      return (record) => all.every((fits) => fits(record));
    }
    case 'or': {
      const all = condition.all.map((each) => compile(org, type, each));
      return (record) => all.some((fits) => fits(record));
    }
    case 'not': {
      const one = compile(org, type, condition.one);
      return (record) => !one(record);
    }
    case 'in': {
      const { definition, read } = path(org, type, condition.field);
      const wanted = new Set(condition.values.map((value) => comparable(definition, value)));
      return (record) => wanted.has(comparable(definition, read(record))) !== condition.not;
    }
    default: {
      const { definition, read } = path(org, type, condition.field);
      return comparison(definition, condition.operator, condition.value, read);
    }
  }
}

function comparison(
  definition: FieldDefinition,
  operator: string,
  value: Literal,
  read: (record: OrgRecord) => Literal,
): (record: OrgRecord) => boolean {
  if (operator === 'LIKE') {
    const pattern = likePattern(String(value));
    return (record) => pattern.test(String(read(record) ?? ''));
  }
  const wanted = comparable(definition, value);
  const own = (record: OrgRecord): Literal => comparable(definition, read(record));
  switch (operator) {
    case '=':
      return (record) => own(record) === wanted;
    case '!=':
    case '<>':
      return (record) => own(record) !== wanted;
    case '<':
      return (record) => own(record) !== null && compare(own(record), wanted) < 0;
    case '<=':
      return (record) => own(record) !== null && compare(own(record), wanted) <= 0;
    case '>':
      return (record) => own(record) !== null && compare(own(record), wanted) > 0;
    default:
      return (record) => own(record) !== null && compare(own(record), wanted) >= 0;
  }
}

/** @throws {SalesforceRefusal} where a literal is of another kind than the field: a text needs quotes, a number none */
function comparable(definition: FieldDefinition, value: Literal): Literal {
  if (value === null) return null;
  const { type, name } = definition;
  const literalFits =
    type === 'boolean'
      ? typeof value === 'boolean'
      : type === 'double' || type === 'int'
        ? typeof value === 'number'
        : typeof value === 'string';
  if (!literalFits) {
    throw new SalesforceRefusal(
      'INVALID_FIELD',
      `value of filter criterion for field '${name}' must be of type ${type}`,
    );
  }
  if (typeof value !== 'string') return value;
  if (type === 'id' || type === 'reference') {
    const id = normalisedId(value);
    if (id === undefined) {
      throw new SalesforceRefusal('INVALID_QUERY_FILTER_OPERATOR', `invalid ID field: ${name}`);
    }
    return id;
  }
  if (type === 'datetime') return Date.parse(value);
  return definition.caseSensitive ? value : value.toLowerCase();
}

function compare(a: Literal, b: Literal): number {
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  return String(a ?? '').localeCompare(String(b ?? ''));
}

/** `%` any characters, `_` one, what stands behind a backslash itself; case does not matter. */
function likePattern(pattern: string): RegExp {
  const source = pattern.replaceAll(/\\(.)|[%_]|[.*+?^${}()|[\]]/gsu, (match, escaped: string | undefined) => {
    if (match === '%') return '[^]*';
    if (match === '_') return '[^]';
    return (escaped ?? match).replace(/[.*+?^${}()|[\]\\]/, '\\$&');
  });
  return new RegExp(`^${source}$`, 'iu');
}
