import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
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
import { type BareDelivery, runBareLoop, warmUp } from './bare/run-bare-loop.js';
import { forAttendees, onlyAttendees } from './processes/load-attendees.js';
import { Product } from './processes/product.js';
import { Receiver } from './processes/sandbox.js';
import { type Stage, withStage } from './processes/stage.js';
import type { Noted } from './processes/watch-process.js';

const everyone = 'consent: { accept: [obtained, refused, not-asked, not-known] }';
const statusEveryMs = 500;
/** Period after the first request in which statements, pauses and calls of status count. */
const firstMs = 60_000;

interface Target {
  readonly name: string;
  readonly sinks: readonly ('archive' | 'hooks')[];
  /** The ratio to the bare loop; absent: it is only shown. */
  readonly limits?: { readonly must: Limit; readonly aim: Limit };
}

const targets: readonly Target[] = [
  { name: 'file', sinks: ['archive'], limits: { must: { atLeast: 0.5 }, aim: { atLeast: 0.8 } } },
  { name: 'webhook', sinks: ['hooks'], limits: { must: { atLeast: 0.7 }, aim: { atLeast: 0.9 } } },
  { name: 'file+webhook', sinks: ['archive', 'hooks'] },
];

/**
 * Measures the time from the first request until the last change is delivered, on a store without table statistics. The
 * baseline is a loop that, page by page, fetches, checks, hashes and upserts the same items, and appends and syncs, or
 * signs and posts, the same lines.
 */
export const endToEnd: Bench = {
  name: 'end-to-end',
  about: 'first load of --items attendees until the last is delivered to file, webhook and both, against a bare loop',
  async run(options, report) {
    const items = options.items ?? 100_000;
    const chosen = targets.filter(({ name }) => options.into === undefined || options.into === name);
    if (chosen.length === 0) throw new Error(`--into is ${options.into}; give file, webhook or file+webhook`);
    await withStage(onlyAttendees(items, options.latencyMs), async (stage) => {
      await warmUp(stage, items);
      for (const store of options.store === undefined ? storeKinds : [options.store]) {
        for (const target of chosen) await compare(stage, { ...options, items, store, target }, report);
      }
    });
  },
};

type Compared = BenchOptions & { readonly items: number; readonly store: StoreKind; readonly target: Target };

interface Loaded {
  readonly run: Run;
  readonly longestStatusMs: number;
  readonly statement: Noted | undefined;
  readonly pause: Noted | undefined;
}

async function compare(stage: Stage, options: Compared, report: BenchReport): Promise<void> {
  const { items, store, target } = options;
  const ratios: number[] = [];
  const all: Loaded[] = [];
  for (let pair = 0; pair < options.pairs; pair += 1) {
    const loaded = await load(stage, options);
    report.run(loaded.run);
    const { statement, pause: stop, longestStatusMs } = loaded;
    report.note(
      `longest statement ${ms(statement)} (${statement?.sql ?? 'none'}), longest pause ${ms(stop)}, longest status ${Math.round(longestStatusMs)} ms`,
    );
    const bare = await bareLoad(stage, options);
    report.run(bare);
    ratios.push(itemsPerSecond(loaded.run) / itemsPerSecond(bare));
    all.push(loaded);
  }
  report.note(busyNote());
  const what = `${items.toLocaleString('en')} through ${store} into ${target.name}`;
  report.figure({ what: `${what} / bare loop`, value: median(ratios), ...target.limits });
  const inMs = { unit: 'ms' };
  const longest = (noted: readonly (Noted | undefined)[]): number => median(noted.map((each) => each?.tookMs ?? 0));
  report.figure({
    ...inMs,
    what: `${what}: longest statement`,
    value: longest(all.map(({ statement }) => statement)),
    must: { atMost: 200 },
    aim: { atMost: 50 },
  });
  report.figure({
    ...inMs,
    what: `${what}: longest pause of the event loop`,
    value: longest(all.map((each) => each.pause)),
    must: { atMost: 100 },
    aim: { atMost: 50 },
  });
  report.figure({
    ...inMs,
    what: `${what}: longest call of status`,
    value: median(all.map(({ longestStatusMs }) => longestStatusMs)),
    must: { atMost: 300 },
    aim: { atMost: 100 },
  });
}

