import { generateKeyPairSync, verify, type KeyObject } from 'node:crypto';
import { once } from 'node:events';
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { inspect } from 'node:util';
import { Secret } from '../../config/secret.js';
import { whileHeld } from '../../base/lease.js';
import { RestClient } from './rest-client.js';
import type { Grant } from './grants.js';
import { TokenFailure, type TokenRequest } from './request-token.js';
import { TokenSource } from './token-source.js';
import { signingAlgorithm } from './sign-jwt.js';

interface Asked {
  readonly headers: IncomingHttpHeaders;
  readonly form: Record<string, string>;
}

interface Answer {
  readonly status?: number;
  readonly headers?: Record<string, string>;
  readonly body?: unknown;
}

let server: Server;
let asked: Asked[];
let answers: (() => Answer | Promise<Answer>)[];
let rest: RestClient;
let nowMs: number;
const never = new AbortController().signal;

beforeEach(async () => {
  asked = [];
  answers = [];
  nowMs = Date.parse('2026-11-22T10:00:00Z');
  server = createServer((incoming, outgoing) => void answer(incoming, outgoing));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  rest = restClient(true);
});

afterEach(async () => {
  await rest.close();
  server.closeAllConnections();
  server.close();
  await once(server, 'close');
});

async function answer(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
  let text = '';
  for await (const part of incoming) text += String(part);
  asked.push({ headers: incoming.headers, form: Object.fromEntries(new URLSearchParams(text)) });
  const { status = 200, headers, body } = await (answers.shift() ?? granted(`token-${asked.length}`))();
  outgoing.writeHead(status, { 'content-type': 'application/json', ...headers });
  outgoing.end(typeof body === 'string' ? body : JSON.stringify(body));
}

