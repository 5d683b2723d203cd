import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { startApi } from '../api/start-api.js';
import { apiClient, firstOfList, type PartAsked } from './api-client.js';
import { ExitCode } from './exit-code.js';

let answer = { status: 200, body: '{}' };
let server: Server;
let url: string;
beforeAll(async () => {
  server = createServer((_, response) => response.writeHead(answer.status).end(answer.body));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

describe('a command that contacts a running pigeonpost', () => {
  it.each([
    [404, ExitCode.NotFound],
    [503, ExitCode.Unreachable],
    [500, ExitCode.Failed],
    [401, ExitCode.Failed],
  ])('ends for HTTP %d with exit code %d and the message of the response', async (status, exitCode) => {
    answer = { status, body: JSON.stringify({ status, title: 'A Status', detail: 'the sentence' }) };
    await expect(
      apiClient(() => Promise.resolve({ url, token: undefined })).get('/api/status', {}),
    ).rejects.toMatchObject({ exitCode, message: 'the sentence' });
  });

  it('reports that the process is starting, with the exit code for an unreachable server', async () => {
    const api = await startApi({ host: '127.0.0.1', port: 0 });
    await expect(
      apiClient(() => Promise.resolve({ url: api.url, token: undefined })).get('/api/status', {}),
    ).rejects.toMatchObject({
      exitCode: ExitCode.Unreachable,
      message: 'the process is starting: try again in a few seconds',
    });
    await api.close();
  });
});

/** Creates a list of `n` numbers that is read page by page, and records the requests. */
function listOf(length: number) {
  const asked: PartAsked[] = [];
  const ask = async (part: PartAsked) => {
    asked.push(part);
    const from = Number(part.after ?? 0);
    const items = Array.from({ length: Math.min(part.limit, length - from) }, (_, n) => from + n);
    const upTo = from + items.length;
    return { items, next: upTo < length ? String(upTo) : null };
  };
  return { ask, asked };
}

describe('the first items of a long list', () => {
  it.each([
    ['a list that is shorter than the limit', 3, 10, { count: 3, more: false, parts: 1 }],
    ['a list with exactly as many items as the limit', 10, 10, { count: 10, more: false, parts: 1 }],
    ['a longer list', 11, 10, { count: 10, more: true, parts: 1 }],
    ['an empty one', 0, 10, { count: 0, more: false, parts: 1 }],
    ['more items than one response contains', 1200, 1100, { count: 1100, more: true, parts: 3 }],
    ['exactly the items of several responses', 1200, 5000, { count: 1200, more: false, parts: 3 }],
  ])('contain each item once, in order: %s', async (_, length, limit, { count, more, parts }) => {
    const { ask, asked } = listOf(length);
    const found = await firstOfList(limit, ask);
    expect(found).toEqual({ items: Array.from({ length: count }, (__, n) => n), more });
    expect(asked).toHaveLength(parts);
    expect(Math.max(...asked.map((part) => part.limit))).toBeLessThanOrEqual(500);
  });
});
