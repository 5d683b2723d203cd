import type { DoubleAnswer, DoubleRequest } from '../serve/double-request.js';
import { RollingLimit } from '../serve/call-limit.js';
import { anything, type RequestRule } from '../serve/request-rules.js';
import { type RunningDouble, serveDouble, type ServeOptions } from '../serve/serve-double.js';

interface PipedriveOptions extends ServeOptions {
  /** Number of requests that a token may make in 2 seconds. */
  readonly per2s?: number;
  /** Number of these requests that may be searches. */
  readonly searchesPer2s?: number;
}

/** A new company on the smallest plan. */
export const freshAccount = { per2s: 20, searchesPer2s: 10 } as const satisfies Omit<
  PipedriveOptions,
  keyof ServeOptions
>;

export interface Person {
  readonly id: number;
  name: string;
  emails: readonly { readonly value: string; readonly primary: boolean; readonly label: string }[];
  custom_fields: Readonly<Record<string, unknown>>;
}

export interface PipedriveDouble extends RunningDouble {
  readonly persons: Map<number, Person>;
}

export const eventField = '8f2cbb1e1aa4f6f4f9d3f6a8c7a1de2345bc6789';
const token = 'pipedrive-token';

const auth = ['x-api-token'];
const fields = {
  name: anything,
  emails: [{ value: anything, primary: anything, label: anything }],
  custom_fields: anything,
} as const;
const rules: readonly RequestRule[] = [
  { method: 'GET', path: /\/persons$/, headers: auth, query: ['limit'] },
  { method: 'GET', path: /\/persons\/search$/, headers: auth, query: ['term', 'fields', 'exact_match', 'limit'] },
  { method: 'POST', path: /\/persons$/, headers: auth, json: fields },
  { method: 'PATCH', path: /\/persons\/\d+$/, headers: auth, json: fields },
  { method: 'DELETE', path: /\/persons\/\d+$/, headers: auth },
];

/**
 * Starts the persons resource of a Pipedrive company, API version 2. Accepts the token only as a header, and only
 * fields that exist. The company starts with one person. Sources: sinks/http/README.md, "Pipedrive".
 */
export async function startPipedriveDouble(options: PipedriveOptions = {}): Promise<PipedriveDouble> {
  const { per2s, searchesPer2s } = { ...freshAccount, ...options };
  const limit = new RollingLimit(per2s, 2000);
  const searchLimit = new RollingLimit(searchesPer2s, 2000);
  const persons = new Map<number, Person>();
  let lastId = 0; // of deleted persons too, because Pipedrive never uses an id again
  const add = (name: string, email: string, fields: Person['custom_fields'] = {}): Person => {
    lastId += 1;
    const person = {
      id: lastId,
      name,
      emails: [{ value: email, primary: true, label: 'work' }],
      custom_fields: { [eventField]: null, ...fields },
    };
    persons.set(person.id, person);
    return person;
  };
  add('Bob B. Customer', 'bob@example.com', { [eventField]: 'Summit 2025' });

  const answer = (request: DoubleRequest): DoubleAnswer => {
    const isSearch = request.path.endsWith('/search');
    if (!limit.take(request.atMs) || (isSearch && !searchLimit.take(request.atMs))) return failure(429);
    if (request.query.has('api_token') || request.headers['x-api-token'] !== token) return failure(401);
    const [, id] = /^\/api\/v2\/persons\/(\d+)$/.exec(request.path) ?? [];
    if (request.method === 'GET') return read(request);
    if (request.method === 'DELETE' && id !== undefined)
      return persons.delete(Number(id)) ? success({ id: Number(id) }) : failure(404);
    const body = parsed(request);
    if (body === undefined || !areFields(body)) return failure(400);
    if (request.method === 'POST' && request.path === '/api/v2/persons') {
      const [email] = (body.emails ?? []) as Person['emails'];
      if (typeof body.name !== 'string' || body.name === '' || email === undefined) return failure(400);
      return { ...success(add(body.name, email.value, body.custom_fields)), status: 201 };
    }
    const person = persons.get(Number(id));
    if (request.method !== 'PATCH' || id === undefined) return failure(405);
    if (person === undefined) return failure(404);
    Object.assign(person, body, { custom_fields: { ...person.custom_fields, ...body.custom_fields } });
    return success(person);
  };

  function read({ path, query }: DoubleRequest): DoubleAnswer {
    if (path === '/api/v2/persons') return success([...persons.values()].slice(0, Number(query.get('limit') ?? 100)));
    if (path !== '/api/v2/persons/search' || query.get('fields') !== 'email' || query.get('exact_match') !== 'true')
      return failure(400);
    const term = (query.get('term') ?? '').toLowerCase();
    if (term === '') return failure(400);
    const found = [...persons.values()].filter(({ emails }) =>
      emails.some(({ value }) => value.toLowerCase() === term),
    );
    return success({ items: found.map((item) => ({ result_score: 1, item })) });
  }

  const double = await serveDouble({ answer, state: () => [...persons.values()], rules }, options);
  return { ...double, persons };
}

/** Checks names and types. Version 2 names custom fields by hashes and keeps them in `custom_fields`. */
function areFields(body: Partial<Person>): boolean {
  const isKnown = Object.keys(body).every((name) => ['name', 'emails', 'custom_fields'].includes(name));
  const custom = Object.entries(body.custom_fields ?? {});
  return (
    isKnown && custom.every(([name, value]) => name === eventField && (value === null || typeof value === 'string'))
  );
}

function parsed({ headers, body }: DoubleRequest): Partial<Person> | undefined {
  if (headers['content-type'] !== 'application/json') return undefined;
  return JSON.parse(body) as Partial<Person>;
}

function success(data: unknown): DoubleAnswer {
  return { status: 200, json: { success: true, data, additional_data: null } };
}

function failure(status: number): DoubleAnswer {
  return { status, json: { success: false, error: 'refused', error_info: '', data: null, additional_data: null } };
}
