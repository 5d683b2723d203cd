import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { otlpBody } from './otlp-body.js';
import { type EndedSpan, OtlpTracer } from './otlp-tracer.js';
import { SpanExporter, tracesUrl } from './span-exporter.js';

class RefusedError extends Error {}

function traced(): { tracer: OtlpTracer; spans: EndedSpan[] } {
  const spans: EndedSpan[] = [];
  let nowMs = 1_000_000;
  return {
    spans,
    tracer: new OtlpTracer(
      (span) => void spans.push(span),
      () => (nowMs += 10),
    ),
  };
}

describe('a turn that is traced', () => {
  it('is one trace with what happens in it, however much runs beside it', async () => {
    const { tracer, spans } = traced();
    const turn = (sink: string): Promise<void> =>
      tracer.span('deliver', { sink }, async () => {
        await new Promise((resolve) => setImmediate(resolve));
        tracer.ended('GET', { 'http.response.status_code': 200 }, { durationMs: 5, failure: null });
      });
    await Promise.all([turn('one'), turn('two')]);
    const roots = spans.filter(({ parentSpanId }) => parentSpanId === null);
    expect(roots.map(({ attributes }) => String(attributes['sink'])).toSorted()).toEqual(['one', 'two']);
    expect(new Set(roots.map(({ traceId }) => traceId)).size).toBe(2);
    for (const { traceId, spanId } of roots) {
      const within = spans.filter((span) => span.traceId === traceId && span.parentSpanId !== null);
      expect(within.map(({ parentSpanId, name, startMs, endMs }) => [parentSpanId, name, endMs - startMs])).toEqual([
        [spanId, 'GET', 5],
      ]);
    }
  });

  it('gives and throws what its work does, and tells of an error its class alone', async () => {
    const { tracer, spans } = traced();
    expect(await tracer.span('read', {}, async () => 5)).toBe(5);
    const failing = tracer.span('read', {}, () => Promise.reject(new RefusedError('refused for Person 1')));
    await expect(failing).rejects.toThrow('refused for Person 1');
    expect(spans.map(({ failure }) => failure)).toEqual([null, 'RefusedError']);
    expect(JSON.stringify(otlpBody(spans, { version: '1', owner: 'x' }))).not.toContain('Person');
  });
});

describe('what a collector is sent', () => {
  it('has instants in nanoseconds, to the last digit, and leaves out what is not known', () => {
    const span: EndedSpan = {
      traceId: 'a'.repeat(32),
      spanId: 'b'.repeat(16),
      parentSpanId: null,
      name: 'read',
      startMs: 1_795_253_400_000.5,
      endMs: 1_795_253_401_000,
      attributes: { workspace: 'acme', pages: 3, share: 0.5, code: null },
      failure: null,
    };
    const body = otlpBody([span], { version: '1.0.0', owner: 'host/1' }) as {
      resourceSpans: { scopeSpans: { spans: object[] }[] }[];
    };
    expect(body.resourceSpans[0]!.scopeSpans[0]!.spans).toEqual([
      {
        traceId: 'a'.repeat(32),
        spanId: 'b'.repeat(16),
        name: 'read',
        kind: 1,
        startTimeUnixNano: '1795253400000500000',
        endTimeUnixNano: '1795253401000000000',
        attributes: [
          { key: 'workspace', value: { stringValue: 'acme' } },
          { key: 'pages', value: { intValue: '3' } },
          { key: 'share', value: { doubleValue: 0.5 } },
        ],
        status: {},
      },
    ]);
  });

  it.each([
    ['http://collector:4318', 'http://collector:4318/v1/traces'],
    ['http://collector:4318/', 'http://collector:4318/v1/traces'],
    ['https://otlp.example.com/tenant', 'https://otlp.example.com/tenant/v1/traces'],
    ['https://otlp.example.com/v1/traces', 'https://otlp.example.com/v1/traces'],
  ])('is sent from %s to %s', (url, expected) => {
    expect(tracesUrl(url).href).toBe(expected);
  });

  it('arrives at the latest when the process ends, and what is not taken is told once', async () => {
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
    const options = { url, network: { allowHosts: [] }, version: '1', owner: 'x', log };
    const exporter = new SpanExporter(options);
    const { tracer, spans } = traced();
    await tracer.span('read', { workspace: 'acme' }, async () => undefined);
    exporter.add(spans[0]!);
    await exporter.close();
    expect(bodies).toHaveLength(1);
    expect(bodies[0]).toContain(spans[0]!.traceId);

    status = 503;
    const refused = new SpanExporter(options);
    for (let n = 0; n < 1030; n += 1) refused.add(spans[0]!);
    await refused.close();
    expect(warned).toEqual(['traces are not taken']);
    await new Promise((resolve) => server.close(resolve));
  });
});
