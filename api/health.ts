import type { ApiSources } from './api-sources.js';
import type { ApiApp } from './api-app.js';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { listen } from './listen.js';

/** A part that a process depends on. */
export interface PartHealth {
  readonly part: 'store' | 'temporal' | 'worker';
  readonly ready: boolean;
}

/** The parts that are not ready. */
export async function lacksOf({ health }: Pick<ApiSources, 'health'>): Promise<string[]> {
  return (await health()).filter(({ ready }) => !ready).map(({ part }) => part);
}

/**
 * `GET /healthz`: the process answers. `GET /readyz`: it can do its work, too (a worker), or its store answers (who serves the
 * API); else 503, with what it lacks. Asked by machines
 * that have no token and may call this host what they like, so they tell nothing else.
 */
export function serveHealth(app: ApiApp, sources: Pick<ApiSources, 'health'>): void {
  app.get('/healthz', (c) => c.text('ok'));
  app.get('/readyz', async (c) => {
    const lacks = await lacksOf(sources);
    return lacks.length === 0 ? c.text('ok') : c.text(`not ready: ${lacks.join(', ')}`, 503);
  });
}

/** `/healthz` and `/readyz` at an address of their own, which nobody who fills the API's connections can reach. */
export interface ProbeServer {
  /** As a client reaches it from this machine. */
  readonly url: string;
  /** Until then the process is alive and not ready. */
  serve(sources: Pick<ApiSources, 'health'>): void;
  close(): Promise<void>;
}

/** A probe opens one, asks, and closes it. */
const maxProbeConnections = 100;
const withinMs = 5000;

/** @throws {ListenError} with one sentence */
export async function startProbes({
  host,
  port,
}: {
  readonly host: string;
  readonly port: number;
}): Promise<ProbeServer> {
  let ready = async (): Promise<string[]> => ['start'];
  const server = createServer(
    { headersTimeout: withinMs, requestTimeout: withinMs, connectionsCheckingInterval: 1000, maxHeaderSize: 8 * 1024 },
    (request, response) => {
      const answer = (status: number, text: string): void => {
        response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8', connection: 'close' });
        response.end(text);
      };
      const [path] = (request.url ?? '').split('?');
      if (request.method !== 'GET' && request.method !== 'HEAD') answer(405, 'only GET is answered here');
      else if (path === '/healthz') answer(200, 'ok');
      else if (path === '/readyz') {
        ready().then(
          (lacks) => (lacks.length === 0 ? answer(200, 'ok') : answer(503, `not ready: ${lacks.join(', ')}`)),
          () => answer(503, 'not ready'),
        );
      } else answer(404, 'only /healthz and /readyz are answered here');
    },
  );
  server.maxConnections = maxProbeConnections;
  await listen(server, { host, port, key: 'server.probes' });
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${(server.address() as AddressInfo).port}`,
    serve: (sources) => {
      ready = () => lacksOf(sources);
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
