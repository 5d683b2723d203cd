import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { RestClient } from '../rest/rest-client.js';
import { environmentOf } from '../sink-environment.test-kit.js';
import { carrying, type Exchange, recordExchanges, unrecorded, withoutAnswers } from './exchange-log.js';
import { withoutTokens } from './shown-address.js';

let server: Server;
let url: URL;
let rest: RestClient;
const never = new AbortController().signal;

/** Answers with everything that it received. */
beforeAll(async () => {
  server = createServer((incoming, answer) => {
    if (incoming.url === '/cut') return void incoming.socket.destroy();
    const long = incoming.url === '/long' ? 'é'.repeat(4000) : '';
    answer.writeHead(incoming.url === '/refused' ? 422 : 200, { 'x-request-id': 'req-7' });
    answer.end(long === '' ? JSON.stringify({ path: incoming.url, ...incoming.headers }) : `x${long}`);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  rest = new RestClient({
    url,
    environment: environmentOf('vendor'),
    allowPrivateAddresses: true,
    connections: 2,
    shown: withoutTokens,
  });
});

afterAll(async () => {
  await rest.close();
  await new Promise((resolve) => server.close(resolve));
});

const call = (path: string, headers = {}) =>
  rest.call({ method: 'POST', url: new URL(path, url), json: {}, headers }, never);

async function record(work: () => Promise<unknown>): Promise<Exchange[]> {
  const log: Exchange[] = [];
  await recordExchanges(log, work);
  return log;
}

describe('the log of exchanges', () => {
  it('has each call with its answer, also one without an answer', async () => {
    const log = await record(async () => {
      await carrying(['a'], () => call('/refused'));
      await call('/cut');
    });
    const shown = log.map(({ method, status, requestId, changeIds }) => [method, status, requestId, changeIds]);
    expect(shown).toEqual([
      ['POST', 422, 'req-7', ['a']],
      ['POST', null, null, null],
    ]);
    expect(log[0]!.address).toBe(`${url.origin}/refused`);
    expect(log[0]!.endedAt).toBeGreaterThanOrEqual(log[0]!.startedAt);
    expect(JSON.parse(log[0]!.answer()!.body)).toMatchObject({ path: '/refused' });
    expect(log[1]!.answer()).toBeNull();
  });

  it('has no secret that the destination repeats: of a header, of a query or of the path', async () => {
    const login = Buffer.from('ada:swordfish-9').toString('base64');
    const log = await record(async () => {
      await call('/hooks/0123456789abcdef0?token=query-secret', { authorization: 'Bearer header/secret' });
      await call('/plain', { authorization: `Basic ${login}`, 'x-api-key': 'other-secret' });
    });
    const shown = JSON.stringify(log.map((each) => [each.address, each.answer()]));
    for (const secret of ['0123456789abcdef0', 'query-secret', 'header/secret', login, 'swordfish-9', 'other-secret']) {
      expect(shown).not.toContain(secret);
    }
    expect(log[0]!.address).toBe(`${url.origin}/hooks/(secret)?token=(secret)`);
    expect(log[0]!.answer()!.body).toContain('/hooks/(secret)?token=(secret)');
  });

  it('keeps the start of a long answer, and no half character', async () => {
    const [long] = await record(() => call('/long'));
    const { body, cut } = long!.answer()!;
    expect(cut).toBe(true);
    expect(body).toMatch(/^xé+$/);
    expect(Buffer.byteLength(body)).toBe(4095);
  });

  it('has neither the answers of calls that read records of others, nor calls that fetch secrets', async () => {
    const log = await record(async () => {
      await withoutAnswers(() => call('/list'));
      await unrecorded(() => call('/token'));
    });
    expect(log.map((each) => [each.status, each.answer()])).toEqual([[200, null]]);
  });

  it('has nothing of calls outside it', async () => {
    const log: Exchange[] = [];
    await recordExchanges(log, async () => undefined);
    await carrying(['a'], () => call('/refused'));
    expect(log).toEqual([]);
  });
});
