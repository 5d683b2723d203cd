import { randomUUID } from 'node:crypto';
import type { DoubleAnswer, DoubleRequest } from '../serve/double-request.js';
import { anything, type RequestRule } from '../serve/request-rules.js';
import { type RunningDouble, serveDouble, type ServeOptions } from '../serve/serve-double.js';
import { clientCredentialsRule, TokenEndpoint } from '../serve/token-endpoint.js';

interface DynamicsOptions extends ServeOptions {
  /** Maximum number of characters of each column that requests may set. */
  readonly maxLengths?: Readonly<Record<string, number>>;
}

/**
 * A new environment. Its duplicate detection rules for contacts are published. They apply only to requests with
 * `MSCRM.SuppressDuplicateDetection: false`, a header that the rules below do not allow.
 */
export const freshAccount = {
  maxLengths: { firstname: 50, lastname: 50, emailaddress1: 100, acme_lastevent: 100 },
} as const satisfies Omit<DynamicsOptions, keyof ServeOptions>;

export type Contact = Readonly<Record<string, string | null>> & { readonly contactid: string };

export interface DynamicsDouble extends RunningDouble {
  readonly contacts: Map<string, Contact>;
}

const odata = ['authorization', 'odata-version', 'odata-maxversion'];
const rules: readonly RequestRule[] = [
  clientCredentialsRule(/\/oauth2\/v2\.0\/token$/),
  { method: 'GET', path: /\/WhoAmI$/, headers: odata },
  { method: 'GET', path: /\/contacts$/, headers: odata, query: ['$select', '$top', '$orderby', '$filter'] },
  { method: 'POST', path: /\/contacts$/, headers: [...odata, 'prefer'], json: anything },
  { method: 'PATCH', path: /\/contacts\(.+\)$/, headers: [...odata, 'if-match'], json: anything },
  { method: 'DELETE', path: /\/contacts\(.+\)$/, headers: odata },
];

/**
 * Starts the contacts of a Dataverse environment, and the token endpoint of its tenant. Filters support only `eq`. The
 * environment starts with one contact. Sources: sinks/http/README.md, "Dynamics 365".
 */
export async function startDynamicsDouble(options: DynamicsOptions = {}): Promise<DynamicsDouble> {
  const { maxLengths }: { readonly maxLengths: Readonly<Record<string, number>> } = { ...freshAccount, ...options };
  const tokens = new TokenEndpoint({
    id: '11111111-2222-3333-4444-555555555555',
    secret: 'dynamics-secret',
    scope: 'https://acme.crm4.dynamics.com/.default',
  });
  const contacts = new Map<string, Contact>();
  const add = (fields: Record<string, string | null>): Contact => {
    const contact = { firstname: null, acme_lastevent: null, ...fields, contactid: randomUUID() };
    contacts.set(contact.contactid, contact);
    return contact;
  };
  add({
    firstname: 'Bob',
    lastname: "O'Customer",
    emailaddress1: "bob.o'c@example.com",
    acme_lastevent: 'Summit 2025',
  });

  const answer = (request: DoubleRequest): DoubleAnswer => {
    const { method, path, headers, query } = request;
    if (path.endsWith('/oauth2/v2.0/token')) return method === 'POST' ? tokens.answer(request) : failure(405, 'post');
    if (!tokens.accepts(request)) return failure(401, '0x80040217');
    const rest = /^\/api\/data\/v9\.2(\/.*)$/.exec(path)?.[1];
    if (rest === undefined) return failure(404, '0x8006088a');
    if (headers['odata-version'] !== '4.0' || headers['odata-maxversion'] !== '4.0') return failure(412, '0x80060888');
    if (rest === '/WhoAmI' && method === 'GET') return { status: 200, json: { UserId: randomUUID() } };
    if (rest === '/contacts' && method === 'GET') return find(query);
    if (rest === '/contacts' && method === 'POST') {
      const body = fieldsOf(request, maxLengths);
      if (typeof body === 'string') return failure(400, body);
      if (!body['lastname']) return failure(400, '0x80060888');
      const contact = add(body);
      return headers['prefer'] === 'return=representation' ? { status: 201, json: contact } : { status: 204 };
    }
    const id = /^\/contacts\(([0-9a-f-]{36})\)$/.exec(rest)?.[1];
    if (id === undefined) return failure(404, '0x8006088a');
    const contact = contacts.get(id);
    if (method === 'DELETE') return contacts.delete(id) ? { status: 204 } : failure(404, '0x80040217');
    if (method !== 'PATCH') return failure(405, '0x80060888');
    if (headers['if-match'] !== '*') return failure(400, 'an upsert would create a contact'); // stricter than Dataverse
    const body = fieldsOf(request, maxLengths);
    if (typeof body === 'string') return failure(400, body);
    if (contact === undefined) return failure(404, '0x80040217');
    contacts.set(id, { ...contact, ...body });
    return { status: 204 };
  };

  function find(query: URLSearchParams): DoubleAnswer {
    const value = /^emailaddress1 eq '((?:[^']|'')*)'$/.exec(query.get('$filter') ?? '')?.[1]?.replaceAll("''", "'");
    if (value === undefined || query.get('$select') !== 'contactid') return failure(400, '0x80060888');
    const found = [...contacts.values()].filter(
      ({ emailaddress1: email }) => email?.toLowerCase() === value.toLowerCase(),
    );
    return { status: 200, json: { value: found.map(({ contactid }) => ({ contactid })) } };
  }

  const double = await serveDouble({ answer, state: () => [...contacts.values()], rules }, options);
  return { ...double, contacts };
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
