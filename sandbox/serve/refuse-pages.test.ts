import { request } from 'node:http';
import { runSandbox } from '../start-sandbox.js';
import { startTeamsDouble } from '../teams/start-teams-double.js';
import { runWebhookReceiver } from '../webhook-receiver/run-webhook-receiver.js';

/** Every kind of server that the sandbox starts, each with a path that changes it. */
const servers = [
  [
    'the service',
    async () =>
      runSandbox({ attendees: 1 }).then((sandbox) => ({ url: sandbox.baseUrl, close: () => sandbox.close() })),
    '/_control/freeze',
  ],
  ['a double', async () => startTeamsDouble({}), '/_double/faults'],
  ['the webhook receiver', async () => runWebhookReceiver({ secrets: ['whsec_c2VjcmV0'] }), '/_control/answers'],
] as const;

const fault = JSON.stringify({ status: 500 });

describe.each(servers)('%s', (_, start, path) => {
  let running: { readonly url: string; close(): Promise<void> };
  beforeAll(async () => {
    running = await start();
  });
  afterAll(() => running.close());

  /** Sends a form or a simple `fetch`, for which a browser does not ask for permission first. */
  const send = (headers: Readonly<Record<string, string>>, method = 'POST'): Promise<number | undefined> => {
    const { hostname, port } = new URL(running.url);
    return new Promise((resolve, reject) => {
      const sent = request(
        { hostname, port, method, path, headers: { 'content-type': 'text/plain', ...headers } },
        (answer) => void answer.resume().once('end', () => resolve(answer.statusCode)),
      );
      sent.once('error', reject).end(method === 'POST' ? fault : undefined);
    });
  };

  it.each([
    ['another origin', { origin: 'https://page.example' }],
    ['another port of this host', { origin: 'http://127.0.0.1:1', 'sec-fetch-site': 'same-site' }],
    ['a page without an origin', { origin: 'null' }],
    ['a page that hides its origin', { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors' }],
    ['a name that was pointed to this machine', { host: 'rebound.example' }],
    ['a name that only starts like this machine', { host: '127.0.0.1.page.example' }],
  ])('refuses a request of %s', async (__, headers) => {
    expect(await send(headers)).toBe(403);
    expect(await send(headers, 'GET')).toBe(403);
  });

  it('answers programs, its own page, and a followed link', async () => {
    expect(await send({})).not.toBe(403);
    expect(await send({ origin: new URL(running.url).origin, 'sec-fetch-site': 'same-origin' })).not.toBe(403);
    const link = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' };
    expect(await send(link, 'GET')).not.toBe(403);
  });
});
