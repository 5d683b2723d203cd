import { request } from 'undici';
import type { Log } from '../../work/collaborators.js';
import { createDispatcher } from '../../sinks/network/create-dispatcher.js';
import { noAnswerSentence } from '../../sinks/network/no-answer-sentence.js';
import { withinDeadline } from '../../sinks/network/within-deadline.js';
import type { NetworkSettings } from '../../sinks/sink.js';
import { otlpBody } from './otlp-body.js';
import type { EndedSpan } from './otlp-tracer.js';

const sendEveryMs = 5000;
/** A collector that is away costs this much memory and no more; what comes above is not kept. */
const mostSpans = 4096;
const spansAtOnce = 512;
const timeoutMs = 10_000;
const lastTimeoutMs = 2000;

export interface SpanExporterOptions {
  /** Of the collector; `/v1/traces` is appended where it is not there. */
  readonly url: string;
  readonly network: NetworkSettings;
  readonly version: string;
  readonly owner: string;
  readonly log: Log;
}

/** Where a collector takes traces. Source: opentelemetry.io, "OTLP Exporter Configuration", OTLP/HTTP endpoints. */
export function tracesUrl(url: string): URL {
  const given = new URL(url);
  if (!given.pathname.endsWith('/v1/traces')) given.pathname = `${given.pathname.replace(/\/+$/, '')}/v1/traces`;
  return given;
}

/** Sends spans to a collector, some seconds late and in groups. Traces are a help, not a promise: what it does not take is lost. */
export class SpanExporter {
  readonly #spans: EndedSpan[] = [];
  readonly #url: URL;
  readonly #dispatcher;
  readonly #timer: NodeJS.Timeout;
  readonly #stopping = new AbortController();
  #sending: Promise<void> = Promise.resolve();
  #isFailing = false;

  constructor(private readonly options: SpanExporterOptions) {
    this.#url = tracesUrl(options.url);
    const connections = { allowPrivateAddresses: true, connectTimeoutMs: timeoutMs, connections: 1 };
    this.#dispatcher = createDispatcher(this.#url, options.network, connections);
    this.#timer = setInterval(() => this.#flushSoon(timeoutMs), sendEveryMs);
  }

  add(span: EndedSpan): void {
    if (this.#spans.length < mostSpans) this.#spans.push(span);
    if (this.#spans.length === spansAtOnce) this.#flushSoon(timeoutMs);
  }

  /** Sends what is there, for two seconds at most. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    this.#flushSoon(lastTimeoutMs);
    const last = setTimeout(() => this.#stopping.abort(), lastTimeoutMs);
    await this.#sending;
    clearTimeout(last);
    await this.#dispatcher.close();
  }

  #flushSoon(withinMs: number): void {
    if (this.#spans.length === 0) return;
    this.#sending = this.#sending.then(() => this.#flush(withinMs));
  }

  async #flush(withinMs: number): Promise<void> {
    while (this.#spans.length > 0 && !this.#stopping.signal.aborted) {
      // oxlint-disable-next-line no-await-in-loop -- one group after another
      const problem = await this.#send(this.#spans.splice(0, spansAtOnce), withinMs);
      if (problem !== null && !this.#isFailing) this.options.log.warn({ detail: problem }, 'traces are not taken');
      this.#isFailing = problem !== null;
      if (this.#isFailing) return;
    }
  }

  /** @returns why they were not taken; null when they were */
  async #send(spans: readonly EndedSpan[], withinMs: number): Promise<string | null> {
    const body = JSON.stringify(otlpBody(spans, this.options));
    const { host } = this.#url;
    try {
      return await withinDeadline(this.#stopping.signal, withinMs, async (signal) => {
        const headers = { 'content-type': 'application/json', 'user-agent': 'pigeonpost' };
        const answer = await request(this.#url, {
          method: 'POST',
          dispatcher: this.#dispatcher,
          signal,
          headers,
          body,
        });
        await answer.body.dump({ limit: 64 * 1024, signal }).catch(() => undefined);
        const isTaken = answer.statusCode >= 200 && answer.statusCode < 300;
        return isTaken ? null : `${host} does not take traces (HTTP ${answer.statusCode}): check telemetry.otlp`;
      });
    } catch (error) {
      return noAnswerSentence(error, { host, name: 'the collector', timeoutMs: withinMs });
    }
  }
}
