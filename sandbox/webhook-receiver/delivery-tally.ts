import type { Receipt } from './receipt.js';

/** Counts for one list, over all pigeonholes. */
export interface ListTally {
  /** Items with at least one change. */
  items: number;
  /** Accepted requests. */
  deliveries: number;
  /** Distinct change ids. */
  changes: number;
  /** Requests whose change id had arrived before. */
  repeats: number;
  /** Repeats with a different body. A repeat must be the same byte for byte. */
  differingRepeats: number;
  /** New changes that arrived after one with the same or a higher revision of the item. Excludes replays. */
  outOfOrder: number;
  /** Revisions missing between two changes of an item that arrived in order. */
  missingRevisions: number;
  /** New changes that belong to a replay. */
  replays: number;
}

/** Counts changes, so that a test or a person can see which ones arrived twice, out of order or not at all. */
export class DeliveryTally {
  readonly #lists = new Map<string, ListTally>();
  readonly #bodies = new Map<string, string>();
  readonly #revisions = new Map<string, number>();

  add(receipt: Receipt): void {
    const tally = this.#tallyOf(receipt.list);
    tally.deliveries += 1;
    const known = this.#bodies.get(receipt.id);
    if (known !== undefined) {
      tally.repeats += 1;
      if (known !== receipt.sha256) tally.differingRepeats += 1;
      return;
    }
    this.#bodies.set(receipt.id, receipt.sha256);
    tally.changes += 1;
    this.#judgeOrder(receipt, tally);
  }

  /** Returns the counts by list, in the order in which the lists first appeared. */
  lists(): Record<string, ListTally> {
    return Object.fromEntries([...this.#lists].map(([list, tally]) => [list, { ...tally }]));
  }

  #judgeOrder(receipt: Receipt, tally: ListTally): void {
    const item = JSON.stringify([receipt.workspace, receipt.pigeonholeId, receipt.list, receipt.key]);
    const last = this.#revisions.get(item);
    if (last === undefined) tally.items += 1;
    this.#revisions.set(item, Math.max(last ?? 0, receipt.revision));
    if (receipt.replay !== null) tally.replays += 1;
    else if (last === undefined) return; // a sink without history may start at any revision
    else if (receipt.revision <= last) tally.outOfOrder += 1;
    else tally.missingRevisions += receipt.revision - last - 1;
  }

  #tallyOf(list: string): ListTally {
    let tally = this.#lists.get(list);
    if (tally === undefined) {
      tally = {
        items: 0,
        deliveries: 0,
        changes: 0,
        repeats: 0,
        differingRepeats: 0,
        outOfOrder: 0,
        missingRevisions: 0,
        replays: 0,
      };
      this.#lists.set(list, tally);
    }
    return tally;
  }
}
