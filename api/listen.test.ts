import { connect, type Socket } from 'node:net';
import { until } from '../test/until.js';
import { apiSources, emptyLedger } from './api-sources.test-kit.js';
import { patience, startApi } from './start-api.js';
import { startProbes } from './health.js';

/** Limits that close no idle connection during a test, however slow the machine is. */
const waits = { ...patience, headersMs: 600_000 };

const closers: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

/** Opens an idle connection. Resolves once the server has accepted or closed it. */
async function idle(port: number, from: string): Promise<{ socket: Socket; closed: Promise<void> }> {
  const socket = connect({ port, host: '127.0.0.1', localAddress: from });
  closers.push(() => void socket.destroy());
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  socket.on('error', () => undefined);
  await Promise.race([new Promise((resolve) => socket.once('connect', resolve)), closed]);
  return { socket, closed };
}

describe('idle connections without a token', () => {
  it('from one address use at most their share, so that others are answered', async () => {
    const api = await startApi({ host: '127.0.0.1', port: 0, maxConnectionsPerAddress: 20 }, waits);
    closers.push(() => api.close());
    api.serve(apiSources({ ledger: emptyLedger() }));
    const port = Number(new URL(api.url).port);
    const opened = await Promise.all(Array.from({ length: 60 }, () => idle(port, '127.0.0.2')));
    await until('40 of 60 connections are closed', () => opened.filter(({ socket }) => socket.destroyed).length >= 40);

    expect((await fetch(`${api.url}/healthz`)).status).toBe(200);
    const held = opened.filter(({ socket }) => !socket.destroyed);
    expect(held).toHaveLength(20);
    // A closed connection makes room for another.
    held[0]!.socket.destroy();
    for (let isTaken = false; !isTaken;) {
      const next = await idle(port, '127.0.0.2');
      next.socket.write('GET /healthz HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n\r\n');
      isTaken = await Promise.race([
        new Promise<boolean>((resolve) => next.socket.once('data', () => resolve(true))),
        next.closed.then(() => false),
      ]);
    }
  });

  it('that use up the API do not affect the separate port of the probes', async () => {
    const api = await startApi({ host: '127.0.0.1', port: 0, maxConnectionsPerAddress: 5 }, waits);
    closers.push(() => api.close());
    const probes = await startProbes({ host: '127.0.0.1', port: 0 });
    closers.push(() => probes.close());
    const statusOf = async (path: string): Promise<number> => (await fetch(`${probes.url}${path}`)).status;
    expect([await statusOf('/healthz'), await statusOf('/readyz')]).toEqual([200, 503]);

    const port = Number(new URL(api.url).port);
    await Promise.all(Array.from({ length: 10 }, () => idle(port, '127.0.0.1')));
    await expect(fetch(`${api.url}/healthz`)).rejects.toThrow();
    let ready = true;
    probes.serve({ health: async () => [{ part: 'store', ready }] });
    expect([await statusOf('/healthz'), await statusOf('/readyz')]).toEqual([200, 200]);
    ready = false;
    const answer = await fetch(`${probes.url}/readyz`);
    expect([answer.status, await answer.text()]).toEqual([503, 'not ready: store']);
    expect([await statusOf('/api/status'), await statusOf('/metrics')]).toEqual([404, 404]);
  });
});
