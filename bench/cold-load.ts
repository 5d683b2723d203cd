import {
  type Bench,
  type BenchOptions,
  type BenchReport,
  type StoreKind,
  storeKinds,
  busyNote,
  type Limit,
  median,
  itemsPerSecond,
  type Run,
} from './report.js';
import { loadAttendees, onlyAttendees } from './processes/load-attendees.js';
import { runBareLoop, warmUp } from './bare/run-bare-loop.js';
import { type Stage, withStage } from './processes/stage.js';

const targets: Readonly<Record<'fast' | 'slow', { must: Limit; aim: Limit }>> = {
  fast: { must: { atLeast: 0.7 }, aim: { atLeast: 0.9 } },
  slow: { must: { atLeast: 0.9 }, aim: { atLeast: 0.98 } },
};

/**
 * Measures the first read of a long list by the whole product, including change log and Temporal. The baseline is a
 * loop with fetch, JSON, zod, a hash and one upsert per page. With a slow service (`--latency-ms`), waiting dominates,
 * so the baseline reads only bodies.
 */
export const coldLoad: Bench = {
  name: 'cold-load',
  about: 'first read of --items attendees into each store, against a bare loop',
  async run(options, report) {
    const items = options.items ?? 100_000;
    await withStage(onlyAttendees(items, options.latencyMs), async (stage) => {
      await warmUp(stage, items);
      for (const store of options.store === undefined ? storeKinds : [options.store]) {
        await compare(stage, { ...options, items, store }, report);
      }
    });
  },
};

type Compared = BenchOptions & { readonly items: number; readonly store: StoreKind };

async function compare(stage: Stage, options: Compared, report: BenchReport): Promise<void> {
  const { items, store, latencyMs } = options;
  const isSlow = latencyMs > 0;
  const ratios: number[] = [];
  const cpuRatios: number[] = [];
  for (let pair = 0; pair < options.pairs; pair += 1) {
    const { run, committedAtMs } = await withServerCpu(stage, store, () => loadOnce(stage, options));
    report.run(run);
    report.note(pageTimes(committedAtMs));
    const bare = isSlow
      ? await readBodies(stage, items)
      : (await withServerCpu(stage, store, async () => ({ run: await bareLoad(stage, options) }))).run;
    report.run(bare);
    ratios.push(itemsPerSecond(run) / itemsPerSecond(bare));
    cpuRatios.push(run.cpuSeconds / bare.cpuSeconds);
  }
  report.note(busyNote());
  report.figure({
    what: `CPU time into ${store} / the same loop's`,
    value: median(cpuRatios),
  });
  const against = isSlow ? `bare undici at ${latencyMs} ms a response` : 'bare loop into the same store';
  report.figure({
    what: `${items.toLocaleString('en')} into ${store} / ${against}`,
    value: median(ratios),
    ...targets[isSlow ? 'slow' : 'fast'],
  });
}

async function loadOnce(stage: Stage, options: Compared): Promise<{ run: Run; committedAtMs: readonly number[] }> {
  const loaded = await loadAttendees(stage, options);
  await loaded.product.stop();
  return loaded;
}

/** Adds the CPU time of the server, since a contender may move work to it. */
async function withServerCpu<T extends { readonly run: Run }>(
  stage: Stage,
  store: StoreKind,
  work: () => Promise<T>,
): Promise<T> {
  if (store === 'embedded') return await work();
  const server = await stage.postgres();
  const before = server.cpuSeconds();
  const result = await work();
  return { ...result, run: { ...result.run, serverCpuSeconds: server.cpuSeconds() - before } };
}

async function bareLoad(stage: Stage, { items, store: kind }: Compared): Promise<Run> {
  const folder = stage.nextFolder();
  const store = await stage.freshStore(kind, folder);
  const task = { baseUrl: stage.sandbox.baseUrl, depth: 'upsert', store } as const;
  return await runBareLoop(`bare loop into ${kind}`, { folder, items }, task);
}

async function readBodies(stage: Stage, items: number): Promise<Run> {
  const task = { baseUrl: stage.sandbox.baseUrl, depth: 'bodies' } as const;
  return await runBareLoop('bare undici', { folder: stage.nextFolder(), items }, task);
}

/** Compares early and late pages. A query plan from empty tables would make late pages slow. */
function pageTimes(committedAtMs: readonly number[]): string {
  const third = Math.floor((committedAtMs.length - 1) / 3);
  const perPage = (from: number): string => ((committedAtMs[from + third]! - committedAtMs[from]!) / third).toFixed(1);
  return `ms a page in the first, second and last third: ${[0, third, 2 * third].map(perPage).join(', ')}`;
}

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
      what: `peak RSS at ${(10 * few).toLocaleString('en')} items`,
      value: more,
      unit: 'MB',
      must: { atMost: 250 },
      aim: { atMost: 200 },
    });
    report.figure({
      what: `growth from ${few.toLocaleString('en')} items`,
      value: (100 * (more - less)) / less,
      unit: '%',
      must: { atMost: 20 },
      aim: { atMost: 5 },
    });
  },
};