/** File in the product's folder to which the product's process writes long statements and pauses. */
const watchFile = 'watched.ndjson';

async function load(stage: Stage, { items, store: kind, target, profileFolder }: Compared): Promise<Loaded> {
  const receiver = target.sinks.includes('hooks') ? await Receiver.start(stage) : undefined;
  await stage.sandbox.forgetRequests();
  const product = await Product.start(stage, {
    store: kind,
    sync: [
      'pigeonholes: [101]',
      'every: { live: 1h, sweep: 1h, lists: { pigeonholes: 1h } }',
      `sinks: [${target.sinks.join(', ')}]`,
    ],
    sinks: target.sinks.map((sink) =>
      sink === 'archive'
        ? `archive: { type: file, folder: ./archive, lists: [attendees], ${everyone} }`
        : receiver!.sinkLine('hooks', ['attendees'], `, ${everyone}`),
    ),
    env: receiver?.env ?? {},
    profileFolder,
    watchFile,
  });
  try {
    const watching = new AbortController();
    const statuses = watchStatus(product, watching.signal);
    const endedMs = await product.untilDelivered(target.sinks, items, 30 * 60_000);
    const cpuSeconds = product.cpuSeconds();
    watching.abort();
    const requests = (await stage.sandbox.requests()).filter(forAttendees);
    const beganMs = requests[0]!.arrivedAtMs;
    await pause(1000); // the last records are still being written to the file
    const noted = readNoted(join(product.folder, watchFile)).filter(
      ({ atMs }) => atMs >= beganMs && atMs <= Math.min(endedMs, beganMs + firstMs),
    );
    return {
      run: {
        contender: `pigeonpost, ${kind} to ${target.name}`,
        items,
        seconds: (endedMs - beganMs) / 1000,
        cpuSeconds,
        peakRssMb: product.peakRssMb(),
        requests: requests.length,
      },
      longestStatusMs: Math.max(
        0,
        ...(await statuses)
          .filter(({ atMs }) => atMs >= beganMs && atMs <= beganMs + firstMs)
          .map(({ tookMs }) => tookMs),
      ),
      statement: longestOf(noted, 'statement'),
      pause: longestOf(noted, 'pause'),
    };
  } finally {
    await product.stop();
    await receiver?.stop();
  }
}

async function watchStatus(product: Product, signal: AbortSignal): Promise<{ atMs: number; tookMs: number }[]> {
  const calls: { atMs: number; tookMs: number }[] = [];
  while (!signal.aborted) {
    const atMs = Date.now();
    calls.push({ atMs, tookMs: await product.statusMs() });
    await pause(statusEveryMs, undefined, { signal }).catch(() => undefined);
  }
  return calls;
}

function readNoted(file: string): Noted[] {
  if (!existsSync(file)) return [];
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Noted);
}

function longestOf(noted: readonly Noted[], what: Noted['what']): Noted | undefined {
  return noted.filter((each) => each.what === what).toSorted((a, b) => b.tookMs - a.tookMs)[0];
}

function ms(noted: Noted | undefined): string {
  return `${Math.round(noted?.tookMs ?? 0)} ms`;
}

async function bareLoad(stage: Stage, { items, store: kind, target }: Compared): Promise<Run> {
  const folder = stage.nextFolder();
  const store = await stage.freshStore(kind, folder);
  const receiver = target.sinks.includes('hooks') ? await Receiver.start(stage) : undefined;
  const deliver: BareDelivery = {
    ...(target.sinks.includes('archive') && { file: join(folder, 'archive', 'attendees.ndjson') }),
    ...(receiver !== undefined && { webhook: receiver.target }),
  };
  const task = { baseUrl: stage.sandbox.baseUrl, depth: 'upsert', store, deliver } as const;
  try {
    return await runBareLoop(`bare loop, ${kind} to ${target.name}`, { folder, items }, task);
  } finally {
    await receiver?.stop();
  }
}
