import type { Outcome } from './sink.js';

export interface ItemOrderOptions<Op> {
  /** Most operations under way at once. */
  readonly concurrency: number;
  /** Asked before each operation; once false, what has not begun is `unsent`. */
  readonly mayStart: () => boolean;
  /** Must not throw: what went wrong is an outcome. */
  readonly deliver: (operation: Op) => Promise<Outcome>;
}

/**
 * Delivers operations, those of different items side by side and those of one item one after the other.
 * Where one is not settled (retry, pause, unknown), the later ones of its item stay `unsent`, so that a receiver
 * never sees revision 3 before revision 2. A rejected one is settled and holds nothing. A pause stops all that has
 * not begun: it would fail as well.
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
    // The iterator is shared: each of the parallel runs takes the next item that none has taken.
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

/** The positions of each item's operations, items in the order in which they first appear. */
function itemsInOrder(operations: readonly { readonly itemKey: string }[]): MapIterator<number[]> {
  const items = new Map<string, number[]>();
  operations.forEach(({ itemKey }, position) => {
    const positions = items.get(itemKey);
    if (positions === undefined) items.set(itemKey, [position]);
    else positions.push(position);
  });
  return items.values();
}
