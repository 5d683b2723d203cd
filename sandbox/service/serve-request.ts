import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { type FaultKind, type FaultRule, type FaultSubject, retryAfterOf } from './faults.js';
import { resourceOf, answerRequest, type ServiceAnswer, type ServiceRequest, type ServiceState } from './service.js';

const MAX_BODY_BYTES = 64 * 2 ** 20;

/** Serves one request: reads it, applies faults to its connection, answers, and logs it. */
export async function serveRequest(
  state: ServiceState,
  incoming: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const startedAtMs = state.now();
  const requestId = nextRequestId(startedAtMs);
  const url = new URL(incoming.url ?? '/', `http://${incoming.headers.host ?? 'localhost'}`);
  const method = incoming.method ?? 'GET';
  const faults = state.faults.fireFor(subjectOf(method, url));
  const logged: LoggedRequest = {
    at: new Date(startedAtMs).toISOString(),
    method,
    path: url.pathname,
    query: url.search.slice(1),
    status: null,
    code: null,
    durationMs: 0,
    inFlight: state.log.begin(),
    requestId,
    faults: [...faults.keys()],
  };
  const startedAt = performance.now();
  try {
    const body = method === 'GET' ? '' : await readBody(incoming);
    await waitFor(state.knobs.latencyMs + (faults.get('delay')?.ms ?? 0));
    if (faults.has('dropBefore')) {
      incoming.socket.destroy();
      return;
    }
    const answer = answerOf(state, { method, url, incoming, body }, faults);
    if (faults.has('dropAfter')) {
      incoming.socket.destroy();
      return;
    }
    logged.status = answer.status;
    logged.code = codeOf(answer);
    const trickleMs = faults.get('trickle')?.ms;
    if (trickleMs === undefined) send(response, answer, { requestId, cut: faults.has('cutBody') });
    else await trickle(response, answer, { requestId, ms: trickleMs });
  } finally {
    logged.durationMs = Math.round((performance.now() - startedAt) * 10) / 10;
    state.log.end(logged);
  }
}

function answerOf(
  state: ServiceState,
  { method, url, incoming, body }: { method: string; url: URL; incoming: IncomingMessage; body: string },
  faults: ReadonlyMap<FaultKind, FaultRule>,
): ServiceAnswer {
  const throttled = faults.get('text503');
  if (throttled !== undefined) {
    const headers = { 'Content-Type': 'text/plain', ...retryAfterOf(throttled, state.now()) };
    return { status: 503, headers, body: 'Service Unavailable' };
  }
  const apiKey = incoming.headers['x-api-key'];
  const request: ServiceRequest = {
    method,
    path: url.pathname,
    query: url.searchParams,
    url: url.origin + url.pathname,
    apiKey: typeof apiKey === 'string' ? apiKey : undefined,
    contentType: incoming.headers['content-type'],
    body,
  };
  const answer = answerRequest(state, request, faults);
  if (faults.has('htmlBody')) return { ...answer, body: '<html><body>Please try again later</body></html>' };
  if (faults.has('wrongContentType')) answer.headers['Content-Type'] = 'text/html; charset=utf-8';
  return answer;
}

function send(response: ServerResponse, answer: ServiceAnswer, options: { requestId: string; cut: boolean }): void {
  const body = typeof answer.body === 'string' ? Buffer.from(answer.body) : answer.body;
  const headers: Record<string, string> = { ...answer.headers, 'X-Request-Id': options.requestId };
  if (answer.status !== 204 && answer.status !== 304) headers['Content-Length'] = String(body.length);
  response.writeHead(answer.status, headers);
  if (!options.cut || body.length === 0) {
    response.end(body);
    return;
  }
  response.write(body.subarray(0, Math.floor(body.length / 2)), () => response.destroy());
}

/** Number of pieces of an answer that trickles. */
const PIECES = 20;

