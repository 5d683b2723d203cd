import type { EndedSpan } from './otlp-tracer.js';

const internalSpan = 1;
const failed = 2;

/** Spans as a collector takes them. Pure. Source: opentelemetry.io, "OTLP Specification", JSON Protobuf encoding. */
export function otlpBody(
  spans: readonly EndedSpan[],
  process: { readonly version: string; readonly owner: string },
): object {
  const resource = {
    'service.name': 'pigeonpost',
    'service.version': process.version,
    'service.instance.id': process.owner,
  };
  return {
    resourceSpans: [
      {
        resource: { attributes: attributesOf(resource) },
        scopeSpans: [{ scope: { name: 'pigeonpost', version: process.version }, spans: spans.map(toSpan) }],
      },
    ],
  };
}

function toSpan({ traceId, spanId, parentSpanId, name, startMs, endMs, attributes, failure }: EndedSpan): object {
  return {
    traceId,
    spanId,
    ...(parentSpanId === null ? {} : { parentSpanId }),
    name,
    kind: internalSpan,
    startTimeUnixNano: nanoseconds(startMs),
    endTimeUnixNano: nanoseconds(endMs),
    attributes: attributesOf(failure === null ? attributes : { ...attributes, 'error.type': failure }),
    status: failure === null ? {} : { code: failed },
  };
}

/** As text: a number would lose its last digits. */
function nanoseconds(ms: number): string {
  return String(BigInt(Math.round(ms * 1000)) * 1000n);
}

function attributesOf(attributes: EndedSpan['attributes']): object[] {
  return Object.entries(attributes)
    .filter(([, value]) => value !== null)
    .map(([key, value]) => ({
      key,
      value:
        typeof value === 'string'
          ? { stringValue: value }
          : Number.isInteger(value)
            ? { intValue: String(value) }
            : { doubleValue: value },
    }));
}
