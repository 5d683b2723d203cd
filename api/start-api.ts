import { timingSafeEqual } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import { Hono, type MiddlewareHandler } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import type { Config } from '../config/config.js';
import { StoreError } from '../ledger/drivers/store-error.js';
import { LedgerError } from '../ledger/ledger-error.js';
import type { Ledger } from '../ledger/ledger.js';
import { serveDeadLetters } from './dead-letters.js';
import { serveDeletions } from './deletions.js';
import { type Action, type ActionResult, actionSchema } from './action.js';
import {
  type AppliedConfiguration,
  applySchema,
  type Candidate,
  candidateSchema,
  type ConfigurationPlan,
} from './configuration-plan.js';
import { type Preview, type PreviewRequest, previewRequestSchema } from './preview.js';
import { serveFields } from './fields.js';
import { type ReplayRequest, replayRequestSchema, type ReplayResult } from './replay-request.js';
import { type QuotaView, readStatus } from './status.js';
import { explain, whyQuerySchema } from './why.js';

/** What the API needs of the process that serves it. */
export interface ApiSources {
  readonly config: Config;
  readonly ledger: Ledger;
  readonly configuration: number;
  /** Why the last turn of this process failed as a whole; null when it did not. */
  readonly trouble: () => string | null;
  /** How the quota of each workspace's key stands; of those that were used. */
  readonly quotas: () => Promise<ReadonlyMap<string, QuotaView>>;
  /** Tells sinks that there is something to deliver. */
  readonly wakeSinks: (names: readonly string[]) => Promise<void>;
  /** Writes a person's request to the ledger, then wakes the work. */
  readonly act: (action: Action) => Promise<ActionResult>;
  readonly replay: (wanted: ReplayRequest) => Promise<ReplayResult>;
  /** @throws {ConfigError} or another error of a configuration that cannot be used */
  readonly planConfiguration: (candidate: Candidate) => Promise<ConfigurationPlan>;
  readonly applyConfiguration: () => Promise<AppliedConfiguration>;
  /** What a sink would be sent; throws as `planConfiguration`. */
  readonly preview: (asked: PreviewRequest) => Promise<Preview | { readonly unknown: string }>;
}

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
/** Of a whole configuration file. */
const largestFileBytes = 1024 * 1024;
/** Of two. */
const largestPreviewBytes = 2 * largestFileBytes;

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
  app.post('/api/actions', onlyBodiesUpTo(largestBodyBytes), async (c) => {
    const action = actionSchema.safeParse(await c.req.json().catch(() => undefined));
    if (!action.success) {
      return problem(
        400,
        'an action has "do" (pause, resume, poll-now, sweep; approve for a sink), "kind" (workspace, pigeonhole, sink), "name", and may have "list", "by" and "reason"',
      );
    }
    const { kind, name } = action.data;
    const reads = action.data.do === 'poll-now' || action.data.do === 'sweep';
    if (reads && kind === 'sink') return problem(400, nothingToReadAtSink);
    const result = await sources.act(action.data);
    if (result === 'unknown') return problem(404, `no ${kind} ${name} is known; "pigeonpost status" shows what is`);
    return result === 'done' ? c.json({ done: true }) : problem(409, result.refused);
  });
  app.post('/api/replays', onlyBodiesUpTo(largestBodyBytes), async (c) => {
    const wanted = replayRequestSchema.safeParse(await c.req.json().catch(() => undefined));
    if (!wanted.success) {
      return problem(
        400,
        'a replay has "id" (a UUID), "sink", "lists", "pigeonhole" and "from" (an instant), each null for all, and "dryRun"',
      );
    }
    const result = await sources.replay(wanted.data);
    return 'unknown' in result ? problem(404, `${result.unknown}; "pigeonpost status" shows what is`) : c.json(result);
  });
  app.post('/api/configuration/plan', onlyBodiesUpTo(largestFileBytes), async (c) => {
    const candidate = candidateSchema.safeParse(await c.req.json().catch(() => undefined));
    if (!candidate.success) return problem(400, 'a plan is asked for with {}, or with "file" and its "text"');
    return await usable(async () => c.json(await sources.planConfiguration(candidate.data)));
  });
  app.post('/api/configuration/apply', onlyBodiesUpTo(largestBodyBytes), async (c) => {
    const asked = applySchema.safeParse(await c.req.json().catch(() => undefined));
    if (!asked.success) return problem(400, 'apply takes "file", the absolute path of the file that is to be applied');
    const own = sources.config.file;
    if (asked.data.file !== own) {
      return problem(
        409,
        `this pigeonpost was started with ${own}: put what is to be applied there, or start it with the other file`,
      );
    }
    return await usable(async () => c.json(await sources.applyConfiguration()));
  });
  serveFields(app, sources, problem);
  serveDeletions(app, sources, { problem, bodies: onlyBodiesUpTo(largestBodyBytes) });
  app.post('/api/preview', onlyBodiesUpTo(largestPreviewBytes), async (c) => {
    const asked = previewRequestSchema.safeParse(await c.req.json().catch(() => undefined));
    if (!asked.success) {
      return problem(
        400,
        'a preview has "sink", "list", "pigeonhole" and "key" (each null for all), "limit" (1 to 1000), "configuration" and "changedFrom" (null, or with "file" and "text")',
      );
    }
    return await usable(async () => {
      const shown = await sources.preview(asked.data);
      return 'unknown' in shown ? problem(404, `${shown.unknown}; "pigeonpost status" shows what is`) : c.json(shown);
    });
  });
  app.get('/api/why', async (c) => {
    const asked = whyQuerySchema.safeParse(c.req.query());
    if (!asked.success) {
      return problem(
        400,
        'why takes "list", the name of one, and "key", at most 200 printable characters, and may have "pigeonhole" (ID or WORKSPACE/ID)',
      );
    }
    const { list, key, pigeonhole = null } = asked.data;
    return c.json({ items: await explain(sources.ledger, { list, key, pigeonhole }) });
  });
  serveDeadLetters(app, sources, { problem, bodies: onlyBodiesUpTo(largestBodyBytes) });
  app.notFound(() => problem(404, 'there is nothing at this address'));
  app.onError((error) => problem(500, `the request failed: ${reasonForPerson(error)}`));
  return app;
}

/** Only these errors are written for people; others may quote what they failed on. */
function reasonForPerson(error: Error): string {
  if (error instanceof LedgerError || error instanceof StoreError) return error.message;
  return 'ask again; if it goes on, "pigeonpost check" shows what cannot be reached';
}

function onlyBodiesUpTo(maxSize: number): MiddlewareHandler {
  return bodyLimit({
    maxSize,
    onError: () => problem(413, `the body is too large: send at most ${maxSize} bytes`),
  });
}

/** Answers 422, with every problem, for a configuration that cannot be used. */
async function usable(work: () => Promise<Response>): Promise<Response> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof Error && unusable.has(error.name)) return problem(422, error.message);
    if (error instanceof LedgerError && error.kind === 'configuration') return problem(409, error.message);
    throw error;
  }
}

/** By name: they belong to rooms that this one does not know. */
const unusable: ReadonlySet<string> = new Set(['ConfigError', 'ClientOptionsError']);

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
