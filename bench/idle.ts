import { setTimeout as pause } from 'node:timers/promises';
import { Client, Connection } from '@temporalio/client';
import type { Bench } from './report.js';
import { Product } from './processes/product.js';
import type { SeenRequest } from './processes/sandbox.js';
import { type Stage, withStage } from './processes/stage.js';

const pollIntervalMs = 2000;
const watchedMs = 30_000;

/**
 * Measures the cost of a live pigeonhole without changes: requests of the service's quota and events of Temporal. A
 * cycle is one poll interval.
 */
export const idle: Bench = {
  name: 'idle',
  about: 'requests and Temporal events of a live pigeonhole in which nothing happens, on PostgreSQL',
  async run(options, report) {
    await withStage({ attendees: 500, pigeonholes: 1 }, async (stage) => {
      const product = await Product.start(stage, {
        store: 'postgres',
        sync: ['pigeonholes: [101]', `every: { live: ${pollIntervalMs}ms, quiet: 5m, sweep: 1h }`, 'sinks: [archive]'],
        sinks: ['archive: { type: file, folder: ./archive }'],
        profileFolder: options.profileFolder,
      });
      await product.untilSettled(120_000);
      await pause(3 * pollIntervalMs); // the first cycles after a walk may still be out of step
      const fromMs = Date.now();
      const cpuBefore = product.cpuSeconds();
      await pause(watchedMs);
      const toMs = Date.now();
      const cycles = (toMs - fromMs) / pollIntervalMs;
      const requests = (await stage.sandbox.requests()).filter(
        ({ arrivedAtMs, path }) =>
          arrivedAtMs >= fromMs && arrivedAtMs < toMs && path.startsWith('/v2/pigeonholes/101/'),
      );
      const events = await eventsBetween(product.temporalAddress, 'read/1', fromMs, toMs);
      const all = [...events.values()].reduce((sum, count) => sum + count, 0);
      const streams = liveStreams(requests);
      const planned = streams + (await plannedSlicePages(stage));
      report.note(
        `${cycles} cycles of ${pollIntervalMs} ms: ${streams} live streams, ${planned - streams} slice pages planned, ${requests.length} requests, ${all} Temporal events, ${(product.cpuSeconds() - cpuBefore).toFixed(2)} CPU s`,
      );
      report.figure({
        what: 'requests / streams due and planned slice pages',
        value: requests.length / (planned * cycles),
        must: { atMost: 1.05 }, // one more cycle may be in the window
        aim: { atMost: 1 },
      });
      report.figure({ what: 'Temporal events per cycle', value: all / cycles, must: { atMost: 0.1 } });
    });
  },
};

/** The page size that pigeonpost requests. */
const perPage = 300;

/**
 * Returns the number of additional pages that a poll of the pigeonhole reads for rolling sweeps: none for a stream of
 * one page, which the poll itself sweeps; for a list of questions, all pages up to five, half of a longer list, at most
 * ten; and one for any other list. Source: decision 0019.
 */
async function plannedSlicePages(stage: Stage): Promise<number> {
  const { pigeonholes } = await stage.sandbox.control<{ pigeonholes: { counts: Record<string, number> }[] }>(
    'GET',
    'state',
  );
  return Object.entries(pigeonholes[0]!.counts).reduce((sum, [list, items]) => {
    const pages = Math.ceil(items / perPage);
    if (list === 'registrants' || pages <= 1) return sum;
    const ofQuestions = pages <= 5 ? pages : Math.min(10, Math.ceil(pages / 2));
    return sum + (list.endsWith('questions') ? ofQuestions : 1);
  }, 0);
}

/** Returns the number of streams with more than one request, which are those with the live interval. */
function liveStreams(requests: readonly SeenRequest[]): number {
  const times = new Map<string, number>();
  for (const { path, query } of requests) {
    const session = new URLSearchParams(query).get('filter[sessionId]') ?? '';
    times.set(`${path} ${session}`, (times.get(`${path} ${session}`) ?? 0) + 1);
  }
  return [...times.values()].filter((count) => count > 1).length;
}

/** Counts the events of a workflow in a period, by type, in all runs that the period includes. */
async function eventsBetween(
  address: string,
  workflowId: string,
  fromMs: number,
  toMs: number,
): Promise<Map<string, number>> {
  const connection = await Connection.connect({ address });
  try {
    const client = new Client({ connection });
    const counts = new Map<string, number>();
    let runId: string | undefined; // undefined: the latest run
    do {
      const { events } = await client.workflow.getHandle(workflowId, runId).fetchHistory();
      const [started] = events ?? [];
      for (const event of events ?? []) {
        const atMs = timeOf(event);
        if (atMs < fromMs || atMs >= toMs) continue;
        const type = kindOf(event);
        counts.set(type, (counts.get(type) ?? 0) + 1);
      }
      const previous = started?.workflowExecutionStartedEventAttributes?.continuedExecutionRunId ?? '';
      runId = previous !== '' && timeOf(started!) >= fromMs ? previous : undefined;
    } while (runId !== undefined);
    return counts;
  } finally {
    await connection.close();
  }
}

function timeOf({ eventTime }: { readonly eventTime?: { seconds?: unknown; nanos?: number | null } | null }): number {
  return Number(eventTime?.seconds ?? 0) * 1000 + Number(eventTime?.nanos ?? 0) / 1e6;
}

/** Returns the type of an event from the name of its attributes: `activityTaskScheduledEventAttributes`. */
function kindOf(event: object): string {
  const name =
    Object.entries(event).find(([key, value]) => key.endsWith('EventAttributes') && value != null)?.[0] ?? 'unknown';
  return name.charAt(0).toUpperCase() + name.slice(1).replace('EventAttributes', '');
}
