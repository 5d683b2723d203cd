import type { DoubleAnswer, DoubleRequest } from '../serve/double-request.js';
import { anything, type RequestRule } from '../serve/request-rules.js';
import { type RunningDouble, serveDouble, type ServeOptions } from '../serve/serve-double.js';

interface SegmentOptions extends ServeOptions {
  readonly maxRequestBytes?: number;
  readonly maxEventBytes?: number;
}

/** A new HTTP API source, which accepts every event without a tracking plan. */
export const freshAccount = { maxRequestBytes: 500 * 1024, maxEventBytes: 32 * 1024 } as const satisfies Omit<
  SegmentOptions,
  keyof ServeOptions
>;

interface SegmentEvent {
  readonly type: string;
  readonly messageId: string;
  readonly userId: string;
  readonly event: string;
  readonly timestamp: string;
  readonly properties: Readonly<Record<string, unknown>> | null;
}

export interface SegmentDouble extends RunningDouble {
  readonly writeKey: string;
  /** Events that the source accepted, without repeats. It starts with one event of another sender. */
  readonly events: readonly SegmentEvent[];
  /** Reasons for which events were dropped after a 200, as Segment's debugger shows them. */
  readonly dropped: readonly string[];
}

const writeKey = 'segment-wr1te-key';
const keys = new Set(['type', 'messageId', 'userId', 'event', 'timestamp', 'properties']);

const rules: readonly RequestRule[] = [
  {
    method: 'POST',
    path: /^\/v1\/batch$/,
    headers: ['authorization'],
    json: {
      batch: [
        {
          type: anything,
          messageId: anything,
          userId: anything,
          event: anything,
          timestamp: anything,
          properties: anything,
        },
      ],
    },
  },
];

/**
 * Starts the batch endpoint of Segment's HTTP Tracking API. Like Segment, it answers 200 to every body that is JSON and
 * not too large, then drops invalid events; `dropped` holds the reasons. Sources: sinks/http/README.md, "Segment".
 */
export async function startSegmentDouble(options: SegmentOptions = {}): Promise<SegmentDouble> {
  const { maxRequestBytes, maxEventBytes } = { ...freshAccount, ...options };
  const events: SegmentEvent[] = [
    {
      type: 'track',
      messageId: 'm-0',
      userId: 'u-0',
      event: 'Signed Up',
      timestamp: '2026-01-01T00:00:00Z',
      properties: {},
    },
  ];
  const dropped: string[] = [];
  const answer = ({ method, path, headers, body }: DoubleRequest): DoubleAnswer => {
    if (method !== 'POST' || path !== '/v1/batch') return { status: 404 };
    if (!headers['content-type']?.startsWith('application/json') || Buffer.byteLength(body) > maxRequestBytes) {
      return { status: 400 };
    }
    const batch = batchOf(body);
    if (batch === undefined || batch.some((event) => Buffer.byteLength(JSON.stringify(event)) > maxEventBytes)) {
      return { status: 400 };
    }
    const isKnown = headers['authorization'] === `Basic ${Buffer.from(`${writeKey}:`).toString('base64')}`;
    for (const event of batch) {
      const problem = isKnown ? problemOf(event) : 'unknown write key';
      if (problem !== undefined) dropped.push(problem);
      else if (!events.some(({ messageId }) => messageId === event.messageId)) events.push(event);
    }
    return { status: 200, json: { success: true } };
  };
  const double = await serveDouble({ answer, state: () => events, rules }, options);
  return { ...double, writeKey, events, dropped };
}

function batchOf(body: string): readonly SegmentEvent[] | undefined {
  try {
    const { batch } = JSON.parse(body) as { batch?: unknown };
    return Array.isArray(batch) ? (batch as SegmentEvent[]) : undefined;
  } catch {
    return undefined;
  }
}

function problemOf(event: SegmentEvent): string | undefined {
  const unknown = Object.keys(event).find((key) => !keys.has(key));
  if (unknown !== undefined) return `unknown key ${unknown}`;
  if (event.type !== 'track') return 'unknown type';
  if (typeof event.userId !== 'string' || event.userId === '') return 'no userId';
  if (typeof event.event !== 'string' || event.event === '') return 'no event';
  if (typeof event.messageId !== 'string' || event.messageId.length > 100) return 'no messageId';
  return Number.isNaN(Date.parse(event.timestamp)) ? 'no timestamp' : undefined;
}
