import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import type { Dispatcher } from 'undici';
import { whileHeld } from '../../base/lease.js';
import { bypassesProxy, createDispatcher, isAllowedHost } from './create-dispatcher.js';

let server: Server;
let origin: string;
let dispatcher: Dispatcher;
const received: string[] = [];
const waiting: ServerResponse[] = [];

const post = (path: string) => dispatcher.request({ origin, path, method: 'POST', body: `of ${path}` });

/** Sends a request that waits for the only connection while `confirm` is replaced. */
async function queuedWhile(
  confirm: { current: () => Promise<void> | undefined },
  next: () => Promise<void> | undefined,
) {
  const first = post('/first');
  while (waiting.length === 0) await pause(5);
  const second = whileHeld(
    () => confirm.current(),
    () => post('/second'),
  );
  const settled = second.then(
    async ({ body }) => await body.text(),
    (error: Error) => error.message,
  );
  await pause(20);
  confirm.current = next;
  waiting[0]!.end('done');
  await (await first).body.text();
  return await settled;
}

describe('a request that waited for a connection under a lease', () => {
  beforeEach(async () => {
    received.length = 0;
    waiting.length = 0;
    server = createServer((request, response) => {
      received.push(request.url!);
      if (request.url === '/first') waiting.push(response);
      else response.end('done');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const limits = { allowPrivateAddresses: true, connectTimeoutMs: 60_000, connections: 1 };
    dispatcher = createDispatcher(new URL(origin), { allowHosts: [] }, limits);
  });
  afterEach(async () => {
    await dispatcher.destroy();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  it('is not sent if the lease was lost during the wait', async () => {
    const confirm = { current: (): Promise<void> | undefined => undefined };
    const lost = (): Promise<void> => Promise.reject(new Error('the lane is no longer held'));
    expect(await queuedWhile(confirm, lost)).toBe('the lane is no longer held');
    await pause(50);
    expect(received).toEqual(['/first']);
  });

  it('is sent once after the lease was confirmed again', async () => {
    const confirm = { current: (): Promise<void> | undefined => undefined };
    let confirmations = 0;
    const again = (): Promise<void> | undefined => (confirmations++ === 0 ? pause(20) : undefined);
    expect(await queuedWhile(confirm, again)).toBe('done');
    expect([received, confirmations]).toEqual([['/first', '/second'], 3]);
  });

  it('is sent without another confirmation if the lease was confirmed recently', async () => {
    const confirm = { current: (): Promise<void> | undefined => undefined };
    expect(await queuedWhile(confirm, confirm.current)).toBe('done');
    expect(received).toEqual(['/first', '/second']);
  });
});

describe('the list of hosts without proxy', () => {
  it.each([
    ['https://example.com', '*'],
    ['https://example.com', 'other.org, example.com'],
    ['https://hooks.example.com', 'example.com'],
    ['https://hooks.example.com', '.example.com'],
    ['https://hooks.EXAMPLE.com', '*.Example.com'],
    ['https://example.com', 'example.com:443'],
    ['http://example.com:8080', 'example.com:8080'],
    ['https://10.1.2.3', '10.0.0.0/8'],
    ['https://10.1.2.3', '10.1.2.3'],
    ['https://[fd00::7]', 'fd00::/8'],
    ['https://[fd00::7]:8443', '[fd00::7]:8443'],
    ['https://[fd00::7]', 'fd00::7'],
  ])('matches %s with "%s"', (url, noProxy) => expect(bypassesProxy(new URL(url), noProxy)).toBe(true));

  it.each([
    ['https://example.com', ''],
    ['https://example.com', undefined],
    ['https://badexample.com', 'example.com'],
    ['https://example.com', 'example.com:8443'],
    ['https://11.1.2.3', '10.0.0.0/8'],
    ['https://10.1.2.3', 'fd00::/8'],
    ['https://10.1.2.3', '10.0.0.0/64'],
    ['https://example.com', '10.0.0.0/8'],
  ])('does not match %s with "%s"', (url, noProxy) => expect(bypassesProxy(new URL(url), noProxy)).toBe(false));

  it.each(['http://localhost:8080', 'http://127.8.0.1', 'http://[::1]:99'])(
    'always matches the loopback address %s',
    (url) => expect(bypassesProxy(new URL(url), undefined)).toBe(true),
  );
});

describe('the list of allowed hosts', () => {
  it.each([
    ['hooks.example.com', ['other.org', 'Hooks.Example.com']],
    ['hooks.example.com.', ['hooks.example.com']],
    ['a.b.example.com', ['.example.com']],
  ])('matches %s with %j', (host, list) => expect(isAllowedHost(host, list)).toBe(true));

  it.each([
    ['hooks.example.com', []],
    ['hooks.example.com', ['example.com']],
    ['example.com', ['.example.com']],
    ['badexample.com', ['.example.com']],
    ['example.com.evil.org', ['example.com', '.example.com']],
  ])('does not match %s with %j', (host, list) => expect(isAllowedHost(host, list)).toBe(false));
});
