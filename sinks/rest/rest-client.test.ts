import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { environmentOf } from '../sink-environment.test-kit.js';
import { RestClient, type RestClientOptions } from './rest-client.js';

let server: Server;
let url: URL;
let client: RestClient;
const never = new AbortController().signal;

beforeAll(async () => {
  server = createServer((incoming, answer) => {
    const path = incoming.url ?? '';
    if (path === '/silent') return;
    if (path === '/cut') {
      answer.writeHead(202, { 'content-length': '100' });
      answer.write('{');
      setTimeout(() => answer.destroy(), 20);
      return;
    }
    if (path.startsWith('/headers/')) {
      // 15 KiB each, because Node writes no longer header
      const policies = Array.from({ length: Number(path.slice('/headers/'.length)) / 15 }, () => 'p'.repeat(15 * 1024));
      answer.writeHead(201, { 'x-policy': policies }).end('{"taken":true}');
      return;
    }
    if (path === '/gzip') {
      answer.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync('{"id":"r-1"}'));
      return;
    }
    let body = '';
    incoming.on('data', (chunk: Buffer) => (body += chunk.toString()));
    incoming.on('end', () => {
      answer.writeHead(path === '/busy' ? 503 : 200, {
        'retry-after': '7',
        date: 'Sat, 21 Nov 2026 10:00:00 GMT',
        'x-request-id': path === '/odd' ? 'Ada Lovelace <ada@example.com>' : 'req-1',
      });
      answer.end(path === '/page' ? '<html>' : JSON.stringify({ headers: incoming.headers, body }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});

afterEach(() => client.close());
afterAll(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

function open(options: Partial<RestClientOptions> = {}): RestClient {
  client = new RestClient({
    url,
    name: 'Vendor',
    environment: environmentOf('vendor'),
    allowPrivateAddresses: true,
    connections: 2,
    ...options,
  });
  return client;
}

describe('a REST client', () => {
  it('sends JSON, and returns the parsed response with the vendor’s time and request id', async () => {
    const request = {
      method: 'POST',
      url: new URL('/records', url),
      json: { a: 1 },
      headers: { 'x-own': 'yes' },
    } as const;
    expect(await open().call(request, never)).toMatchObject({
      kind: 'answer',
      status: 200,
      retryAfter: '7',
      answeredAtMs: Date.parse('2026-11-21T10:00:00Z'),
      requestId: 'req-1',
      body: {
        headers: { 'content-type': 'application/json', 'user-agent': 'pigeonpost', 'x-own': 'yes' },
        body: '{"a":1}',
      },
    });
  });

  it('reads an answer with long headers, so that a request that was accepted is not repeated', async () => {
    const call = { method: 'POST', url: new URL('/headers/60', url), json: {} } as const;
    expect(await open().call(call, never)).toMatchObject({ kind: 'answer', status: 201, body: { taken: true } });
  });

  it('says if the headers of an answer are longer than it reads', async () => {
    const call = { method: 'POST', url: new URL('/headers/1050', url), json: {} } as const;
    expect(await open().call(call, never)).toEqual({
      kind: 'no-answer',
      detail: `${url.host} answered with headers longer than 1 MiB`,
      mayHaveArrived: true,
    });
  });

  it('asks for no compression, and reads an answer that is compressed nevertheless', async () => {
    const plain = await open().call({ method: 'POST', url: new URL('/records', url), json: {} }, never);
    expect(plain).toMatchObject({ body: { headers: { 'accept-encoding': 'identity' } } });
    const packed = await client.call({ method: 'GET', url: new URL('/gzip', url) }, never);
    expect(packed).toMatchObject({ kind: 'answer', status: 200, body: { id: 'r-1' } });
  });

  it('returns every status and leaves its meaning to the sink', async () => {
    expect(await open().call({ method: 'GET', url: new URL('/busy', url) }, never)).toMatchObject({ status: 503 });
  });

  it('does not return a request id that could be a value', async () => {
    expect(await open().call({ method: 'GET', url: new URL('/odd', url) }, never)).toMatchObject({
      requestId: undefined,
    });
  });

  it('returns the text of a response that is not JSON', async () => {
    const answer = await open().call({ method: 'GET', url: new URL('/page', url) }, never);
    expect(answer).toMatchObject({ kind: 'answer', body: undefined, text: '<html>' });
  });

  it('does not read a response that is longer than the limit', async () => {
    const answer = await open({ maxAnswerBytes: 4 }).call({ method: 'GET', url: new URL('/page', url) }, never);
    expect(answer).toMatchObject({ kind: 'answer', status: 200, body: undefined, text: undefined });
  });

  it('reports a request without a response in time as possibly processed', async () => {
    const answer = await open({ environment: environmentOf('vendor', { requestTimeoutMs: 50 }) }).call(
      { method: 'GET', url: new URL('/silent', url) },
      never,
    );
    expect(answer).toEqual({
      kind: 'no-answer',
      detail: `${url.host} did not answer within 0.05 s`,
      mayHaveArrived: true,
    });
  });

  it('reports a refused connection as not processed', async () => {
    const closed = new URL('http://127.0.0.1:1');
    const answer = await open({ url: closed }).call({ method: 'POST', url: closed, json: {} }, never);
    expect(answer).toEqual({
      kind: 'no-answer',
      detail: '127.0.0.1:1 refused the connection',
      mayHaveArrived: false,
    });
  });

  it('sends nothing to a private address unless the sink allows it', async () => {
    const answer = await open({ allowPrivateAddresses: false }).call({ method: 'GET', url }, never);
    expect(answer).toMatchObject({ kind: 'no-answer', mayHaveArrived: false });
  });

  it('accepts a response with an incomplete body only if the status is sufficient', async () => {
    const cut = { method: 'POST', url: new URL('/cut', url), json: {} } as const;
    expect(await open().call(cut, never)).toMatchObject({ kind: 'no-answer', mayHaveArrived: true });
    expect(await client.call({ ...cut, statusDecides: true }, never)).toMatchObject({ kind: 'answer', status: 202 });
  });
});
