import { setTimeout as delay } from 'node:timers/promises';
import type { OpenWalk } from '../ledger/walk.js';
import type { PageOptions } from '../pigeonhole/client.js';
import { createGate } from '../base/gate.js';
import { PageRequests, type WalkBudget } from './page-requests.js';
import type { StreamReading } from './stream-reading.js';

const never = new AbortController().signal;
const budget: WalkBudget = { maxPages: 100, priority: 'idle', detects: false, planNextReads: null };
const from = { pages: 0, untilId: null, cursor: null } as unknown as OpenWalk;

describe('the page requests of a walk', () => {
  it('end when they are closed, although a received page was not to be parsed yet', async () => {
    const received = createGate();
    /** Each page names the next one. The response is slow, so the next page is requested before this one is parsed. */
    const page = async (_: unknown, { cursor, onReceived, parseAfter }: PageOptions) => {
      await delay(15);
      const nextCursor = `${cursor ?? ''}x`;
      onReceived?.(nextCursor);
      received.open();
      await parseAfter;
      return { cursor, nextCursor, hasMore: true };
    };
    const gate = {
      request: async (_: unknown, __: object, call: (...given: object[]) => unknown) =>
        await call({ page }, () => undefined),
    };
    const reading = {
      deps: { gate, stopping: never },
      place: { workspace: 'acme', pigeonholeId: 101 },
      readLimits: { until: Infinity, minPages: 10, latest: Infinity, signal: never, halted: () => false },
      cycle: { pages: 0 },
      lease: { list: 'attendees', sessionId: 0 },
    } as unknown as StreamReading;
    const requests = new PageRequests(reading, from, budget);
    const next = requests.receive(requests.request(null), 0, new Promise(() => undefined));
    await received.opened;
    requests.close(); // the store failed
    expect(await next).toMatchObject({ page: { nextCursor: 'x' } });
  });
});
