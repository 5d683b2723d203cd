import { setTimeout as pause } from 'node:timers/promises';
import type { Bench } from './bench.js';
import { onlyAttendees } from './processes/load-attendees.js';
import { Product } from './processes/product.js';
import { withStage } from './processes/stage.js';
import { median } from './report.js';

const pollIntervalMs = 1000;
const samples = 3;
const patienceMs = 30 * 60_000;

/**
 * Measures how long the rolling sweep, which reads a slice with each poll, needs to find an edit that no poll reads:
 * the time from the edit to the commit of its change, and the requests of the slices.
 */
export const detection: Bench = {
  name: 'detection',
  about: 'an edit on the first page of --items attendees (100,000), polled each second → its change stored',
  async run(options, report) {
    const items = options.items ?? 100_000;
    await withStage(onlyAttendees(items, options.latencyMs), async (stage) => {
      const product = await Product.start(stage, {
        store: options.store ?? 'postgres',
        sync: ['pigeonholes: [101]', `every: { live: ${pollIntervalMs}ms }`, 'sinks: [votes]'],
        // Attendees are read for the consent of voters, and are not delivered.
        sinks: ['votes: { type: file, folder: ./archive, lists: [poll-mcq-votes] }'],
        profileFolder: options.profileFolder,
      });
      try {
        await product.untilCreated('attendees', items, patienceMs);
        const tookMs: number[] = [];
        for (let n = 0; n < samples; n += 1) {
          // The phase of the sweep is random: a third of a round later it is a different one.
          await pause(n === 0 ? 5 * pollIntervalMs : median(tookMs) / 3);
          const before = await stage.sandbox.requestCount();
          const atMs = Date.now();
          const body = { op: 'patch', list: 'attendees', pigeonhole: 101, id: await firstId(stage.sandbox.baseUrl) };
          await stage.sandbox.control('POST', 'mutations', { ...body, item: { Company: `ACME ${n}` } });
          const storedAtMs = await product.untilUpdated('attendees', atMs, patienceMs);
          tookMs.push(storedAtMs - atMs);
          const requests = (await stage.sandbox.requestCount()) - before;
          report.note(
            `edit ${n + 1}: found after ${((storedAtMs - atMs) / 1000).toFixed(1)} s and ${requests} requests`,
          );
        }
        const pages = Math.ceil(items / 300);
        const figure = { bench: 'detection', unit: 's' };
        report.figure({
          ...figure,
          what: `edit on the first of ${pages} pages → stored, median`,
          value: median(tookMs) / 1000,
        });
        report.figure({ ...figure, what: '… longest', value: Math.max(...tookMs) / 1000 });
      } finally {
        await product.stop();
      }
    });
  },
};

async function firstId(baseUrl: string): Promise<number> {
  const answer = await fetch(`${baseUrl}/v2/pigeonholes/101/attendees?count=1`, {
    headers: { 'X-API-KEY': 'sandbox-key' },
  });
  const { data } = (await answer.json()) as { data: readonly { id: number }[] };
  return data[0]!.id;
}
