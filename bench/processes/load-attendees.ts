import type { StoreKind } from '../bench.js';
import type { Run } from '../report.js';
import { Product } from './product.js';
import type { SeenRequest } from './sandbox.js';
import type { Stage } from './stage.js';

/**
 * Reads attendees and delivers none: its sink takes multiple-choice votes, which need attendees for consent, and a
 * sandbox with `--sessions 0` has no votes. Swept at each read, and read again only when told to.
 */
const sync = ['pigeonholes: [101]', 'every: { live: 1h, sweep: 1s, lists: { pigeonholes: 1h } }', 'sinks: [votes]'];
const sinks = ['votes: { type: file, folder: ./archive, lists: [poll-mcq-votes] }'];

/** Flags of a sandbox that has attendees and nothing else. */
export function onlyAttendees(items: number, latencyMs: number): string[] {
  const flags = { attendees: items, sessions: 0, pigeonholes: 1, 'latency-ms': latencyMs };
  return Object.entries(flags).flatMap(([name, value]) => [`--${name}`, String(value)]);
}

export interface LoadedProduct {
  readonly product: Product;
  readonly run: Run;
  /** Epoch ms of each page's commit, in order. */
  readonly committedAtMs: readonly number[];
}

/**
 * Starts a new product on an empty store and waits until it has stored every attendee. Measured from the first
 * request for them to the commit of their last page, by the sandbox's log and the product's own.
 */
export async function loadAttendees(
  stage: Stage,
  { store: kind, items, profileFolder }: { store: StoreKind; items: number; profileFolder: string | undefined },
): Promise<LoadedProduct> {
  await stage.sandbox.forgetRequests();
  const product = await Product.start(stage, {
    store: kind,
    sync,
    sinks,
    profileFolder,
  });
  try {
    const pages = await product.untilCreated('attendees', items, 30 * 60_000);
    const cpuSeconds = product.cpuSeconds();
    const requests = (await stage.sandbox.requests()).filter(forAttendees);
    const committedAtMs = pages.map(({ atMs }) => atMs);
    const seconds = (committedAtMs.at(-1)! - requests[0]!.arrivedAtMs) / 1000;
    const run = {
      contender: `pigeonpost into ${kind}`,
      items,
      seconds,
      cpuSeconds,
      peakRssMb: product.peakRssMb(),
      requests: requests.length,
    };
    return { product, run, committedAtMs };
  } catch (error) {
    await product.stop();
    throw error;
  }
}

export function forAttendees({ path }: SeenRequest): boolean {
  return path.endsWith('/attendees');
}
