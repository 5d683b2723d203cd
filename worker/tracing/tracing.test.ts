import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { JsonTraceSerializer } from '@opentelemetry/otlp-transformer';
import { InMemorySpanExporter, type ReadableSpan } from '@opentelemetry/sdk-trace-base';
import { CollectorExporter, tracesUrl, SdkTracer } from './open-tracer.js';
import { createDeferred } from '../../base/deferred.js';
import { stopTimers } from '../../test/kit/stop-timers.js';

class RefusedError extends Error {}

/** Keeps its spans when the tracer shuts down, unlike the SDK's. */
class KeptSpans extends InMemorySpanExporter {
  readonly spans: ReadableSpan[] = [];

  override export(...[spans, done]: Parameters<InMemorySpanExporter['export']>): void {
    this.spans.push(...spans);
    super.export(spans, done);
  }
}

async function spansOf(work: (tracer: SdkTracer) => Promise<void>): Promise<ReadableSpan[]> {
  const exporter = new KeptSpans();
  const tracer = new SdkTracer(exporter, { version: '1.0.0', owner: 'host/1' });
  await work(tracer);
  await tracer.flush();
  return exporter.spans;
}

/** Returns the span as a collector receives it. */
function sent(span: ReadableSpan): object {
  const body = JSON.parse(Buffer.from(JsonTraceSerializer.serializeRequest([span])!).toString()) as {
    resourceSpans: { scopeSpans: { spans: object[] }[] }[];
  };
  return body.resourceSpans[0]!.scopeSpans[0]!.spans[0]!;
}

describe('a traced cycle', () => {
  it('is one trace with everything that happens in it, even if other work runs at the same time', async () => {
    const spans = await spansOf(async (tracer) => {
      const deliver = (sink: string): Promise<void> =>
        tracer.span('deliver', { sink }, async () => {
          await new Promise((resolve) => setImmediate(resolve));
          tracer.ended('GET', { 'http.response.status_code': 200 }, { durationMs: 5, failure: null });
        });
      await Promise.all([deliver('one'), deliver('two')]);
    });
    const roots = spans.filter(({ parentSpanContext }) => parentSpanContext === undefined);
    expect(roots.map(({ attributes }) => String(attributes['sink'])).toSorted()).toEqual(['one', 'two']);
    expect(new Set(roots.map((root) => root.spanContext().traceId)).size).toBe(2);
    for (const root of roots) {
      const { traceId, spanId } = root.spanContext();
      const within = spans.filter((span) => span.spanContext().traceId === traceId && span !== root);
      expect(
        within.map(({ parentSpanContext, name, duration }) => [parentSpanContext?.spanId, name, duration]),
      ).toEqual([[spanId, 'GET', [0, 5_000_000]]]);
    }
  });

  it('returns or throws what its work does, and exports only the class of an error', async () => {
    const spans = await spansOf(async (tracer) => {
      expect(await tracer.span('read', {}, async () => 5)).toBe(5);
      const failing = tracer.span('read', {}, () => Promise.reject(new RefusedError('refused for Person 1')));
      await expect(failing).rejects.toThrow('refused for Person 1');
    });
    expect(spans.map(({ attributes }) => attributes['error.type'])).toEqual([undefined, 'RefusedError']);
    expect(JSON.stringify(spans.map(sent))).not.toContain('Person');
  });
});

describe('the spans sent to a collector', () => {
  afterEach(() => jest.useRealTimers());

  it('have times in nanoseconds as text, and no attributes that are null', async () => {
    const [span] = await spansOf(async (tracer) => {
      const attributes = { workspace: 'acme', pages: 3, share: 0.5, code: null };
      tracer.ended('read', attributes, { durationMs: 1000, failure: null });
    });
    expect(sent(span!)).toMatchObject({
      traceId: expect.stringMatching(/^[\da-f]{32}$/),
      spanId: expect.stringMatching(/^[\da-f]{16}$/),
      name: 'read',
      kind: 1,
      startTimeUnixNano: expect.stringMatching(/^\d{19}$/),
      endTimeUnixNano: expect.stringMatching(/^\d{19}$/),
      attributes: [
        { key: 'workspace', value: { stringValue: 'acme' } },
        { key: 'pages', value: { intValue: 3 } },
        { key: 'share', value: { doubleValue: 0.5 } },
      ],
      status: { code: 0 },
    });
  });

  it.each([
    ['http://collector:4318', 'http://collector:4318/v1/traces'],
    ['http://collector:4318/', 'http://collector:4318/v1/traces'],
    ['https://otlp.example.com/tenant', 'https://otlp.example.com/tenant/v1/traces'],
    ['https://otlp.example.com/v1/traces', 'https://otlp.example.com/v1/traces'],
  ])('for %s go to %s', (url, expected) => {
    expect(tracesUrl(url).href).toBe(expected);
  });

  it('are sent before the process ends, and a collector that refuses them is logged once', async () => {
    stopTimers();
    const bodies: string[] = [];
    let status = 200;
    const server = createServer((asked, answer) => {
      let text = '';
      asked.on('data', (chunk: Buffer) => (text += chunk.toString()));
      asked.on('end', () => {
        bodies.push(text);
        answer.writeHead(status).end();
      });
    });
    await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const warned: string[] = [];
    const nothing = (): void => undefined;
    const log = {
      debug: nothing,
      info: nothing,
      error: nothing,
      warn: (_: object, event: string) => void warned.push(event),
    };
    const trace = async (spans: number): Promise<void> => {
      const exporter = new CollectorExporter({ url, network: { allowHosts: [] }, log });
      const tracer = new SdkTracer(exporter, { version: '1', owner: 'x' });
      for (let n = 0; n < spans; n += 1) tracer.ended('read', { n }, { durationMs: 1, failure: null });
      await exporter.closeAfter(() => tracer.flush());
    };
    await trace(1);
    expect(bodies).toHaveLength(1);
    expect(bodies[0]).toContain('"name":"read"');
    expect(bodies[0]).toContain('"service.instance.id"');

    status = 503;
    await trace(1030);
    expect(warned).toEqual(['the collector does not accept traces']);
    await new Promise((resolve) => server.close(resolve));
  });

  it('do not delay the end of the process by more than two seconds', async () => {
    stopTimers();
    const asked = createDeferred();
    const server = createServer(() => asked.resolve()); // never answers
    await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const nothing = (): void => undefined;
    const log = { debug: nothing, info: nothing, error: nothing, warn: nothing };
    const exporter = new CollectorExporter({ url, network: { allowHosts: [] }, log });
    const tracer = new SdkTracer(exporter, { version: '1', owner: 'x' });
    tracer.ended('read', {}, { durationMs: 1, failure: null });
    const closed = exporter.closeAfter(() => tracer.flush());
    await asked.promise;
    jest.advanceTimersByTime(2000);
    await closed;
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
});
