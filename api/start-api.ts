import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import type { Config } from '../config/config.js';
import type { ApiSources, ProbeSources } from './api-app.js';
import { createApp, createProbeApp } from './create-app.js';
import { limitConnections, listen } from './listen.js';
import { problemResponse, Refused } from './problem.js';

/**
 * Listens from the start, so that a port in use is reported before any work starts. Until it serves, it answers 503,
 * except to `/healthz`.
 */
export interface ApiServer {
  /** The address for clients on this machine. */
  readonly url: string;
  serve(sources: ApiSources): void;
  /** Serves only probes and metrics. */
  serveProbes(sources: ProbeSources): void;
  close(): Promise<void>;
}

/**
 * Time limits of a connection: for the headers, for the whole request, and for silence during an answer. Without
 * limits, idle connections would use up the maximum number. An upload takes as long as the store needs to write its
 * rows. A live stream sends something every 15 s, and the longest request (a preview of everything) takes 5 min.
 */
export const patience = {
  headersMs: 10_000,
  requestMs: 60_000,
  uploadMs: 60 * 60_000,
  silentMs: 6 * 60_000,
  checkEveryMs: 2_000,
} as const;

/** Size limit of the address and headers of a request. The address of an import contains the mapping of its columns. */
const largestHeadBytes = 64 * 1024;

/** Default, which also applies to a worker's port. */
const connectionsPerAddress = 250;

/** @throws {ListenError} with one sentence */
export async function startApi(
  {
    host,
    port,
    maxConnectionsPerAddress = connectionsPerAddress,
  }: Pick<Config['server'], 'host' | 'port'> & Partial<Pick<Config['server'], 'maxConnectionsPerAddress'>>,
  waits: { readonly [Wait in keyof typeof patience]: number } = patience,
): Promise<ApiServer> {
  let answer = getRequestListener((request) => {
    // A process that is still starting is alive. If a probe failed here, the process would be ended before it has started.
    if (new URL(request.url).pathname === '/healthz') return new Response('ok');
    const requestId = randomUUID();
    const starting = new Refused(503, 'the process is starting: try again in a few seconds', {
      headers: { 'retry-after': '2', 'x-request-id': requestId },
    });
    return problemResponse(starting, requestId);
  });
  const server = createServer(
    {
      headersTimeout: waits.headersMs,
      requestTimeout: waits.uploadMs,
      connectionsCheckingInterval: waits.checkEveryMs,
      maxHeaderSize: largestHeadBytes,
    },
    (request, response) => {
      if (!isUpload(request)) endSlowSender(request, response, waits.requestMs);
      answer(request, response).catch(() => response.destroy());
    },
  );
  limitConnections(server, maxConnectionsPerAddress);
  server.setTimeout(waits.silentMs);
  await listen(server, { host, port, key: 'server' });
  return {
    url: `http://${reachable(host)}:${(server.address() as AddressInfo).port}`,
    serve: (sources) => {
      answer = getRequestListener(createApp(sources).fetch);
    },
    serveProbes: (sources) => {
      answer = getRequestListener(createProbeApp(sources).fetch);
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** Returns the host for a URL; this machine's own if the server listens on every address. */
function reachable(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  if (!host.includes(':')) return host;
  return `[${/^[0:]+$/.test(host) ? '::1' : host}]`;
}

function isUpload({ method, url = '' }: IncomingMessage): boolean {
  return method === 'POST' && /^\/api\/imports(?:\/check|\/codes)?(?:\?|$)/.test(url);
}

/** Ends the connection of a slow sender. Node's own limit is the same for all requests, so it must be long enough for uploads. */
function endSlowSender(request: IncomingMessage, response: ServerResponse, withinMs: number): void {
  const timer = setTimeout(() => {
    if (!request.complete) request.destroy();
  }, withinMs);
  request.once('end', () => clearTimeout(timer));
  response.once('close', () => clearTimeout(timer));
}
