import type { Bench } from './bench.js';
import { loadAttendees, onlyAttendees } from './processes/load-attendees.js';
import { withStage } from './processes/stage.js';

/** Measures the peak memory of the product's process for a list and for one ten times as long. */
export const memory: Bench = {
  name: 'memory',
  about: 'peak memory of the worker process on PostgreSQL, at --items attendees and at ten times as many',
  async run(options, report) {
    const few = options.items ?? 100_000;
    const peaks: number[] = [];
    for (const items of [few, 10 * few]) {
      await withStage(onlyAttendees(items, options.latencyMs), async (stage) => {
        const { product, run } = await loadAttendees(stage, { ...options, store: 'postgres', items });
        await product.stop();
        report.run(run);
        peaks.push(run.peakRssMb);
      });
    }
    const [less = 0, more = 0] = peaks;
    report.figure({
      bench: 'memory',
      what: `peak RSS at ${(10 * few).toLocaleString('en')} items`,
      value: more,
      unit: 'MB',
      must: { atMost: 250 },
      aim: { atMost: 200 },
    });
    report.figure({
      bench: 'memory',
      what: `growth from ${few.toLocaleString('en')} items`,
      value: (100 * (more - less)) / less,
      unit: '%',
      must: { atMost: 20 },
      aim: { atMost: 5 },
    });
  },
};
