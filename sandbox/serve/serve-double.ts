import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { DoubleAnswer, DoubleRequest } from './double-request.js';
import { type RequestRule, violationsOf } from './request-rules.js';
import { refusePages } from './refuse-pages.js';
import { FaultPlan, type Fault, type FaultEffect, readFault, type NamedFaults } from './faults.js';

/** Settings that every double has. */
export interface ServeOptions {
  /** Loopback port; 0, the default, picks a free one. */
  readonly port?: number;
  /** The double's clock, milliseconds since 1970. */
  readonly now?: () => number;
  readonly faults?: readonly Fault[];
  /**
   * With `fail`, the default, `close` throws if a request broke a rule of the vendor. `record` is for tests of a double
   * itself, which send such requests on purpose.
   */
  readonly onViolation?: 'fail' | 'record';
}

/** The vendor's side of a double. */
interface Vendor {
  /** Carries out one request to the vendor's API and returns its answer. */
  readonly answer: (request: DoubleRequest) => DoubleAnswer | Promise<DoubleAnswer>;
  /** Returns the double's records, for `GET /_double/state`. */
  readonly state: () => unknown;
  /** Returns the records as an HTML page, for `GET /`; an empty page by default. */
  readonly page?: () => string;
  /** No names by default. */
  readonly namedFaults?: NamedFaults;
  /** Contents that requests may have. Vendors ignore most of what they do not know; the double records it. */
  readonly rules?: readonly RequestRule[];
  /** Further pages of the double for manual use, by path under `/_double/`. */
  readonly files?: Readonly<Record<string, string>>;
}

/** A served request with the status of its answer; `undefined` if the connection was closed instead. */
export interface AnsweredRequest extends DoubleRequest {
  readonly status: number | undefined;
}

export interface RunningDouble {
  /** `http://127.0.0.1:<port>` */
  readonly url: string;
  /** The last 10,000 requests to the vendor's API, oldest first; requests for the double's own pages are left out. */
  readonly requests: readonly AnsweredRequest[];
  readonly faults: FaultPlan;
  /** Contents of requests that break a rule, by name and never by value. A test that sent them on purpose removes them. */
  readonly violations: string[];
  /** A second call does nothing. @throws {Error} with all violations, unless `onViolation` is `record` */
  close(): Promise<void>;
}

const MAX_BODY_BYTES = 32 * 1024 * 1024;
const MAX_KEPT_REQUESTS = 10_000;

/**
 * Serves a vendor on loopback. `/_double/state` and `/` show what it holds, `POST` and `DELETE /_double/faults` add and
 * remove faults; every other path belongs to the vendor. Requests are handled one at a time, in the order in which
 * their bodies are complete.
 * Pages in a browser that the double did not serve get no answer.
 */
