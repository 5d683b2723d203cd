import { request } from 'node:http';
import { callDouble } from './call-double.test-kit.js';
import { anything, type RequestRule } from './request-rules.js';
import { type RunningDouble, serveDouble, type ServeOptions } from './serve-double.js';

const rules: readonly RequestRule[] = [
  { method: 'GET', path: /^\/people$/, query: ['limit'], headers: ['authorization'] },
  {
    method: 'POST',
    path: /^\/people$/,
    headers: ['authorization', /^x-meta-/],
    json: { people: [{ name: anything, more: anything }] },
  },
  { method: 'POST', path: /^\/token$/, form: ['grant_type', /^scope\[\d\]$/] },
];

let double: RunningDouble;
const start = async (options: ServeOptions = {}): Promise<void> => {
  double = await serveDouble({ answer: () => ({ status: 204 }), state: () => [], rules }, options);
};

const form = { method: 'POST', headers: { 'content-type': 'application/x-www-form-urlencoded' } };
const nameless = { people: [{ name: 'Ann' }] };

describe('a double with rules', () => {
  beforeEach(() => start({ onViolation: 'record' }));
  afterEach(() => double.close());

  it.each<[string, string, Parameters<typeof callDouble>[1]]>([
    ['known query parameters', '/people?limit=1', { token: 't0ken' }],
    ['known keys, and any below a mapped one', '/people', { body: { people: [{ name: 'A', more: { any: [1] } }] } }],
    ['a known family of headers', '/people', { body: nameless, headers: { 'x-meta-id': '7' } }],
    ['a path without a rule', '/elsewhere?limit=1', { method: 'DELETE' }],
  ])('finds nothing wrong with %s', async (_, path, sent) => {
    await callDouble(`${double.url}${path}`, sent);
    expect(double.violations).toEqual([]);
  });

  it.each<[string, string, Parameters<typeof callDouble>[1], string]>([
    ['a query parameter', '/people?limit=1&api_key=s3cret', {}, 'GET /people: query parameter api_key'],
    ['a header', '/people', { headers: { 'x-other': 's3cret' } }, 'GET /people: header x-other'],
    ['a key', '/people', { body: { ...nameless, all: 's3cret' } }, 'POST /people: key body.all'],
    [
      'a key of an entry of a list',
      '/people',
      { body: { people: [{ name: 'A' }, { password: 's3cret' }] } },
      'POST /people: key body.people[].password',
    ],
    ['an object instead of a list', '/people', { body: { people: {} } }, 'POST /people: body.people: no list'],
    [
      'a content type',
      '/people',
      { body: nameless, headers: { 'content-type': 'text/plain' } },
      'POST /people: content type text/plain',
    ],
    [
      'a credential in the address',
      '/people?limit=s3cret',
      { token: 's3cret' },
      'GET /people: credential in the address',
    ],
  ])('records %s that must not be sent, without its value', async (_, path, sent, violation) => {
    await callDouble(`${double.url}${path}`, sent);
    expect(double.violations).toEqual([violation]);
    expect(double.violations.join()).not.toContain('s3cret');
  });

  it('records a parameter of a form', async () => {
    await fetch(`${double.url}/token`, { ...form, body: 'grant_type=x&scope[0]=y&password=s3cret' });
    expect(double.violations).toEqual(['POST /token: form parameter password']);
  });

  it('records a body of a request that must have none', async () => {
    await new Promise<void>((resolve, reject) => {
      const sent = request(`${double.url}/people`, { method: 'GET', headers: { 'content-length': '2' } }, (answer) => {
        answer.resume().once('end', resolve);
      });
      sent.once('error', reject).end('{}');
    });
    expect(double.violations).toEqual(['GET /people: body']);
  });
});

describe('closing a double after a violation', () => {
  it('fails and lists the violations', async () => {
    await start();
    await callDouble(`${double.url}/people?api_key=s3cret`);
    await callDouble(`${double.url}/people?api_key=s3cret`);
    await expect(double.close()).rejects.toThrow(
      /^requests contained parts that no rule allows:\nGET \/people: query parameter api_key$/,
    );
    await expect(fetch(`${double.url}/people`)).rejects.toThrow('fetch failed');
  });

  it('succeeds if the test has removed the violation', async () => {
    await start();
    await callDouble(`${double.url}/people?api_key=s3cret`);
    expect(double.violations.splice(0)).toHaveLength(1);
    await expect(double.close()).resolves.toBeUndefined();
  });
});
