import { groupBy } from '../base/grouping.js';
import type { Outcome } from './sink.js';

interface ItemOrderOptions<Op> {
  /** Maximum number of operations in progress. */
  readonly concurrency: number;
  /**
   * Called before each operation. Once it returns false, no more operations start, and those that have not started are
   * `unsent`.
   */
  readonly mayStart: () => boolean;
  /** Must not throw. If the delivery fails, it returns an outcome that says so. */
  readonly deliver: (operation: Op) => Promise<Outcome>;
}

/**
 * Delivers operations of different items concurrently, and operations of the same item one after another. If an
 * operation's outcome is `retry`, `pause` or `unknown`, the later operations of its item stay `unsent`, so that a
 * receiver never sees revision 3 before revision 2. A rejected operation does not hold back later ones. If an outcome
 * is `pause`, no more operations start, because they would fail too.
 * @returns one outcome per operation, in their order
 */
export async function inItemOrder<Op extends { readonly itemKey: string }>(
  operations: readonly Op[],
  options: ItemOrderOptions<Op>,
): Promise<Outcome[]> {
  const outcomes: Outcome[] = operations.map(() => ({ kind: 'unsent' }));
  // The positions of each item's operations, with the items in the order of their first operations.
  const items = groupBy(operations.keys(), (position) => operations[position]!.itemKey).values();
  let paused = false;
  const mayStart = (): boolean => !paused && options.mayStart();

  const deliverItems = async (): Promise<void> => {
    // All concurrent runs take items from this one iterator, so no item is processed twice.
    for (const positions of items) {
      for (const position of positions) {
        if (!mayStart()) return;
        const outcome = await options.deliver(operations[position]!);
        outcomes[position] = outcome;
        if (outcome.kind === 'pause') paused = true;
        if (outcome.kind !== 'delivered' && outcome.kind !== 'rejected') break;
      }
    }
  };
  await Promise.all(Array.from({ length: options.concurrency }, deliverItems));
  return outcomes;
}
