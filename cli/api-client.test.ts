import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { startApi } from '../api/start-api.js';
import { apiClient } from './api-client.js';
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
  ])('ends for HTTP %d with exit code %d and the sentence of the answer', async (status, exitCode) => {
    answer = { status, body: JSON.stringify({ status, title: 'A Status', detail: 'the sentence' }) };
    await expect(
      apiClient(() => Promise.resolve({ url, token: undefined })).status({ counts: false }),
    ).rejects.toMatchObject({ exitCode, message: 'the sentence' });
  });

  it('reports that pigeonpost is starting, with the exit code for an unreachable server', async () => {
    const api = await startApi({ host: '127.0.0.1', port: 0 });
    await expect(
      apiClient(() => Promise.resolve({ url: api.url, token: undefined })).status({ counts: false }),
    ).rejects.toMatchObject({
      exitCode: ExitCode.Unreachable,
      message: 'pigeonpost is starting: try again in a few seconds',
    });
    await api.close();
  });
});
