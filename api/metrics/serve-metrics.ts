import type { ProbeSources, ApiApp, ApiContext, ApiEnvironment } from '../api-app.js';
import type { MiddlewareHandler } from 'hono';
import { alertFigures, importFigures } from '../../operations/ledger-status.js';
import { Refused } from '../problem.js';
import { requireEveryWorkspace } from '../scope.js';
import { readSnapshot, type StatusSources } from '../../operations/read-status.js';
import { type Figure, formatFigures, ledgerFigures } from './ledger-figures.js';
import { collectDefaultMetrics, Counter, Histogram, Registry } from 'prom-client';
import type { CountedRequest } from '../../requests/clients.js';

/** Every code of the specification. Other values in a body must not become labels. */
const knownCodes = /^(?:450\d|451[0-2]|5000|6000|7001|8000|9000)$/;

function codeLabel({ status, code }: Pick<CountedRequest, 'status' | 'code'>): string {
  if (code !== null && knownCodes.test(String(code))) return String(code);
  return status === null ? 'none' : String(status);
}

/**
 * Counts of this process since its start: requests, changes found and sent, CPU, memory and event loop. The state of
 * the ledger, which is the same for all processes, is in `ledger-figures.ts`.
 */
export class ProcessMeters {
  readonly #registry = new Registry();
  readonly #requests = new Counter({
    name: 'pigeonpost_service_requests_total',
    help: 'Requests to the Event Engagement Service, by its error code, otherwise by HTTP status; "none": no answer.',
    labelNames: ['workspace', 'code'],
    registers: [this.#registry],
  });
  readonly #requestSeconds = new Histogram({
    name: 'pigeonpost_service_request_duration_seconds',
    help: 'Time from a request to the service to the end of its answer.',
    labelNames: ['workspace'],
    buckets: [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
    registers: [this.#registry],
  });
  readonly #foundSeconds = new Histogram({
    name: 'pigeonpost_detection_delay_seconds',
    help: 'Age of the newest item of a live list, by the clock of the service, when a page with new items was stored.',
    labelNames: ['list'],
    buckets: [1, 2, 5, 10, 15, 30, 60, 300, 3600],
    registers: [this.#registry],
  });
  readonly #outcomes = new Counter({
    name: 'pigeonpost_delivery_outcomes_total',
    help: 'Changes that were sent to a sink, by outcome.',
    labelNames: ['sink', 'outcome'],
    registers: [this.#registry],
  });
  readonly #answers = new Counter({
    name: 'pigeonpost_api_requests_total',
    help: 'Requests that this API has answered, by HTTP status.',
    labelNames: ['method', 'status'],
    registers: [this.#registry],
  });

  readonly #refusedTokens = new Counter({
    name: 'pigeonpost_api_refused_tokens_total',
    help: 'Tokens and sessions that this API has refused, because they are unknown or their address has to wait.',
    labelNames: ['reason'],
    registers: [this.#registry],
  });

  /** @param options.withNode also collect the metrics of Node.js, until the process ends */
  constructor({ withNode }: { readonly withNode: boolean }) {
    if (withNode) collectDefaultMetrics({ register: this.#registry });
  }

  requested(request: Omit<CountedRequest, 'method' | 'requestId' | 'kind'>): void {
    const { workspace, durationMs } = request;
    this.#requests.inc({ workspace, code: codeLabel(request) });
    this.#requestSeconds.observe({ workspace }, durationMs / 1000);
  }

  found(list: string, ageMs: number): void {
    this.#foundSeconds.observe({ list }, Math.max(0, ageMs) / 1000);
  }

  settled(sink: string, outcomes: Readonly<Record<string, number>>): void {
    for (const [outcome, n] of Object.entries(outcomes)) if (n > 0) this.#outcomes.inc({ sink, outcome }, n);
  }

  answered(method: string, status: number): void {
    const known = ['GET', 'HEAD', 'POST', 'OPTIONS'].includes(method) ? method : 'other';
    this.#answers.inc({ method: known, status: String(status) });
  }

  refusedToken(reason: 'unknown' | 'waiting'): void {
    this.#refusedTokens.inc({ reason });
  }

  /** In Prometheus' text format. */
  async text(): Promise<string> {
    return await this.#registry.metrics();
  }
}

/** The ledger is read at most this often, whatever the number of scrapers. */
const rememberForMs = 1000;

/** Counts the responses of the API. */
export function countAnswers(meters: ProcessMeters): MiddlewareHandler<ApiEnvironment> {
  return async (c, next) => {
    await next();
    meters.answered(c.req.method, c.res.status);
  };
}

/** `GET /metrics`: the metrics of this process, of the ledger, and of the Temporal SDK. Requires the right `read`. */
export function serveMetrics(app: ApiApp, sources: ProbeSources): void {
  const ledgerText = remembered(() => readLedgerText(sources));
  app.get('/metrics', async (c) => {
    requireEveryWorkspace(c as ApiContext);
    if (!c.get('caller').rights.has('read')) throw new Refused(403, 'this token may not read the state of the work');
    const [ofLedger, ofProcess, ofTemporal] = await Promise.all([
      ledgerText().catch(() => formatFigures([storeUp(0)])), // operators need this process's own metrics most when the store does not answer
      sources.meters.text(),
      sources.temporalMetrics().catch(() => ''),
    ]);
    return c.text(`${ofLedger}${ofProcess}${ofTemporal}`, 200, {
      'content-type': 'text/plain; version=0.0.4; charset=utf-8',
    });
  });
}

function storeUp(value: 0 | 1): Figure {
  const help = '1 when the figures of the ledger could be read.';
  return { name: 'pigeonpost_store_up', help, type: 'gauge', samples: [{ labels: {}, value }] };
}

/** Returns the metrics of the ledger in Prometheus' text format. */
export async function readLedgerText(sources: StatusSources & Pick<ProbeSources, 'version'>): Promise<string> {
  const { ledger, config, version } = sources;
  const [{ status, lanes, places, sweeps, now }, imports, alerts] = await Promise.all([
    readSnapshot(sources, null),
    importFigures(ledger),
    alertFigures(ledger),
  ]);
  const facts = { now, version, config, status, lanes, places, sweeps, imports, alerts };
  return await formatFigures([...ledgerFigures(facts), storeUp(1)]);
}

/** Shares one result among all requests within a short time. A failure is not cached. */
function remembered(read: () => Promise<string>): () => Promise<string> {
  let last: { readonly text: Promise<string>; readonly untilMs: number } | undefined;
  return () => {
    if (last !== undefined && last.untilMs > performance.now()) return last.text;
    const text = read();
    last = { text, untilMs: performance.now() + rememberForMs };
    text.catch(() => {
      last = undefined;
    });
    return text;
  };
}
