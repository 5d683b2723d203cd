import { SalesforceRefusal, type Call, type Route, notFound } from './call.js';
import type { Org, OrgRecord } from './org.js';
import { normalisedId } from './read-values.js';
import { type FieldDefinition, fieldNamed, type SObjectType, typeNamed } from './sobject-type.js';
import type { DoubleAnswer } from '../serve/double-request.js';

/** Documented: maximum number of characters in a query. */
const MAX_QUERY_CHARACTERS = 100_000;

/** Routes for queries and their pages. */
export const queryRoutes: readonly Route[] = [
  { method: 'GET', path: /^\/query$/, answer: (call) => page(call, call.request.query.get('q') ?? '', 0) },
  { method: 'GET', path: /^\/queryAll$/, answer: (call) => page(call, call.request.query.get('q') ?? '', 0, true) },
  { method: 'GET', path: /^\/query\/([^/]+)$/, answer: nextPage },
];

/** @param withDeleted whether the query also finds records in the recycle bin (`queryAll`) */
function page(call: Call, soql: string, from: number, withDeleted = false): DoubleAnswer {
  if (soql.length > MAX_QUERY_CHARACTERS) throw new SalesforceRefusal('QUERY_TOO_COMPLICATED', 'the query is too long');
  const query = parseQuery(soql);
  if ([...call.org.withheldObjects].some((name) => name.toLowerCase() === query.from.toLowerCase())) {
    throw new SalesforceRefusal('INVALID_TYPE', `sObject type '${query.from}' is not supported.`);
  }
  const found = runQuery(call.org.org, query, withDeleted);
  const until = from + call.org.queryPage;
  return {
    status: 200,
    json: {
      totalSize: found.length,
      done: until >= found.length,
      ...(until < found.length && {
        nextRecordsUrl: `/services/data/${call.version}/query/${locator(soql, until, withDeleted)}`,
      }),
      records: found.slice(from, until).map((record) => selected(record, query.fields, call.version)),
    },
  };
}

/** Encodes the query in its locator, so that the server needs no state. */
function locator(soql: string, from: number, withDeleted: boolean): string {
  return `${Buffer.from(soql).toString('base64url')}-${withDeleted ? 'all' : ''}${from}`;
}

function nextPage(call: Call): DoubleAnswer {
  const [, query, all, from] = /^(.+)-(all)?(\d+)$/.exec(call.parts[0]!) ?? [];
  if (query === undefined) throw notFound();
  return page(call, Buffer.from(query, 'base64url').toString('utf8'), Number(from), all !== undefined);
}

type Literal = string | number | boolean | null;

/**
 * `SELECT fields FROM object [WHERE field = literal AND field IN (literals) …] [ORDER BY CreatedDate DESC] [LIMIT n]`. No other
 * SOQL is supported.
 */
interface Query {
  readonly fields: readonly string[];
  readonly from: string;
  /** All conditions must be true. `=` is a condition with one value. */
  readonly where: readonly { readonly field: string; readonly values: readonly Literal[] }[];
  /** Records are kept in the order of their creation. */
  readonly newestFirst: boolean;
  /** Null: all. */
  readonly limit: number | null;
}

interface Token {
  readonly kind: 'word' | 'text' | 'number' | 'sign';
  /** A text without quotes and escapes. */
  readonly value: string;
  /** Counts from 1. */
  readonly column: number;
}

/** Characters after a backslash in a text. Documented: "Quoted String Escape Sequences". */
const ESCAPES: Readonly<Record<string, string>> = {
  n: '\n',
  r: '\r',
  t: '\t',
  b: '\b',
  f: '\f',
  '"': '"',
  "'": "'",
  '\\': '\\',
};

/** Parses a query. @throws {SalesforceRefusal} MALFORMED_QUERY with the column, for any other syntax */
function parseQuery(soql: string): Query {
  const tokens = readTokens(soql);
  let at = 0;
  const unexpected = (): SalesforceRefusal => {
    const token = tokens[at];
    return malformed(token?.column ?? soql.length + 1, `unexpected token: '${token?.value ?? '<EOF>'}'`);
  };
  const take = (kind: Token['kind'], value?: string): string => {
    const token = tokens[at];
    const fits = token?.kind === kind && (value === undefined || token.value.toUpperCase() === value);
    if (!fits) throw unexpected();
    at += 1;
    return token.value;
  };
  const accept = (kind: Token['kind'], value: string): boolean => {
    const isNext = tokens[at]?.kind === kind && tokens[at]!.value.toUpperCase() === value;
    if (isNext) at += 1;
    return isNext;
  };
  const list = <Entry>(entry: () => Entry): Entry[] => {
    const entries = [entry()];
    while (accept('sign', ',')) entries.push(entry());
    return entries;
  };
  const literal = (): Literal => {
    const { kind, value } = tokens[at] ?? { kind: 'sign', value: '' };
    if (kind === 'text') return take('text');
    if (kind === 'number') return Number(take('number'));
    const constants: Readonly<Record<string, Literal>> = { true: true, false: false, null: null };
    const constant = kind === 'word' ? constants[value.toLowerCase()] : undefined;
    if (constant === undefined) throw unexpected();
    at += 1;
    return constant;
  };
  const condition = (): Query['where'][number] => {
    const field = take('word');
    if (accept('sign', '=')) return { field, values: [literal()] };
    take('word', 'IN');
    take('sign', '(');
    const values = list(literal);
    take('sign', ')');
    return { field, values };
  };

  take('word', 'SELECT');
  const fields = list(() => take('word'));
  take('word', 'FROM');
  const from = take('word');
  const where = accept('word', 'WHERE') ? [condition()] : [];
  while (where.length > 0 && accept('word', 'AND')) where.push(condition());
  const newestFirst = accept('word', 'ORDER');
  if (newestFirst) for (const word of ['BY', 'CREATEDDATE', 'DESC']) take('word', word);
  const limit = accept('word', 'LIMIT') ? Number(take('number')) : null;
  if (at < tokens.length) throw unexpected();
  return { fields, from, where, newestFirst, limit };
}