export async function serveDouble(vendor: Vendor, options: ServeOptions): Promise<RunningDouble> {
  const now = options.now ?? Date.now;
  const faults = new FaultPlan();
  faults.add(...(options.faults ?? []));
  const requests: AnsweredRequest[] = [];
  const violations: string[] = [];
  let number = 0;

  // Higher than any vendor's limit, so that the vendor's own limit applies first.
  const server = createServer({ maxHeaderSize: 128 * 1024 }, (incoming, outgoing) => {
    if (refusePages(incoming, outgoing)) return;
    serve(incoming, outgoing).catch((error: unknown) => {
      const { message } = error instanceof Error ? error : { message: 'unknown' };
      write(outgoing, { status: 500, json: { double: `the double itself failed: ${message}` } });
    });
  });

  async function serve(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const bytes = await readBody(incoming);
    const body = bytes.toString('utf8');
    const url = new URL(incoming.url ?? '/', 'http://127.0.0.1');
    const method = incoming.method ?? 'GET';
    if (isOwnPath(url.pathname)) return write(outgoing, ownAnswer(vendor, faults, method, url.pathname, body));
    number += 1;
    const request: DoubleRequest = {
      number,
      atMs: now(),
      method,
      path: url.pathname,
      query: url.searchParams,
      headers: Object.fromEntries(Object.entries(incoming.headers).map(([name, value]) => [name, String(value)])),
      body,
      bytes,
    };
    violations.push(...violationsOf(vendor.rules ?? [], request));
    const effect = faults.take(request);
    const answer = await answerOf(vendor, request, effect);
    requests.push({ ...request, status: answer?.status });
    if (requests.length > MAX_KEPT_REQUESTS) requests.shift(); // a double that runs for days must not fill the memory
    if (answer === undefined) return void incoming.socket.destroy();
    if (effect?.kind === 'slow') await new Promise((resolve) => setTimeout(resolve, effect.delayMs).unref());
    write(outgoing, answer);
  }

  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(options.port ?? 0, '127.0.0.1', resolve);
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    faults,
    violations,
    close: async () => {
      if (!server.listening) return;
      await new Promise<void>((resolve, reject) => {
        server.close((error) => (error === undefined ? resolve() : reject(error)));
        server.closeAllConnections(); // a client's kept connection would hold the server open
      });
      if (violations.length === 0 || options.onViolation === 'record') return;
      throw new Error(`requests contained parts that no rule allows:\n${[...new Set(violations)].join('\n')}`);
    },
  };
}

/** `undefined` if no answer is sent. */
async function answerOf(
  vendor: Vendor,
  request: DoubleRequest,
  effect: FaultEffect | undefined,
): Promise<DoubleAnswer | undefined> {
  switch (effect?.kind) {
    case 'answer':
      return effect.answer;
    case 'dropBefore':
      return undefined;
    case 'answerAfter':
      await vendor.answer(request);
      return effect.answer;
    case 'dropAfter':
      await vendor.answer(request);
      return undefined;
    default:
      return vendor.answer(request);
  }
}

function isOwnPath(path: string): boolean {
  return path === '/' || path === '/favicon.ico' || path.startsWith('/_double/');
}

function ownAnswer(vendor: Vendor, faults: FaultPlan, method: string, path: string, body: string): DoubleAnswer {
  if (method === 'GET' && path === '/') return { status: 200, html: vendor.page?.() ?? '' };
  if (method === 'GET' && path === '/_double/state') return { status: 200, json: vendor.state() };
  const file = vendor.files?.[path];
  if (method === 'GET' && file !== undefined) return { status: 200, text: file };
  if (method === 'DELETE' && path === '/_double/faults') {
    faults.clear();
    return { status: 204 };
  }
  if (method === 'POST' && path === '/_double/faults') {
    try {
      faults.add(readFault(JSON.parse(body), vendor.namedFaults));
      return { status: 204 };
    } catch (error) {
      return { status: 400, json: { message: error instanceof Error ? error.message : 'unreadable' } };
    }
  }
  return { status: 404, json: { message: 'a double has GET /, GET /_double/state, POST and DELETE /_double/faults' } };
}

async function readBody(incoming: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of incoming as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MAX_BODY_BYTES) throw new RangeError(`the body has more than ${MAX_BODY_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function write(outgoing: ServerResponse, answer: DoubleAnswer): void {
  const [type, body] = contentOf(answer);
  outgoing.writeHead(answer.status, {
    ...(type !== undefined && { 'content-type': type }),
    ...answer.headers,
  });
  outgoing.end(body);
}

function contentOf(answer: DoubleAnswer): [type: string | undefined, body: string | Buffer | undefined] {
  if (answer.json !== undefined) return ['application/json;charset=utf-8', JSON.stringify(answer.json)];
  if (answer.html !== undefined) return ['text/html; charset=utf-8', answer.html];
  if (answer.text !== undefined) return ['text/plain; charset=utf-8', answer.text];
  return [undefined, answer.bytes];
}
