import { randomUUID } from 'node:crypto';
import type { DoubleAnswer, DoubleRequest } from '../serve/double-request.js';
import { anything, type RequestRule } from '../serve/request-rules.js';
import { type RunningDouble, serveDouble, type ServeOptions } from '../serve/serve-double.js';
import { clientCredentialsRule, TokenEndpoint } from '../serve/token-endpoint.js';

interface DynamicsOptions extends ServeOptions {
  /** Maximum number of characters of each column that requests may set. */
  readonly maxLengths?: Readonly<Record<string, number>>;
  /** The clock of the environment, Unix time in ms. */
  readonly now?: () => number;
}

/**
 * A new environment. Its duplicate detection rules for contacts are published. They apply only to requests with
 * `MSCRM.SuppressDuplicateDetection: false`, a header that the rules below do not allow.
 */
export const freshAccount = {
  maxLengths: { firstname: 50, lastname: 50, emailaddress1: 100, jobtitle: 100, acme_lastevent: 100 },
} as const satisfies Omit<DynamicsOptions, keyof ServeOptions | 'now'>;

export type Contact = Readonly<Record<string, string | null>> & { readonly contactid: string };

export interface DynamicsDouble extends RunningDouble {
  readonly contacts: Map<string, Contact>;
  /** Adds a contact as a user does. */
  add(fields: Readonly<Record<string, string>>): Contact;
  /** Changes a contact as a user does. */
  change(id: string, fields: Readonly<Record<string, string>>): void;
  /** Merges a contact into another one. The first stays, deactivated, and names the other. */
  merge(id: string, into: string): void;
}

const odata = ['authorization', 'odata-version', 'odata-maxversion'];
const rules: readonly RequestRule[] = [
  clientCredentialsRule(/\/oauth2\/v2\.0\/token$/),
  { method: 'GET', path: /\/WhoAmI$/, headers: odata },
  { method: 'GET', path: /\/contacts$/, headers: odata, query: ['$select', '$top', '$orderby', '$filter'] },
  { method: 'PATCH', path: /\/contacts\(.+\)$/, headers: [...odata, 'if-match', 'if-none-match'], json: anything },
  { method: 'DELETE', path: /\/contacts\(.+\)$/, headers: odata },
];

const ownColumns = ['contactid', 'createdon', 'modifiedon', '_modifiedby_value', '_masterid_value'];
/** The ids of the application user, whose changes come over the Web API, and of a colleague. */
const APPLICATION = '00000000-aaaa-4000-8000-000000000001';
export const COLLEAGUE = '00000000-bbbb-4000-8000-000000000002';
const guid = '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}';

/**
 * Starts the contacts of a Dataverse environment, and the token endpoint of its tenant. Filters support only `eq` and
 * `or`. Sources: sinks/dynamics/README.md.
 */
