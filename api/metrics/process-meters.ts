import { collectDefaultMetrics, Counter, Histogram, Registry } from 'prom-client';
import type { CountedRequest } from '../../work/open-clients.js';

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
