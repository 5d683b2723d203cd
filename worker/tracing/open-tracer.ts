import { type Context, type Span, SpanStatusCode, trace, type Tracer as OpenTelemetryTracer } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { BasicTracerProvider, BatchSpanProcessor, type SpanExporter } from '@opentelemetry/sdk-trace-base';
import type { SpanAttributes, Tracer } from '../../base/telemetry.js';
import { packageVersion } from '../../base/package-root.js';
import type { Config } from '../../config/config.js';
import type { Log } from '../../work/collaborators.js';
import { networkSettings } from '../../work/open-sinks.js';
import { CollectorExporter } from './collector-exporter.js';

/** Spans kept while the collector is slow or away; later ones are dropped. */
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
 * and no library can add spans of its own. Of an error, only its class is recorded: messages may quote personal data.
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
