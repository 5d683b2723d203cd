import type { StoreKind, Run } from '../report.js';
import { Product } from './product.js';
import type { SandboxFlags, SeenRequest } from './sandbox.js';
import type { Stage } from './stage.js';

/**
 * Reads attendees and delivers none: the sink accepts multiple-choice votes, which need attendees for consent, and a
 * sandbox with `--sessions 0` has no votes. Each read is a sweep, and happens only on request.
 */
const sync = ['pigeonholes: [101]', 'every: { live: 1h, sweep: 1s, lists: { pigeonholes: 1h } }', 'sinks: [votes]'];
const sinks = ['votes: { type: file, folder: ./archive, lists: [poll-mcq-votes] }'];

/** Returns the flags of a sandbox with only attendees. */
export function onlyAttendees(items: number, latencyMs: number): SandboxFlags {
  return { attendees: items, sessions: 0, pigeonholes: 1, 'latency-ms': latencyMs };
}

export interface LoadedProduct {
  readonly product: Product;
  readonly run: Run;
  /** Epoch ms of each page's commit, in order. */
  readonly committedAtMs: readonly number[];
}

/**
 * Starts a new product on an empty store and waits until it has stored every attendee. Measures from the first request
 * for attendees to the commit of their last page, with the logs of the sandbox and the product.
 */
export async function loadAttendees(
  stage: Stage,
  { store: kind, items, profileFolder }: { store: StoreKind; items: number; profileFolder: string | undefined },
): Promise<LoadedProduct> {
  await stage.sandbox.forgetRequests();
  const product = await Product.start(stage, { store: kind, sync, sinks, profileFolder });
  const pages = await product.untilStored('attendees', { items }, 30 * 60_000);
  const cpuSeconds = product.cpuSeconds();
  const requests = (await stage.sandbox.requests()).filter(forAttendees);
  const committedAtMs = pages.map(({ atMs }) => atMs);
  const run = {
    contender: `pigeonpost into ${kind}`,
    items,
    seconds: (committedAtMs.at(-1)! - requests[0]!.arrivedAtMs) / 1000,
    cpuSeconds,
    peakRssMb: product.peakRssMb(),
    requests: requests.length,
  };
  return { product, run, committedAtMs };
}

export function forAttendees({ path }: SeenRequest): boolean {
  return path.endsWith('/attendees');
}
