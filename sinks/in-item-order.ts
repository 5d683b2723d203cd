import type { Outcome } from './sink.js';

interface ItemOrderOptions<Op> {
  /** Maximum number of operations in progress. */
  readonly concurrency: number;
  /** Called before each operation; once false, operations that have not started are `unsent`. */
  readonly mayStart: () => boolean;
  /** Must not throw: a failure is an outcome. */
  readonly deliver: (operation: Op) => Promise<Outcome>;
}

/**
 * Delivers operations of different items concurrently, and those of one item one after another. If one is not settled
 * (retry, pause, unknown), the later ones of its item stay `unsent`, so that a receiver never sees revision 3 before
 * revision 2. A rejected operation is settled and blocks nothing. A pause stops everything that has not started,
 * because it would fail too.
 * @returns one outcome per operation, in their order
 */
export async function inItemOrder<Op extends { readonly itemKey: string }>(
  operations: readonly Op[],
  options: ItemOrderOptions<Op>,
): Promise<Outcome[]> {
  const outcomes: Outcome[] = operations.map(() => ({ kind: 'unsent' }));
  const items = itemsInOrder(operations);
  let paused = false;
  const mayStart = (): boolean => !paused && options.mayStart();

  const deliverItems = async (): Promise<void> => {
    // All parallel runs share this iterator, so each item is taken once.
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

/** Returns the positions of each item's operations, items in the order of their first operation. */
function itemsInOrder(operations: readonly { readonly itemKey: string }[]): MapIterator<number[]> {
  const items = new Map<string, number[]>();
  operations.forEach(({ itemKey }, position) => {
    const positions = items.get(itemKey);
    if (positions === undefined) items.set(itemKey, [position]);
    else positions.push(position);
  });
  return items.values();
}