/** Sends the body in pieces, evenly spread over `ms`. */
async function trickle(
  response: ServerResponse,
  answer: ServiceAnswer,
  { requestId, ms }: { requestId: string; ms: number },
): Promise<void> {
  const body = Buffer.from(answer.body);
  response.writeHead(answer.status, {
    ...answer.headers,
    'X-Request-Id': requestId,
    'Content-Length': String(body.length),
  });
  const size = Math.ceil(body.length / PIECES);
  for (let sent = 0; sent < body.length && !response.destroyed; sent += size) {
    response.write(body.subarray(sent, sent + size));
    await waitFor(ms / PIECES);
  }
  response.end();
}

/** Returns the properties that fault rules match. An invalid pigeonhole id counts as none; the operation reports it. */
export function subjectOf(method: string, url: URL): FaultSubject {
  let resource: ReturnType<typeof resourceOf>;
  try {
    resource = resourceOf(url.pathname);
  } catch {
    resource = undefined;
  }
  return {
    method,
    path: url.pathname,
    list: resource?.list ?? null,
    pigeonholeId: resource?.pigeonholeId ?? null,
    sessionFilter: url.searchParams.get('filter[sessionId]'),
    hasCursor: (url.searchParams.get('cursor') ?? '') !== '',
    filtered: [...url.searchParams.keys()].some((name) => name.startsWith('filter[') && name !== 'filter[sessionId]'),
  };
}

async function readBody(incoming: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of incoming as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MAX_BODY_BYTES) throw new RangeError(`a request body may hold at most ${MAX_BODY_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

async function waitFor(ms: number): Promise<void> {
  // A held answer does not keep the process alive once the server is closed.
  if (ms > 0) await sleep(ms, undefined, { ref: false });
}

let requests = 0;

/** Returns an id that is unique in this process. The start time makes equal ids in different runs unlikely. */
function nextRequestId(nowMs: number): string {
  requests += 1;
  return `${nowMs.toString(16).padStart(12, '0')}-${requests.toString(16).padStart(8, '0')}`;
}

function codeOf(answer: ServiceAnswer): number | null {
  if (answer.status < 400 || typeof answer.body !== 'string') return null;
  const match = /^\{"code":(\d+)/.exec(answer.body);
  return match === null ? null : Number(match[1]);
}

/** One received request. Queries contain ids and filters, never names or answers. */
interface LoggedRequest {
  /** Time of arrival, ISO 8601. */
  at: string;
  method: string;
  path: string;
  query: string;
  /** Null if the connection was closed without an answer. */
  status: number | null;
  /** The code of the error body; null for a success. */
  code: number | null;
  durationMs: number;
  /** Number of requests in progress at arrival, including this one. */
  inFlight: number;
  requestId: string;
  /** Kinds of the faults that affected the request. */
  faults: string[];
}

const CAPACITY = 10_000;

/** Counts all requests and stores the latest ones. */
export class RequestLog {
  #latest: LoggedRequest[] = [];
  #counts = new Map<string, number>();
  #total = 0;
  #inFlight = 0;

  begin(): number {
    this.#inFlight += 1;
    return this.#inFlight;
  }

  end(request: LoggedRequest): void {
    this.#inFlight -= 1;
    this.#total += 1;
    const outcome = request.status === null ? 'dropped' : (request.code ?? request.status);
    const name = `${request.method} ${request.path} ${outcome}`;
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1);
    this.#latest.push(request);
    if (this.#latest.length > 2 * CAPACITY) this.#latest = this.#latest.slice(-CAPACITY);
  }

  /** Returns the latest requests, oldest first, at most 10,000. */
  latest(count: number): LoggedRequest[] {
    return this.#latest.slice(-Math.min(count, CAPACITY));
  }

  /** Returns the number of requests since the last reset, by method, path and code (or status without a code). */
  counts(): { total: number; inFlight: number; byPathAndCode: Record<string, number> } {
    const byPathAndCode = Object.fromEntries([...this.#counts].toSorted(([a], [b]) => a.localeCompare(b)));
    return { total: this.#total, inFlight: this.#inFlight, byPathAndCode };
  }

  reset(): void {
    this.#latest = [];
    this.#counts = new Map();
    this.#total = 0;
  }
}
