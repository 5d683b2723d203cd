import { timingSafeEqual } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import { Hono, type MiddlewareHandler } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { z } from 'zod';
import type { Config } from '../config/config.js';
import { StoreError } from '../ledger/drivers/store-error.js';
import { LedgerError } from '../ledger/ledger-error.js';
import type { Ledger } from '../ledger/ledger.js';
import { type QuotaView, readStatus } from './status.js';

/** What the API needs of the process that serves it. */
export interface ApiSources {
  readonly config: Config;
  readonly ledger: Ledger;
  readonly configuration: number;
  /** Why the last turn of this process failed as a whole; null when it did not. */
  readonly trouble: () => string | null;
  /** How the quota of each workspace's key stands; of those that were used. */
  readonly quotas: () => Promise<ReadonlyMap<string, QuotaView>>;
  /** Writes a person's request to the ledger, then wakes the work; false when the ledger knows no such thing. */
  readonly act: (action: Action) => Promise<boolean>;
}

export const actionSchema = z.object({
  do: z.enum(['pause', 'resume', 'poll-now']),
  kind: z.enum(['workspace', 'pigeonhole', 'sink']),
  /** A workspace's or a sink's name; for a pigeonhole `<workspace>/<id>`. */
  name: z.string().min(1).max(200),
});
export type Action = z.infer<typeof actionSchema>;

/** Listens from the beginning, so that a taken port is told before anything else is begun; answers 503 until it serves. */
export interface ApiServer {
  /** As a client reaches it from this machine. */
  readonly url: string;
  serve(sources: ApiSources): void;
  close(): Promise<void>;
}

/** The port is taken, or the host is not this machine's. */
export class ListenError extends Error {
  override readonly name = 'ListenError';
}

const largestBodyBytes = 64 * 1024;

const nothingToReadAtSink = 'there is nothing to read at a sink: write workspace:NAME or pigeonhole:WORKSPACE/ID';

/** @throws {ListenError} with one sentence */
export async function startApi({ host, port }: Config['server']): Promise<ApiServer> {
  let answer = getRequestListener(() => problem(503, 'pigeonpost is starting: ask again in some seconds'));
  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy());
  });
  await listen(server, host, port);
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${(server.address() as AddressInfo).port}`,
    serve: (sources) => {
      answer = getRequestListener(createApp(sources).fetch);
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

export function createApp(sources: ApiSources): Hono {
  const app = new Hono();
  app.get('/healthz', (c) => c.text('ok'));
  app.get('/readyz', async (c) => {
    await sources.ledger.db.query('select 1');
    return c.text('ok');
  });
  app.use('/api/*', onlyOwnHost(sources.config), onlyOwnOrigin, onlyWithToken(sources.config));
  app.get('/api/status', async (c) => c.json(await readStatus(sources, c.req.query('counts') !== undefined)));
  app.post('/api/actions', onlySmallBodies, async (c) => {
    const action = actionSchema.safeParse(await c.req.json().catch(() => undefined));
    if (!action.success) {
      return problem(
        400,
        'an action has "do" (pause, resume, poll-now), "kind" (workspace, pigeonhole, sink) and "name"',
      );
    }
    const { kind, name } = action.data;
    if (action.data.do === 'poll-now' && kind === 'sink') return problem(400, nothingToReadAtSink);
    if (!(await sources.act(action.data)))
      return problem(404, `no ${kind} ${name} is known; "pigeonpost status" shows what is`);
    return c.json({ done: true });
  });
  app.notFound(() => problem(404, 'there is nothing at this address'));
  app.onError((error) => problem(500, `the request failed: ${reasonForPerson(error)}`));
  return app;
}

/** Only these errors are written for people; others may quote what they failed on. */
function reasonForPerson(error: Error): string {
  if (error instanceof LedgerError || error instanceof StoreError) return error.message;
  return 'ask again; if it goes on, "pigeonpost check" shows what cannot be reached';
}

const onlySmallBodies = bodyLimit({
  maxSize: largestBodyBytes,
  onError: () => problem(413, `the body is too large: send at most ${largestBodyBytes} bytes`),
});

/**
 * Refuses requests that a foreign page makes with a visitor's browser, by a name of its own that leads here (DNS
 * rebinding). With a token there is nothing to gain by that, since the page has none; and off loopback nobody can know
 * by which names this machine is reached.
 */
function onlyOwnHost({ server }: Config): MiddlewareHandler {
  if (server.token !== undefined) return (_, next) => next();
  const own = new Set(['127.0.0.1', 'localhost', '[::1]', server.host.toLowerCase()]);
  return async (c, next) => {
    const host = (c.req.header('host') ?? '').toLowerCase().replace(/:\d+$/, '');
    return own.has(host) ? await next() : problem(421, 'this host name is not served here');
  };
}

/** A browser that names an origin has to name this very server, port included: other programs serve this host too. */
const onlyOwnOrigin: MiddlewareHandler = async (c, next) => {
  const origin = c.req.header('origin');
  if (origin === undefined || isOriginOf(origin, c.req.header('host') ?? '')) return await next();
  return problem(403, 'requests from other origins are refused');
};

function isOriginOf(origin: string, host: string): boolean {
  if (!URL.canParse(origin)) return false; // "null", of a page without one
  const { protocol, host: originHost } = new URL(origin);
  if (protocol !== 'http:' && protocol !== 'https:') return false;
  const own = `${protocol}//${host}`; // read with the same scheme, so that a default port is left out on both sides
  return originHost !== '' && URL.canParse(own) && new URL(own).host === originHost;
}

function onlyWithToken({ server }: Config): MiddlewareHandler {
  const { token } = server;
  if (token === undefined) return (_, next) => next();
  const expected = Buffer.from(`Bearer ${token.reveal()}`);
  return async (c, next) => {
    const given = Buffer.from(c.req.header('authorization') ?? '');
    if (given.length === expected.length && timingSafeEqual(given, expected)) return await next();
    return problem(401, 'send the token of server.token as "Authorization: Bearer …"');
  };
}

/** RFC 9457. */
function problem(status: number, title: string): Response {
  return new Response(JSON.stringify({ status, title }), {
    status,
    headers: { 'content-type': 'application/problem+json' },
  });
}

async function listen(server: Server, host: string, port: number): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const why =
        error.code === 'EADDRINUSE'
          ? 'another program listens there: choose another server.port, or end it'
          : `${error.code ?? error.message}: check server.host and server.port`;
      reject(new ListenError(`cannot listen on ${host}:${port}: ${why}`));
    });
    server.listen(port, host, resolve);
  });
}