/** @throws {SalesforceRefusal} MALFORMED_QUERY for an unterminated text, an unknown escape or an invalid character */
function readTokens(soql: string): Token[] {
  const tokens: Token[] = [];
  let at = 0;
  while (at < soql.length) {
    const rest = soql.slice(at);
    const column = at + 1;
    if (rest.startsWith("'")) {
      const text = readText(rest, column);
      tokens.push({ kind: 'text', value: text.value, column });
      at += text.length;
      continue;
    }
    const [all, word, number, sign] = /^(?:\s+|([a-z_]\w*)|([+-]?\d+(?:\.\d+)?)|([=(),]))/i.exec(rest) ?? [];
    if (all === undefined) throw malformed(column, `unexpected token: '${rest[0]}'`);
    if (word !== undefined) tokens.push({ kind: 'word', value: word, column });
    if (number !== undefined) tokens.push({ kind: 'number', value: number, column });
    if (sign !== undefined) tokens.push({ kind: 'sign', value: sign, column });
    at += all.length;
  }
  return tokens;
}

function readText(rest: string, column: number): { value: string; length: number } {
  let value = '';
  for (let at = 1; at < rest.length; at += 1) {
    const character = rest[at]!;
    if (character === "'") return { value, length: at + 1 };
    if (character === '\n' || character === '\r') break;
    if (character !== '\\') {
      value += character;
      continue;
    }
    at += 1;
    const escaped = rest[at] ?? '';
    const meant = ESCAPES[escaped];
    if (meant === undefined) {
      throw malformed(column, `Invalid string literal. Illegal character sequence '\\${escaped}' in string literal.`);
    }
    value += meant;
  }
  throw malformed(column, 'line breaks and the end of the query are not allowed in string literals');
}

function malformed(column: number, problem: string): SalesforceRefusal {
  return new SalesforceRefusal('MALFORMED_QUERY', `ERROR at Row:1:Column:${column}\n${problem}`);
}

/** Returns matching records, oldest first. @throws {SalesforceRefusal} for an invalid name or literal */
function runQuery(org: Org, query: Query, withDeleted: boolean): OrgRecord[] {
  const type = typeNamed(org.types, query.from);
  if (type === undefined) {
    throw new SalesforceRefusal('INVALID_TYPE', `sObject type '${query.from}' is not supported.`);
  }
  for (const name of query.fields) column(type, name);
  const conditions = query.where.map(({ field, values }) => {
    const definition = column(type, field);
    const wanted = new Set(values.map((value) => comparable(definition, value)));
    return ({ values: own }: OrgRecord) => wanted.has(comparable(definition, own[definition.name] ?? null));
  });
  const found = org.all(type, { withDeleted }).filter((record) => conditions.every((fits) => fits(record)));
  return (query.newestFirst ? found.toReversed() : found).slice(0, query.limit ?? undefined);
}

/** Returns a record with only the selected fields, as a query does. */
function selected(record: OrgRecord, fields: readonly string[], version: string): unknown {
  const url = `/services/data/${version}/sobjects/${record.type.name}/${record.id}`;
  const values = fields.map((name) => {
    const definition = column(record.type, name);
    return [definition.name, record.values[definition.name] ?? null] as const;
  });
  return { attributes: { type: record.type.name, url }, ...Object.fromEntries(values) };
}

function column(type: SObjectType, name: string): FieldDefinition {
  const definition = fieldNamed(type, name);
  if (definition !== undefined) return definition;
  throw new SalesforceRefusal(
    'INVALID_FIELD',
    `No such column '${name}' on entity '${type.name}'. If you are attempting to use a custom field, be sure to append the '__c' after the custom field name.`,
  );
}

/** @throws {SalesforceRefusal} if the type of a literal does not match the field: only texts have quotes */
function comparable({ type, name }: FieldDefinition, value: Literal): Literal {
  if (value === null) return null;
  const kind = type === 'boolean' ? 'boolean' : type === 'double' || type === 'int' ? 'number' : 'string';
  if (typeof value !== kind) {
    throw new SalesforceRefusal(
      'INVALID_FIELD',
      `value of filter criterion for field '${name}' must be of type ${type}`,
    );
  }
  if (typeof value !== 'string') return value;
  if (type === 'id' || type === 'reference') {
    const id = normalisedId(value);
    if (id === undefined) throw new SalesforceRefusal('INVALID_QUERY_FILTER_OPERATOR', `invalid ID field: ${name}`);
    return id;
  }
  return value.toLowerCase();
}
