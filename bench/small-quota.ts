import { setTimeout as pause } from 'node:timers/promises';
import type { Bench, BenchOptions, BenchReport } from './report.js';
import { Product } from './processes/product.js';
import { type Stage, withStage } from './processes/stage.js';

const windowSeconds = 60;
const pigeonholes = [101, 102, 103, 104] as const;
/** The pigeonholes in which items appear. The others have no sessions that items could belong to. */
const busy = [101, 102] as const;
const lists = ['attendees', 'qna-questions', 'poll-mcq-votes'] as const;
/** Quotas as shares of the requests that unlimited reading would need. */
const shares = [1, 0.5, 0.1] as const;
const patienceMs = 10 * 60_000;

/**
 * Measures the age of items when they are stored with a small quota. Four live pigeonholes are polled each second, and
 * the quota per minute is all, half or a tenth of the requests that this needs. The first load uses the same quota,
 * because its state affects the following polls.
 */
export const smallQuota: Bench = {
  name: 'small-quota',
  about:
    'age of new items when they are stored, by list, with all, half and a tenth of the needed quota, --items times (3)',
  async run(options, report) {
    await runReportedCase(options, report);
    const flags = { attendees: 2000, pigeonholes: pigeonholes.length, 'latency-ms': options.latencyMs };
    const neededPerWindow = await withStage(flags, async (stage) => {
      await start(stage, options.store);
      await stage.sandbox.forgetRequests();
      await pause(30_000);
      return (await stage.sandbox.requestCount()) * (windowSeconds / 30);
    });
    report.note(`four live pigeonholes, polled each second, need ${neededPerWindow} requests a minute`);
    for (const share of shares) {
      await withStage(flags, async (stage) => {
        const limit = Math.ceil(neededPerWindow * share);
        await stage.sandbox.control('PATCH', 'knobs', { quota: { limit, windowSeconds, headers: true } });
        const product = await start(stage, options.store);
        for (const list of lists) {
          const ages: number[] = [];
          for (let n = 0; n < (options.items ?? 3); n += 1) {
            await pause(1000 * (3 + ((n * 7.3) % 20))); // at any time in a window
            const fromMs = Date.now();
            const pigeonhole = busy[n % busy.length];
            await stage.sandbox.control('POST', 'mutations', { op: 'insert', list, pigeonhole });
            const stored = await product.untilStored(list, { fromMs }, patienceMs);
            ages.push(stored.at(-1)!.atMs - fromMs);
          }
          report.figure({
            what: `${list}, oldest of ${ages.length} when stored, with ${limit} requests a minute (${share * 100} %)`,
            value: Math.max(...ages) / 1000,
            unit: 's',
          });
        }
      });
    }
  },
};

/**
 * Measures a quota of 300 requests a minute with four live pigeonholes: after the first load, the time until 20 new
 * attendees are stored.
 */
async function runReportedCase(options: BenchOptions, report: BenchReport): Promise<void> {
  await withStage({ attendees: 10_000, pigeonholes: pigeonholes.length }, async (stage) => {
    await stage.sandbox.control('PATCH', 'knobs', { quota: { limit: 300, windowSeconds, headers: true } });
    const product = await start(stage, options.store, ['attendees']);
    const fromMs = Date.now();
    await stage.sandbox.control('POST', 'events', { count: 20, kind: 'signIn' });
    const stored = await product.untilStored('attendees', { items: 20, fromMs }, patienceMs);
    report.figure({
      what: 'the last of 20 new attendees when stored, with 300 requests a minute, after a first load',
      value: (stored.at(-1)!.atMs - fromMs) / 1000,
      unit: 's',
    });
  });
}

/** Starts the product and waits until it has read everything once. */
async function start(
  stage: Stage,
  kind: 'postgres' | 'embedded' = 'postgres',
  read: readonly string[] = lists,
): Promise<Product> {
  for (const id of pigeonholes) {
    const item = { status: 'live', startDate: '2020-01-01', endDate: '2099-01-01' };
    await stage.sandbox.control('POST', 'mutations', { op: 'patch', list: 'pigeonholes', id, item });
  }
  const product = await Product.start(stage, {
    store: kind,
    sync: [
      `pigeonholes: [${pigeonholes.join(', ')}]`,
      `lists: [${read.join(', ')}]`,
      'every: { live: 1s, quiet: 5m }',
      'sinks: [archive]',
    ],
    sinks: ['archive: { type: file, folder: ./archive }'],
  });
  await product.untilSettled(patienceMs);
  return product;
}
