import { between, instants, oneOf, type Random } from './draw.js';
import type { PlannedDeed, ReceiverMode } from './plan.js';

const modes: readonly ReceiverMode[] = ['5xx', '429', 'hang', 'dropBefore', 'dropAfter', 'refuse'];
const meanGapMs = 12_000;

/** Plans the periods in which the failing receiver fails. Between them, it accepts everything. */
export function planReceiverFailures(random: Random, durationMs: number): PlannedDeed[] {
  return instants(random, meanGapMs, 0, durationMs).map((atMs) => ({
    atMs,
    deed: { do: 'receiver', mode: oneOf(random, modes), forMs: between(random, 1000, 9000) },
  }));
}