const tokenUrl = () => new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/token`);

const restClient = (allowPrivateAddresses: boolean) => {
  const environment = { network: { allowHosts: [] }, now: () => nowMs };
  return new RestClient({ url: tokenUrl(), environment, allowPrivateAddresses, connections: 2 });
};

const granted =
  (token: string, rest: object = {}) =>
  (): Answer => ({ body: { access_token: token, token_type: 'Bearer', expires_in: 3600, ...rest } });

const refused =
  (status: number, error: string, description = '') =>
  (): Answer => ({ status, body: { error, error_description: description } });

const credentials: Grant = {
  kind: 'client-credentials',
  clientId: 'client:1',
  clientSecret: new Secret('se cret%'),
  authentication: 'client_secret_basic',
};

const sourceOf = (grant: Grant = credentials, options: Partial<TokenRequest> = {}) =>
  new TokenSource({
    tokenUrl: tokenUrl(),
    grant,
    rest,
    name: 'Acme',
    keys: '"clientId" and "clientSecret"',
    now: () => nowMs,
    ...options,
  });

const tokenOf = async (source: TokenSource) => (await source.get(never)).secret.reveal();

async function failureOf(source: TokenSource) {
  const failure = await source.get(never).catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(TokenFailure);
  return (failure as TokenFailure).result;
}

describe('client credentials', () => {
  it('are sent in the header, encoded as RFC 6749 requires', async () => {
    expect(await tokenOf(sourceOf())).toBe('token-1');
    const [{ headers, form }] = asked as [Asked];
    expect(headers.authorization).toBe(`Basic ${Buffer.from('client%3A1:se+cret%25').toString('base64')}`);
    expect(headers['content-type']).toBe('application/x-www-form-urlencoded');
    expect(form).toEqual({ grant_type: 'client_credentials' });
  });

  it('are sent in the form, with scope, audience and resource', async () => {
    const grant = { scope: 'all/read', audience: 'https://api.acme.example', resource: 'https://crm.acme.example' };
    await tokenOf(sourceOf({ ...credentials, authentication: 'client_secret_post', ...grant }));
    expect(asked[0]!.headers.authorization).toBeUndefined();
    expect(asked[0]!.form).toEqual({
      grant_type: 'client_credentials',
      client_id: 'client:1',
      client_secret: 'se cret%',
      ...grant,
    });
  });
});

describe('a JWT bearer assertion', () => {
  const pem = (key: KeyObject) => key.export({ type: 'pkcs8', format: 'pem' }).toString();
  const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const grantOf = (key: KeyObject): Grant => ({
    kind: 'jwt-bearer',
    privateKey: new Secret(pem(key)),
    claims: { iss: 'client', sub: 'user@acme.example', aud: 'https://login.acme.example' },
    keyId: 'key-7',
    scope: 'api',
  });

  it.each([
    ['RS256', rsa],
    ['ES256', ec],
  ])('is signed with %s by a key of this kind', async (alg, { privateKey, publicKey }) => {
    await tokenOf(sourceOf(grantOf(privateKey)));
    const { assertion, ...form } = asked[0]!.form;
    expect(form).toEqual({ grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer', scope: 'api' });
    const [header, claims, signature] = assertion!.split('.') as [string, string, string];
    const read = (part: string): unknown => JSON.parse(Buffer.from(part, 'base64url').toString());
    const iat = nowMs / 1000;
    expect(read(header)).toEqual({ alg, typ: 'JWT', kid: 'key-7' });
    expect(read(claims)).toEqual({
      iss: 'client',
      sub: 'user@acme.example',
      aud: 'https://login.acme.example',
      iat,
      exp: iat + 120,
    });
    const key = { key: publicKey, dsaEncoding: 'ieee-p1363' } as const;
    expect(verify('sha256', Buffer.from(`${header}.${claims}`), key, Buffer.from(signature, 'base64url'))).toBe(true);
  });

  it('is signed only by RSA keys of 2048 bits or EC keys on P-256', () => {
    const others = [
      pem(generateKeyPairSync('rsa', { modulusLength: 1024 }).privateKey),
      pem(generateKeyPairSync('ec', { namedCurve: 'P-384' }).privateKey),
      pem(generateKeyPairSync('ed25519').privateKey),
      'no key',
    ];
    expect([pem(rsa.privateKey), pem(ec.privateKey), ...others].map(signingAlgorithm)).toEqual([
      'RS256',
      'ES256',
      ...others.map(() => undefined),
    ]);
  });
});

describe('a token', () => {
  it('is requested once for all callers that wait for it', async () => {
    const source = sourceOf();
    expect(await Promise.all([tokenOf(source), tokenOf(source), tokenOf(source)])).toEqual(Array(3).fill('token-1'));
    expect(asked).toHaveLength(1);
  });

  it('is used until 60 s before it expires', async () => {
    const source = sourceOf();
    await tokenOf(source);
    nowMs += 3_539_000;
    expect(await tokenOf(source)).toBe('token-1');
    nowMs += 1_000;
    expect(await tokenOf(source)).toBe('token-2');
  });

  it('with a short lifetime is used for four fifths of it', async () => {
    answers.push(granted('token-1', { expires_in: '50' }));
    const source = sourceOf();
    await tokenOf(source);
    nowMs += 39_000;
    expect(await tokenOf(source)).toBe('token-1');
    nowMs += 1_000;
    expect(await tokenOf(source)).toBe('token-2');
  });

  it('is used until it expires if its renewal fails, but not afterwards', async () => {
    const source = sourceOf();
    await tokenOf(source);
    nowMs += 3_545_000;
    answers.push(refused(503, ''), refused(503, ''));
    expect(await tokenOf(source)).toBe('token-1');
    nowMs += 55_000;
    expect(await failureOf(source)).toMatchObject({ kind: 'retry' });
  });

  it('without a lifetime is used until the API rejects it', async () => {
    answers.push(granted('token-1', { expires_in: undefined }));
    const source = sourceOf();
    const first = await source.get(never);
    nowMs += 30 * 24 * 3_600_000;
    expect(await tokenOf(source)).toBe('token-1');
    source.end(first);
    expect(await tokenOf(source)).toBe('token-2');
    source.end(first); // another lane that used the first token learns later that it has expired
    expect(await tokenOf(source)).toBe('token-2');
  });

  it('is returned with other fields of the response, but without other tokens', async () => {
    answers.push(granted('token-1', { instance_url: 'https://acme.example', refresh_token: 'r', id_token: 'i' }));
    const { otherFields } = await sourceOf().get(never);
    expect(otherFields).toEqual({ token_type: 'Bearer', expires_in: 3600, instance_url: 'https://acme.example' });
  });

  it('is not revealed when it is printed', async () => {
    const token = await sourceOf().get(never);
    expect(`${inspect(token)} ${JSON.stringify(token)}`).not.toContain('token-1');
  });

  it('arrives for the other lanes even if the lane that requested it was stopped and lost its lease', async () => {
    const stop = new AbortController();
    let release = (): void => undefined;
    const released = new Promise<void>((resolve) => (release = resolve));
    answers.push(async () => (await released, granted('token-1')()));
    const source = sourceOf();
    const lost = () => Promise.reject(new Error('the lane was taken over'));
    const first = whileHeld(lost, () => source.get(stop.signal)).catch((error: unknown) => error);
    const second = tokenOf(source);
    stop.abort();
    expect(await first).toMatchObject({ name: 'CutShort', reason: 'stopped' });
    release();
    expect(await second).toBe('token-1');
  });
});

describe('a rejected token request', () => {
  it.each([
    [400, 'invalid_grant'],
    [400, 'invalid_scope'],
    [401, 'invalid_client'],
    [403, 'access_denied'],
  ])('with HTTP %i %s pauses the sink, because only an operator can help', async (status, error) => {
    answers.push(refused(status, error, 'client client:1 has the wrong secret se cret%'));
    expect(await failureOf(sourceOf())).toEqual({
      kind: 'pause',
      cause: 'credential',
      detail: `Acme refuses the login (HTTP ${status} ${error}): check "clientId" and "clientSecret"`,
    });
  });

  it.each([
    [400, 'temporarily_unavailable', 'HTTP 400 temporarily_unavailable'],
    [500, '', 'HTTP 500'],
    [404, '', 'HTTP 404: check its address'],
    [302, '', 'HTTP 302: check its address'],
  ])('with HTTP %i %s is temporary', async (status, error, words) => {
    answers.push(refused(status, error));
    expect(await failureOf(sourceOf())).toEqual({
      kind: 'retry',
      detail: `Acme answered the request for a token with ${words}`,
    });
  });

  it('is explained in the vendor’s terms', async () => {
    answers.push(refused(400, 'invalid_grant', 'user has not approved this consumer'));
    const advise = ({ description }: { description: string }) =>
      description.includes('approved') ? 'pre-authorize the user' : undefined;
    const { detail } = await failureOf(sourceOf(credentials, { advise }));
    expect(detail).toBe('Acme refuses the login (HTTP 400 invalid_grant): pre-authorize the user');
  });

  it('names the request, but nothing that may be a value of a record', async () => {
    answers.push(() => ({ status: 401, headers: { 'x-request-id': 'a1-b2' }, body: 'the secret "se cret%" is wrong' }));
    const { detail } = await failureOf(sourceOf());
    expect(detail).toBe('Acme refuses the login (HTTP 401, request a1-b2): check "clientId" and "clientSecret"');
  });

  it('blocks all lanes for the time that the server requests', async () => {
    answers.push(() => ({ status: 429, headers: { 'retry-after': '120' }, body: {} }));
    const source = sourceOf();
    expect(await failureOf(source)).toMatchObject({ kind: 'retry', afterMs: 120_000 });
    nowMs += 119_000;
    expect(await failureOf(source)).toMatchObject({ kind: 'retry', afterMs: 1_000 });
    expect(asked).toHaveLength(1);
    nowMs += 1_000;
    expect(await tokenOf(source)).toBe('token-2');
  });

  it('blocks further requests for 5 s, so that a batch causes one login, or until an operator tries it', async () => {
    answers.push(refused(401, 'invalid_client'), refused(401, 'invalid_client'));
    const source = sourceOf();
    await failureOf(source);
    await failureOf(source);
    expect(asked).toHaveLength(1);
    nowMs += 5_000;
    await failureOf(source);
    expect(asked).toHaveLength(2);
    source.tryNow();
    expect(await tokenOf(source)).toBe('token-3');
  });

  it('is also a response without a token or with another token type', async () => {
    answers.push(() => ({ body: '<html>' }), granted('token-2', { token_type: 'mac' }));
    expect(await failureOf(sourceOf())).toMatchObject({ kind: 'retry' });
    expect(await failureOf(sourceOf())).toMatchObject({ kind: 'pause', cause: 'credential' });
  });
});

it('a token endpoint in a private network is not contacted without permission', async () => {
  const guarded = restClient(false);
  const { kind, detail } = await failureOf(sourceOf(credentials, { rest: guarded }));
  expect([kind, detail]).toEqual(['retry', expect.stringContaining('allowPrivateAddresses')]);
  expect(asked).toHaveLength(0);
  await guarded.close();
});
