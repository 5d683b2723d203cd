import { apiSources, emptyLedger, localToken } from './api-sources.test-kit.js';
import { type ApiServer, startApi } from './start-api.js';

let api: ApiServer;
let document: Json;
beforeAll(async () => {
  api = await startApi({ host: '127.0.0.1', port: 0 });
  api.serve(apiSources({ ledger: emptyLedger() }));
  document = (await (await ask('/openapi.json')).json()) as Json;
});
afterAll(() => api.close());

type Json = { readonly [name: string]: unknown };

const ask = (path: string, more: RequestInit = {}) =>
  fetch(`${api.url}${path}`, { headers: { authorization: `Bearer ${localToken}` }, ...more });

/** Checks the part of JSON Schema that the description uses for what depends on other values. */
function isDescribed(value: unknown, schema: Json): boolean {
  if ('$ref' in schema) return isDescribed(value, named(String(schema['$ref'])));
  const { not, anyOf, required, properties, minLength, maxLength, pattern, enum: values } = schema;
  if (not !== undefined && isDescribed(value, not as Json)) return false;
  if (anyOf !== undefined && !(anyOf as Json[]).some((each) => isDescribed(value, each))) return false;
  if (Array.isArray(values) && !values.includes(value)) return false;
  if (typeof value === 'string') {
    if (typeof minLength === 'number' && value.length < minLength) return false;
    if (typeof maxLength === 'number' && value.length > maxLength) return false;
    return typeof pattern !== 'string' || new RegExp(pattern, 'u').test(value);
  }
  if (typeof value !== 'object' || value === null) return true;
  const fields = value as Json;
  if (Array.isArray(required) && !required.every((name) => String(name) in fields)) return false;
  return Object.entries((properties ?? {}) as Record<string, Json>).every(
    ([name, each]) => !(name in fields) || isDescribed(fields[name], each),
  );
}

function named(reference: string): Json {
  let found: unknown = document;
  for (const part of reference.split('/').slice(1)) found = (found as Json)[part];
  return found as Json;
}

const operation = (method: string, path: string) =>
  ((document['paths'] as Json)[path] as Record<string, Json>)[method]!;
const bodySchema = (path: string, type = 'application/json') =>
  ((operation('post', path)['requestBody'] as { content: Record<string, { schema: Json }> }).content[type] ?? never())
    .schema;
const querySchema = (method: string, path: string, name: string) =>
  (operation(method, path)['parameters'] as { name: string; schema: Json }[]).find((each) => each.name === name)!
    .schema;

function never(): never {
  throw new Error('the description has no such body');
}

const pause = { do: 'pause', kind: 'sink', name: 'hooks' };

describe('the description of the API', () => {
  it.each([
    ['/api/actions', { ...pause, do: 'approve', kind: 'workspace' }],
    ['/api/actions', { ...pause, do: 'try-now', kind: 'pigeonhole', name: 'acme/101' }],
    ['/api/actions', { ...pause, do: 'poll-now' }],
    ['/api/actions', { ...pause, do: 'sweep' }],
    ['/api/actions', { ...pause, forSeconds: 60 }],
    ['/api/actions', { ...pause, do: 'poll-now', kind: 'workspace', name: 'acme', forSeconds: 60 }],
    ['/api/persons/export', { attendee: ' ' }],
    ['/api/persons/export', { attendee: `${'x'.repeat(400)} ` }],
  ])('refuses what the code refuses: POST %s %j', async (path, body) => {
    expect(isDescribed(body, bodySchema(path))).toBe(false);
    const headers = { authorization: `Bearer ${localToken}`, 'content-type': 'application/json' };
    expect((await ask(path, { method: 'POST', headers, body: JSON.stringify(body) })).status).toBe(400);
  });

  it.each(['/api/audit', '/api/imports', '/api/erasures', '/api/pigeonholes'])(
    'refuses a cursor that no list returns: GET %s',
    async (path) => {
      const schema = querySchema('get', path, 'after');
      for (const after of ['0', 'next', 'e30', '%00']) {
        expect(isDescribed(after, schema)).toBe(false);
        expect((await ask(`${path}?after=${encodeURIComponent(after)}`)).status).toBe(400);
      }
      for (const position of [['a'], [1], [-1, 'b'], ['2026-11-21T09:30:00.000Z', 7]]) {
        expect(isDescribed(Buffer.from(JSON.stringify(position)).toString('base64url'), schema)).toBe(true);
      }
    },
  );

  it('refuses an empty file, and a mapping that is no list', () => {
    expect(isDescribed('', bodySchema('/api/imports', 'application/octet-stream'))).toBe(false);
    expect(isDescribed({ file: '/a.yaml', text: '' }, bodySchema('/api/configuration/plan'))).toBe(false);
    const map = querySchema('post', '/api/imports', 'map');
    expect(['', '0', '{"a":1}', '["Code=attendeeCode"]'].map((text) => isDescribed(text, map))).toEqual([
      false,
      false,
      false,
      true,
    ]);
  });

  it('accepts what the code accepts', () => {
    for (const action of [
      pause,
      { ...pause, do: 'approve' },
      { ...pause, do: 'try-now' },
      { ...pause, do: 'sweep', kind: 'workspace', name: 'acme', list: 'votes' },
      { ...pause, do: 'poll-now', kind: 'pigeonhole', name: 'acme/101', forSeconds: 60 },
    ]) {
      expect(isDescribed(action, bodySchema('/api/actions'))).toBe(true);
    }
  });
});
