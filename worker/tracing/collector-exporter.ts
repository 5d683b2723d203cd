import { JsonTraceSerializer } from '@opentelemetry/otlp-transformer';
import type { ReadableSpan, SpanExporter } from '@opentelemetry/sdk-trace-base';
import { request } from 'undici';
import { createDispatcher } from '../../sinks/network/create-dispatcher.js';
import { noAnswerSentence } from '../../sinks/network/failure-sentence.js';
import { withinDeadline } from '../../sinks/network/within-deadline.js';
import type { NetworkSettings } from '../../sinks/sink.js';
import type { Log } from '../../work/collaborators.js';

const timeoutMs = 10_000;
const lastTimeoutMs = 2000;

type Done = Parameters<SpanExporter['export']>[1];

/** Returns where a collector accepts traces. Source: opentelemetry.io, "OTLP Exporter Configuration", OTLP/HTTP endpoints. */
export function tracesUrl(url: string): URL {
  const given = new URL(url);
  if (!given.pathname.endsWith('/v1/traces')) given.pathname = `${given.pathname.replace(/\/+$/, '')}/v1/traces`;
  return given;
}

/**
 * Sends finished spans to an OpenTelemetry collector. Our own transport, because spans have to follow the network
 * settings of this process: proxy, CA, address rules and timeouts. A request that fails is not repeated.
 */
export class CollectorExporter implements SpanExporter {
  readonly #url: URL;
  readonly #dispatcher;
  readonly #log: Log;
  readonly #stopping = new AbortController();
  readonly #sending = new Set<Promise<void>>();
  #isFailing = false;

  /** @param options.url of the collector; `/v1/traces` is appended unless it is there */
  constructor(options: { readonly url: string; readonly network: NetworkSettings; readonly log: Log }) {
    this.#url = tracesUrl(options.url);
    this.#log = options.log;
    const connections = { allowPrivateAddresses: true, connectTimeoutMs: timeoutMs, connections: 1 };
    this.#dispatcher = createDispatcher(this.#url, options.network, connections);
  }

  export(spans: ReadableSpan[], done: Done): void {
    const sending = this.#send(spans).then((problem) => {
      this.#sending.delete(sending);
      if (problem !== null && !this.#isFailing) {
        this.#log.warn({ detail: problem }, 'the collector does not accept traces');
      }
      this.#isFailing = problem !== null;
      done({ code: problem === null ? 0 : 1 }); // SUCCESS or FAILED of the SDK's ExportResultCode
    });
    this.#sending.add(sending);
  }

  /** The SDK calls this when all spans were handed over; it does not wait for requests that a timer has started. */
  async shutdown(): Promise<void> {
    await Promise.all(this.#sending);
  }

  /** Sends what `flush` hands over, for two seconds at most, and closes the connection. */
  async closeAfter(flush: () => Promise<void>): Promise<void> {
    const last = setTimeout(() => this.#stopping.abort(), lastTimeoutMs);
    await flush();
    await this.shutdown();
    clearTimeout(last);
    await this.#dispatcher.close();
  }

  /** @returns why the collector did not accept the spans; null if it did */
  async #send(spans: ReadableSpan[]): Promise<string | null> {
    const { host } = this.#url;
    try {
      const body = JsonTraceSerializer.serializeRequest(spans);
      return await withinDeadline(this.#stopping.signal, timeoutMs, async (signal) => {
        const headers = { 'content-type': 'application/json', 'user-agent': 'pigeonpost' };
        const dispatcher = this.#dispatcher;
        const answer = await request(this.#url, { method: 'POST', dispatcher, signal, headers, body: body ?? null });
        await answer.body.dump({ limit: 64 * 1024, signal }).catch(() => undefined);
        const isAccepted = answer.statusCode >= 200 && answer.statusCode < 300;
        return isAccepted ? null : `${host} does not accept traces (HTTP ${answer.statusCode}): check telemetry.otlp`;
      });
    } catch (error) {
      return noAnswerSentence(error, { host, name: 'the collector', timeoutMs });
    }
  }
}
