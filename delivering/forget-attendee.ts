import { eraseReasons } from '../people/erase-reasons.js';
import { type Erasure, awaitPages, readErasure, receiptsOf } from '../people/erasures.js';
import { endErasure, keepReceipts } from '../people/erasure-states.js';
import type { Collaborators } from '../work/collaborators.js';
import { eraseFromSinks } from './erase-from-lane.js';
import { requireCurrentConfiguration } from '../ledger/configurations.js';
import type { ErasureResult } from '../work/cycle-results.js';
import { eraseFromItems, clearLedger } from '../people/erase-from-ledger.js';

/** Wait between cycles while something changes: a healthy sink answers within seconds. */
const soonMs = 1000;
/** Longest wait between cycles: a sink can stay paused for days. */
const longestSleepMs = 60_000;

/**
 * Runs one cycle of an erasure. Erases the person from the ledger first (items, earlier revisions, reasons that sinks
 * returned, registrants, imports). That step also adds a removal for every sink that received some of this data, and
 * the sinks' own workflows deliver the removals. Then erases the person from the files that sinks keep. Each place gets
 * a receipt. Safe to repeat, also after a crash: each step finds what is left. The deletion limits do not apply,
 * because an operator requested the erasure.
 */
export async function forgetAttendee(deps: Collaborators, id: string, signal: AbortSignal): Promise<ErasureResult> {
  await requireCurrentConfiguration(deps);
  const erasure = await readErasure(deps.ledger, id);
  if (erasure === undefined || erasure.endedAt !== null) {
    return { items: 0, open: 0, nextDueInMs: 0, state: 'finished' };
  }
  // Runs before the items are erased, because the names to search for in operators' texts come from the person's
  // records.
  if (erasure.names !== null) await eraseReasons(deps.ledger, erasure.names);
  let items = erasure.names === null ? 0 : await eraseFromItems(deps, erasure);
  const own = await clearLedger(deps, erasure);
  const sinks = await eraseFromSinks(deps, erasure, signal);
  await keepReceipts(deps.ledger.db, erasure.number, sinks);
  const receipts = [...own, ...sinks];
  const open = receipts.filter(({ outcome }) => outcome === 'waiting').length;
  // A page that was being read when the erasure was requested may have stored items since. Searching for them reads all
  // items, so the search waits until no place is open.
  if (open === 0) await awaitPages(deps.ledger, erasure.number);
  const late = open > 0 ? 0 : await eraseFromItems(deps, erasure);
  items += late;
  if (open + late > 0) {
    return { items, open, nextDueInMs: await sleepMs(deps, erasure), state: 'working' };
  }
  await endErasure(deps.ledger, erasure.number);
  // Read again: the ledger's own receipts may be from an earlier cycle.
  const places = await receiptsOf(deps.ledger, erasure.number);
  deps.log.info({ erasure: id, places: places.length }, 'erased a person everywhere');
  return { items, open, nextDueInMs: 0, state: 'finished' };
}

/**
 * Returns the wait before the next cycle. It is short if a receipt changed within the last minute, because a sink that
 * is resumed after days answers within seconds.
 */
async function sleepMs({ ledger }: Collaborators, { number, requestedAt }: Erasure): Promise<number> {
  const moved = (await receiptsOf(ledger, number)).map(({ at }) => at.getTime());
  const unchangedForMs = ledger.clock.nowMs() - Math.max(requestedAt.getTime(), ...moved);
  return unchangedForMs < longestSleepMs ? soonMs : longestSleepMs;
}