export async function startDynamicsDouble(options: DynamicsOptions = {}): Promise<DynamicsDouble> {
  const { maxLengths }: { readonly maxLengths: Readonly<Record<string, number>> } = { ...freshAccount, ...options };
  const now = options.now ?? Date.now;
  const contacts = new Map<string, Contact>();
  let tokens: TokenEndpoint | undefined;
  const emptyRow = Object.fromEntries(Object.keys(maxLengths).map((name) => [name, null]));

  const store = (id: string, fields: Readonly<Record<string, string | null>>, by = COLLEAGUE): Contact => {
    const at = new Date(now()).toISOString().replace(/\.\d+/, '');
    const before = contacts.get(id) ?? { ...emptyRow, createdon: at, _masterid_value: null };
    const contact = { ...before, ...fields, contactid: id, modifiedon: at, _modifiedby_value: by };
    contacts.set(id, contact);
    return contact;
  };

  const answer = (request: DoubleRequest): DoubleAnswer => {
    const { method, path, headers } = request;
    // The scope names the environment, whose address is known once the double listens.
    const scope = `http://${headers['host']}/.default`;
    tokens ??= new TokenEndpoint({ id: '11111111-2222-3333-4444-555555555555', secret: 'dynamics-secret', scope });
    if (path.endsWith('/oauth2/v2.0/token')) return method === 'POST' ? tokens.answer(request) : failure(405, 'post');
    if (!tokens.accepts(request)) return failure(401, '0x80040217');
    const rest = /^\/api\/data\/v9\.2(\/.*)$/.exec(path)?.[1];
    if (rest === undefined) return failure(404, '0x8006088a');
    if (headers['odata-version'] !== '4.0' || headers['odata-maxversion'] !== '4.0') return failure(412, '0x80060888');
    if (rest === '/WhoAmI' && method === 'GET') return { status: 200, json: { UserId: randomUUID() } };
    if (rest === '/contacts' && method === 'GET') return find(request.query);
    const id = new RegExp(`^/contacts\\((${guid})\\)$`).exec(rest)?.[1];
    if (id === undefined) return failure(404, '0x8006088a');
    if (method === 'DELETE') return contacts.delete(id) ? { status: 204 } : failure(404, '0x80040217');
    return method === 'PATCH' ? save(id, request) : failure(405, '0x80060888');
  };

  /** Without either header, Dataverse would update or create. The double refuses that, because a repeat could create. */
  function save(id: string, request: DoubleRequest): DoubleAnswer {
    const { 'if-match': match, 'if-none-match': noneMatch } = request.headers;
    if ((match === '*') === (noneMatch === '*')) return failure(400, 'name one of the two headers');
    const body = fieldsOf(request, maxLengths);
    if (typeof body === 'string') return failure(400, body);
    if (noneMatch === '*' && contacts.has(id)) return failure(412, '0x80060882');
    if (match === '*' && !contacts.has(id)) return failure(404, '0x80040217');
    if (noneMatch === '*' && !body['lastname']) return failure(400, '0x80040203'); // an update may clear it
    store(id, body, APPLICATION);
    return { status: 204, headers: { 'odata-entityid': `contacts(${id})` } };
  }

  function find(query: URLSearchParams): DoubleAnswer {
    const select = query.get('$select')?.split(',') ?? [];
    const known = new Set([...ownColumns, ...Object.keys(maxLengths)]);
    if (select.length === 0 || select.some((name) => !known.has(name))) return failure(400, '0x80060888');
    if (query.has('$orderby') && query.get('$orderby') !== 'createdon') return failure(400, '0x80060888');
    const matches = matcherOf(query.get('$filter'), known);
    if (matches === undefined) return failure(400, '0x8006088a');
    const rows = [...contacts.values()].filter(matches).slice(0, Number(query.get('$top') ?? 5000));
    return {
      status: 200,
      json: { value: rows.map((row) => Object.fromEntries(select.map((name) => [name, row[name] ?? null]))) },
    };
  }

  const dated = (request: DoubleRequest): DoubleAnswer => {
    const { headers, ...rest } = answer(request);
    return { ...rest, headers: { date: new Date(now()).toUTCString(), ...headers } };
  };

  const double = await serveDouble({ answer: dated, state: () => [...contacts.values()], rules }, options);
  return {
    ...double,
    contacts,
    add: (fields) => store(randomUUID(), fields),
    change: (id, fields) => void store(id, fields),
    merge: (id, into) => void store(id, { _masterid_value: into }),
  };
}

type Matches = (row: Contact) => boolean;

/** Parses `a eq 'x' or b eq 'y'`, in which ids are not quoted. @returns undefined for anything else */
function matcherOf(filter: string | null, known: ReadonlySet<string>): Matches | undefined {
  if (filter === null) return () => true;
  const wanted: [column: string, value: string][] = [];
  const term = new RegExp(`(\\w+) eq (?:'((?:[^']|'')*)'|(${guid}))(?: or (?=\\w)|$)`, 'y');
  while (term.lastIndex < filter.length) {
    const [, column, text, id] = term.exec(filter) ?? [];
    if (column === undefined || !known.has(column) || (id !== undefined) !== (column === 'contactid')) return undefined;
    wanted.push([column, (id ?? text!).replaceAll("''", "'").toLowerCase()]);
  }
  return (row) => wanted.some(([column, value]) => row[column]?.toLowerCase() === value);
}

/** @returns the fields of the body, or an error code if a column is unknown, not text, or too long */
function fieldsOf(
  { headers, body }: DoubleRequest,
  maxLengths: Readonly<Record<string, number>>,
): Record<string, string | null> | string {
  if (headers['content-type'] !== 'application/json') return '0x80060888';
  const found = Object.entries(JSON.parse(body) as Record<string, unknown>);
  const isKnown = found.every(
    ([name, value]) => maxLengths[name] !== undefined && (value === null || typeof value === 'string'),
  );
  if (!isKnown) return '0x80048d19';
  const fields = Object.fromEntries(found) as Record<string, string | null>;
  const isTooLong = Object.entries(fields).some(([name, value]) => (value ?? '').length > maxLengths[name]!);
  return isTooLong ? '0x80044331' : fields;
}

function failure(status: number, code: string): DoubleAnswer {
  return { status, json: { error: { code, message: 'refused' } } };
}
