import type { Status } from '../../api/status.js';
import { type ComparedRow, compareCounts } from './compare-counts.js';
import { countArchive } from './count-archive.js';
import { demoNames } from './demo-config.js';
import { receiverSummary, receivingProblems } from './receiver-summary.js';
import { countTruth, sandboxState } from './sandbox-state.js';

export interface Comparison {
  readonly rows: readonly ComparedRow[];
  /** What the receiver saw and should not have; a sentence each. */
  readonly problems: readonly string[];
}

/**
 * Counts everything at both ends, without asking pigeonpost: the items of the source in the sandbox's truth, what was
 * delivered in the file sink's lines and in the receiver's own records. Only what was withheld has no other witness
 * than the ledger.
 * @param status with counts
 */
export async function compareEverything(
  at: { sandboxUrl: string; receiverUrl: string; archive: string },
  status: Status,
): Promise<Comparison> {
  const summary = await receiverSummary(at.receiverUrl);
  const received = Object.entries(summary.lists).map(([list, { items }]) => [list, items] as const);
  return {
    rows: compareCounts({
      source: await countSource(at.sandboxUrl),
      delivered: new Map<string, ReadonlyMap<string, number>>([
        [demoNames.fileSink, await countArchive(at.archive)],
        [demoNames.webhookSink, new Map(received)],
      ]),
      withheld: withheldCounts(status),
    }),
    problems: receivingProblems(summary),
  };
}

async function countSource(sandboxUrl: string): Promise<Map<string, number>> {
  const { pigeonholes } = await sandboxState(sandboxUrl);
  const counts = new Map<string, number>();
  for (const list of ['pigeonholes', 'subscriptions']) counts.set(list, await countTruth(sandboxUrl, list, null));
  for (const { id, counts: lists } of pigeonholes) {
    // Registrants cannot be read through the service, and so nothing can deliver them.
    for (const list of Object.keys(lists).filter((name) => name !== 'registrants')) {
      counts.set(list, (counts.get(list) ?? 0) + (await countTruth(sandboxUrl, list, id)));
    }
  }
  return counts;
}

function withheldCounts({ counts }: Status): Map<string, Map<string, number>> {
  const withheld = new Map<string, Map<string, number>>();
  for (const { sink, list, state, items } of counts?.deliveries ?? []) {
    if (state !== 'withheld') continue;
    const lists = withheld.get(sink) ?? new Map<string, number>();
    withheld.set(sink, lists.set(list, (lists.get(list) ?? 0) + items));
  }
  return withheld;
}
