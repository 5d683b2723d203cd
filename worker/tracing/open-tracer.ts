import { type Context, type Span, SpanStatusCode, trace, type Tracer as OpenTelemetryTracer } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { resourceFromAttributes } from '@opentelemetry/resources';
import {
  BasicTracerProvider,
  BatchSpanProcessor,
  type SpanExporter,
  type ReadableSpan,
} from '@opentelemetry/sdk-trace-base';
import type { SpanAttributes, Tracer } from '../../base/tracer.js';
import type { Log } from '../../base/log.js';
import { packageVersion } from '../../base/package-root.js';
import type { Config } from '../../config/config.js';
import { networkSettings } from '../../delivering/open-sinks.js';
import { JsonTraceSerializer } from '@opentelemetry/otlp-transformer';
import { request } from 'undici';
import { createDispatcher } from '../../sinks/network/create-dispatcher.js';
import { noAnswerSentence } from '../../sinks/network/failure-sentence.js';
import { withinDeadline } from '../../sinks/network/within-deadline.js';
import type { NetworkSettings } from '../../sinks/sink.js';

/** Maximum number of spans kept while the collector is slow or unreachable; later spans are dropped. */
const maxSpans = 4096;
const spansPerRequest = 512;
const sendEveryMs = 5000;

/**
 * Opens the tracer that sends spans to the configured collector. Load this module only if `telemetry.otlp` is set: it
 * brings in OpenTelemetry's SDK (decision 0085).
 * @param closers receives the function that sends the last spans, for two seconds at most
 */
export function openTracer(
  config: Config & { readonly otlpUrl: string },
  { owner, log }: { readonly owner: string; readonly log: Log },
  closers: (() => Promise<void>)[],
): Tracer {
  const exporter = new CollectorExporter({ url: config.otlpUrl, network: networkSettings(config), log });
  const tracer = new SdkTracer(exporter, { version: packageVersion(), owner });
  closers.push(() => exporter.closeAfter(() => tracer.flush()));
  return tracer;
}

/**
 * Records spans with OpenTelemetry's SDK. Nothing is registered globally, so the tracer belongs to one process object
 * and no library can add its own spans. Of an error, only the class is recorded, because messages may quote personal
 * data.
 */
export class SdkTracer implements Tracer {
  readonly #contexts = new AsyncLocalStorageContextManager();
  readonly #provider: BasicTracerProvider;
  readonly #tracer: OpenTelemetryTracer;

  constructor(exporter: SpanExporter, { version, owner }: { readonly version: string; readonly owner: string }) {
    const processor = new BatchSpanProcessor(exporter, {
      maxQueueSize: maxSpans,
      maxExportBatchSize: spansPerRequest,
      scheduledDelayMillis: sendEveryMs,
    });
    const resource = resourceFromAttributes({
      'service.name': 'pigeonpost',
      'service.version': version,
      'service.instance.id': owner,
    });
    this.#provider = new BasicTracerProvider({ resource, spanProcessors: [processor] });
    this.#tracer = this.#provider.getTracer('pigeonpost', version);
  }

  async span<Result>(name: string, attributes: SpanAttributes, work: () => Promise<Result>): Promise<Result> {
    const parent = this.#contexts.active();
    const span = this.#start(name, attributes, parent);
    try {
      return await this.#contexts.with(trace.setSpan(parent, span), work);
    } catch (error) {
      fail(span, error instanceof Error ? error.constructor.name : 'unknown');
      throw error;
    } finally {
      span.end();
    }
  }

  ended(name: string, attributes: SpanAttributes, took: { durationMs: number; failure: string | null }): void {
    const endMs = Date.now();
    const span = this.#start(name, attributes, this.#contexts.active(), endMs - took.durationMs);
    if (took.failure !== null) fail(span, took.failure);
    span.end(endMs);
  }

  /** Hands all finished spans to the exporter and stops. Spans that the collector refuses are lost. */
  async flush(): Promise<void> {
    await this.#provider.shutdown().catch(() => undefined); // the exporter has logged why
  }

  #start(name: string, attributes: SpanAttributes, parent: Context, startTime: number = Date.now()): Span {
    const known = Object.entries(attributes).filter((entry): entry is [string, string | number] => entry[1] !== null);
    return this.#tracer.startSpan(name, { attributes: Object.fromEntries(known), startTime }, parent);
  }
}

function fail(span: Span, kind: string): void {
  span.setAttribute('error.type', kind).setStatus({ code: SpanStatusCode.ERROR });
}

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
 * Sends finished spans to an OpenTelemetry collector. It does not use the SDK's transport, because spans must follow
 * the network settings of this process: proxy, CA, address rules and timeouts. A failed request is not repeated.
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

  /**
   * Called by the SDK when it has handed over all spans. The SDK does not wait for requests that its timer started, so
   * this does.
   */
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
